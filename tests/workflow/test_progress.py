"""How a training goes, from its files, those of its job and of a start; what the logger shows."""

import io
import json
import logging
import os
from dataclasses import replace
from pathlib import Path

import pytest
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.tests import MockOutputSettings

from fathom.config.demand import kind_of
from fathom.config.paths import Paths
from fathom.io.files import write_json, write_lines
from fathom.io.locks import HOLDER, Holder, write_holder
from fathom.results.run_state import State, read_state, write_state
from fathom.workflow import starts
from fathom.workflow.progress import LINES, Progresses, queued
from snakemake_executor_plugin_slurm_attach.desk import Desk
from snakemake_logger_plugin_fathom import JOBS, LOG_ALONE, LogHandler
from tests.support import submitted_job
from tests.support.run_files import write_training
from tests.support.specs import small_spec

SPEC = small_spec()
NAME, KIND = f"{SPEC.paper}/{SPEC.run}", kind_of(SPEC.model)


@pytest.fixture
def paths(tmp_path):
    return Paths(tmp_path / "results", "tiny")


def of(paths):
    return Progresses(paths).of(SPEC, 1)


def begin(paths, **state):
    given = {"state": "training", "update": 40, "updates": 60, "attempt": 1}
    host = {"host": "x", "pid": 1, "job": None}
    write_state(paths.run(SPEC, 1), State.model_validate(given | host | state))


def run(paths):
    """Let a training run at update 50 of 60, half a second for each."""
    begin(paths)
    folder = paths.run(SPEC, 1)
    write_holder(folder / HOLDER, Holder.here(), new=True)
    write_lines(folder / "metrics.tsv", ["update\ttokens\tnll", "50\t500\t5.5"])
    write_lines(folder / "times.tsv", ["update\tseconds", "50\t25"])


def submitted(paths, **said):
    """Write what a start knows of the training's job."""
    desk = Desk(paths.cluster, 30, print)
    outputs = [paths.training(SPEC, 1).absolute()]
    return submitted_job.submitted(desk, "x.1", outputs, **said)


def test_a_start_that_runs_makes_it_wait(paths):
    assert of(paths).kind == "not started"
    assert not paths.results.exists()
    starts.add_trainings(paths.cluster, {paths.training(SPEC, 1): ()})
    assert of(paths).kind == "waiting"
    begin(paths, state="saved")
    assert (of(paths).kind, of(paths).state.update) == ("waiting", 40)
    # A job that waits is queued, also after a save.
    submitted(paths, state="PENDING", reason="Priority")
    assert of(paths).kind == "queued"


def test_a_training_that_runs_has_a_pace_and_the_time_left(paths):
    submitted(paths, state="PENDING")
    run(paths)
    known = of(paths)
    assert (known.kind, known.updates, known.pace.nll) == ("running", 60, 5.5)
    assert known.pace.tokens_per_second == pytest.approx(20)
    assert known.seconds_left == pytest.approx(5)


def test_a_training_whose_process_is_gone_is_stale_with_its_last_lines(paths):
    begin(paths)
    folder = paths.run(SPEC, 1)
    write_holder(folder / HOLDER, replace(Holder.here(), started=1), new=True)
    lines = [f"line {number}" for number in range(9)]
    write_lines(folder / "train.log", lines)
    known = of(paths)
    assert known.kind == "stale"
    assert known.last_lines == lines[-LINES:]


def test_a_failed_training_says_why_and_shows_the_newest_log(paths):
    begin(paths, state="failed", reason="this is why")
    write_lines(paths.run(SPEC, 1) / "train.log", ["older"])
    write_lines(paths.train_log(SPEC, 1), ["newer"])
    starts.add_trainings(paths.cluster, {paths.training(SPEC, 1): ()})
    known = of(paths)
    assert (known.kind, known.reason) == ("failed", "this is why")
    assert known.log in (paths.train_log(SPEC, 1), paths.run(SPEC, 1) / "train.log")


def test_a_job_that_failed_before_the_training_began_is_a_failed_training(paths):
    job = submitted(paths, verdict="job 7 failed: its reason")
    write_lines(job.lines, ["its line"])
    known = of(paths)
    assert known.kind == "failed"
    assert "its reason" in known.reason
    assert known.last_lines == ["its line"]


def test_a_training_that_saved_before_its_job_failed_was_stopped(paths):
    submitted(paths, verdict="job 7 failed: CANCELLED")
    begin(paths, state="saved", reason="cancelled")
    assert (of(paths).kind, of(paths).reason) == ("stopped", "cancelled")
    begin(paths, state="saved", reason="stopped")
    assert of(paths).words == "stopped, update 40 of 60"


def test_a_training_that_has_ended_is_what_it_ended_as_whatever_was_known(paths):
    submitted(paths, verdict="job 7 failed")
    write_training(SPEC, paths, "diverged")
    known = of(paths)
    assert (known.kind, known.state.update) == ("diverged", 5)
    assert known.updates == SPEC.training.updates


def test_jobs_of_no_training_that_was_asked_for_are_listed_where_they_wait(paths):
    desk = Desk(paths.cluster, 30, print)
    submitted_job.submitted(desk, "x.1", [paths.training(SPEC, 1).absolute()])
    submitted_job.submitted(desk, "x", rule="prepare_corpus", number=8)
    read = Progresses(paths)
    read.of(SPEC, 1)
    [job] = read.other_jobs
    assert job.number == 8


@pytest.mark.parametrize(
    ("said", "waits", "words"),
    [
        ({"number": None}, True, "waits to be submitted"),
        ({"number": None, "reason": "a limit"}, True, "waits to be submitted (a limit)"),
        ({}, True, "job 7 waits"),
        ({"state": "PENDING", "reason": "Priority"}, True, "job 7 waits (Priority)"),
        ({"state": "PENDING", "reason": "held", "cure": "scontrol release 7"}, True,
         "job 7 waits for you (held): scontrol release 7"),
        ({"state": "RUNNING", "reason": "None"}, False, "job 7 runs"),
        ({"verdict": "job 7 failed: TIMEOUT"}, False, "job 7 failed: TIMEOUT"),
    ],
)  # fmt: skip
def test_what_a_start_knows_of_a_job_is_read_from_files_alone(paths, said, waits, words):
    job = submitted(paths, **said)
    [read] = queued(paths.cluster)
    assert (read.waits, str(read)) == (waits, words)
    # One without a number has printed nothing.
    lines = str(job.lines) if job.number else ""
    assert (read.title, read.lines) == ("train_run x.1", lines)


def test_the_newest_word_of_a_job_counts_and_a_damaged_file_does_not(paths):
    submitted(paths)
    [file] = (paths.cluster / "heads").iterdir()
    old = file.rename(file.with_name("another.1.json"))
    os.utime(old, (1, 1))
    submitted(paths, number=8)
    assert [job.number for job in queued(paths.cluster)] == [8]
    odd = {"title": 5, "outputs": 5}
    for content in ("{", "[]", '{"a": 1}', json.dumps({"a": odd})):
        file.write_text(content)
        assert [job.number for job in queued(paths.cluster)] == [7]


@pytest.mark.parametrize("trainings", [5, [5], ["\0"]])
def test_what_somebody_edited_in_a_record_of_a_start_ends_nothing(paths, trainings):
    """It ended `fathom status` in a traceback."""
    record = {"host": [], "pid": 1, "start": 1, "trainings": trainings}
    write_json(paths.cluster / "starts" / "x.1.json", record)
    assert of(paths).kind == "not started"


# `snakemake --logger fathom` on a terminal.

# Of the other trainings their kinds and updates.
OTHERS = {"same": (KIND, 40), "wide": ("wide", None)}


@pytest.fixture
def handler(monkeypatch):
    monkeypatch.setenv(LOG_ALONE, "")
    made = LogHandler(MockOutputSettings(), None)
    made.screen = io.StringIO()
    yield made
    made.close()


def tell(handler, event, message="", level=logging.INFO, **fields):
    """Give the handler a record as Snakemake makes it."""
    record = logging.LogRecord("snakemake", level, "", 0, message, (), None)
    vars(record).update(fields, event=event)
    handler.emit(record)


@pytest.fixture
def training(handler, paths, tmp_path, monkeypatch):
    """A training that runs, the first of three."""
    run(paths)
    other = {tmp_path / name / "training.json": what for name, what in OTHERS.items()}
    starts.add_trainings(paths.cluster, {paths.training(SPEC, 1): (KIND, 60)} | other)
    monkeypatch.setenv(JOBS, str(paths.cluster))
    tell(handler, LogEvent.RUN_INFO, stats={"train_run": 3, "total": 9})
    job = {"jobid": 7, "rule_name": "train_run", "wildcards": {"run": NAME, "seed": "1"}}
    tell(handler, LogEvent.JOB_INFO, **job, output=[str(paths.training(SPEC, 1))])
    return paths


def test_a_training_that_runs_is_shown_and_the_time_left_is_by_kind_of_network(
    handler, training, tmp_path
):
    tell(handler, LogEvent.PROGRESS, done=4, total=9)
    one, every = handler._page()
    goes = "########.. update 50 of 60, 5 s left, NLL 5.500 nats, 20 tokens/s"
    assert one == f"{NAME.partition('/')[2]} {goes}"
    # Those 5 s, 20 s of the same network, and 30 s where updates are not counted yet.
    assert every == "####...... 0 of 3 trainings, 4 of 9 steps, trainings: about 55 s left"
    # Another network has ended at 2 s per update; the third is of its kind.
    handler.speeds[tmp_path / "wide"] = 2.0, 60
    handler.done.add(tmp_path / "same")
    assert handler._page()[1].endswith("trainings: about 2.08 min left")
    # Two at a time: no less than the longest.
    handler.at_a_time = 2
    assert handler._page()[1].endswith("trainings: about 2 min left")


def test_lines_above_stay_where_those_below_rewrite_themselves(handler, training):
    handler._paint(["one", "two"])
    handler._print("text")
    assert handler.screen.getvalue() == "one\ntwo\n\x1b[A\x1b[A\x1b[Jtext\n"


def test_a_training_that_ends_is_a_line_with_its_loss(handler, training):
    write_training(SPEC, training, "finished")
    tell(handler, LogEvent.JOB_FINISHED, job_id=7)
    line = handler.screen.getvalue()
    assert line.startswith(f"[  1 of 3] {NAME}: finished, NLL ")
    assert "below the unigram baseline" in line
    (every,) = handler._page()
    assert every.startswith("1 of 3 trainings, 9 steps")


def test_the_last_line_says_which_rules_took_the_time(handler, monkeypatch):
    now = iter([0.0, 0.0, 0.0, 90.0, 30.0, 95.0])
    monkeypatch.setattr("snakemake_logger_plugin_fathom.time.monotonic", lambda: next(now))
    handler.began = 0.0
    for number, rule in enumerate(("score", "translate", "score")):
        job = {"jobid": number, "rule_name": rule, "wildcards": {}}
        tell(handler, LogEvent.JOB_INFO, **job, output=[])
    for number in (0, 1):
        tell(handler, LogEvent.JOB_FINISHED, job_id=number)
    tell(handler, LogEvent.PROGRESS, done=2, total=2)
    line = handler.screen.getvalue()
    assert line == "all 2 steps done in 1.58 min; jobs: score 1.5 min, translate 30 s\n"


def test_a_start_that_is_locked_out_is_told_by_whom_and_not_to_unlock(handler, monkeypatch):
    monkeypatch.setenv("SLURM_ATTACH_FOLDER", "known")
    whose = {Path("known"): "process 7 runs here"}
    monkeypatch.setattr("fathom.workflow.starts.whose_lock", whose.__getitem__)
    fields = {"exception": "LockException", "level": logging.ERROR}
    tell(handler, LogEvent.ERROR, "It can be removed with the --unlock argument.", **fields)
    assert handler.screen.getvalue() == "the folder is locked: process 7 runs here\n"


# Of a job on a cluster, which is cancelled, Snakemake reports no end.
@pytest.mark.parametrize(
    ("event", "is_saved", "words"),
    [
        (True, True, "trainings saved: 1"),
        (False, True, "trainings saved: 1"),
        (False, False, "trainings saved: 0, still saving: 1"),
    ],
)
def test_after_ctrl_c_the_last_line_says_what_is_saved_and_how_to_go_on(
    handler, training, monkeypatch, event, is_saved, words
):
    monkeypatch.setattr("sys.argv", ["snakemake", "mine", "--logger", "fathom"])
    folder = training.run(SPEC, 1)
    tell(handler, None, "Terminating processes on user request, this might take some time.")
    write_state(folder, read_state(folder).model_copy(update={"state": "saved", "update": 50}))
    if is_saved:
        (folder / HOLDER).unlink()
    if event:
        failed = {"jobid": 7, "rule_name": "train_run", "rule_msg": None, "log": []}
        tell(handler, LogEvent.JOB_ERROR, "Error in rule", logging.ERROR, **failed)
        tell(handler, LogEvent.ERROR, "At least one", logging.ERROR, exception="WorkflowError")
    handler.close()
    assert handler.screen.getvalue().splitlines()[1:] == [
        f"stopped; {words}, and what is done stays. Again: snakemake mine --logger fathom"
    ]


def test_after_term_the_start_says_once_that_it_waits_and_that_nothing_failed(
    handler, training, monkeypatch
):
    monkeypatch.setattr("sys.argv", ["snakemake", "mine"])
    waits = "Will exit after finishing currently running jobs (scheduler)."
    tell(handler, None, waits)
    tell(handler, LogEvent.JOB_ERROR, rule_name="x", jobid=9, rule_msg="why", log=[])
    write_training(SPEC, training, "finished")
    tell(handler, LogEvent.JOB_FINISHED, job_id=7)
    tell(handler, None, waits)
    tell(handler, LogEvent.ERROR, "At least one", logging.ERROR, exception="WorkflowError")
    handler.close()
    first, failed, ended, *last = handler.screen.getvalue().splitlines()
    assert (first, failed, ended.startswith("[  1 of 3]")) == (waits, "FAILED x: why", True)
    assert last == ["stopped, and what is done stays. Again: snakemake mine"]


def test_the_lines_of_a_job_that_failed_have_their_reason(handler, tmp_path):
    """The reason and the remedy come after addresses, and were cut off."""
    log = tmp_path / "log"
    log.write_text(f"fathom: {'x' * 340}: the reason; the remedy\n", encoding="utf-8")
    failed = {"jobid": 7, "rule_name": "fetch_source", "rule_msg": None, "log": [str(log)]}
    tell(handler, LogEvent.JOB_ERROR, "Error in rule", logging.ERROR, **failed)
    assert "the reason; the remedy" in handler.screen.getvalue()


def test_what_snakemake_warns_of_is_printed_and_its_events_are_not(handler):
    tell(handler, LogEvent.SHELLCMD, "a command")
    tell(handler, None, "Building DAG of jobs...")
    tell(handler, None, "--keep-incomplete mode is set, so …", logging.WARNING)
    tell(handler, None, "the disk is full", logging.ERROR)
    tell(handler, None, "slurm-attach: job 7 will not start by itself")
    lines = "the disk is full\nslurm-attach: job 7 will not start by itself\n"
    assert handler.screen.getvalue() == lines

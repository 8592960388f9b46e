"""How a training goes, from its files, those of its job, and those of a start."""

import json
import os
from dataclasses import replace

import pytest

from fathom.config.paths import Paths
from fathom.io.files import write_json, write_lines
from fathom.io.locks import HOLDER, Holder, write_holder
from fathom.results.run_state import State, write_state
from fathom.workflow import starts
from fathom.workflow.progress import LINES, Progresses, queued
from snakemake_executor_plugin_slurm_attach.desk import Desk
from tests.support import submitted_job
from tests.support.run_files import write_training
from tests.support.specs import small_spec

SPEC = small_spec()


@pytest.fixture
def paths(tmp_path):
    return Paths(tmp_path / "results", "tiny")


def of(paths):
    return Progresses(paths).of(SPEC, 1)


def begin(paths, **state):
    given = {"state": "training", "update": 40, "updates": 60, "attempt": 1}
    host = {"host": "x", "pid": 1, "job": None}
    write_state(paths.run(SPEC, 1), State.model_validate(given | host | state))


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
    assert of(paths).kind == "waiting"
    assert of(paths).state.update == 40


def test_a_job_that_waits_is_queued_also_after_a_save(paths):
    submitted(paths, state="PENDING", reason="Priority")
    assert of(paths).kind == "queued"
    begin(paths, state="saved", reason="preempted")
    assert of(paths).kind == "queued"


def test_a_training_that_runs_has_a_pace_and_the_time_left(paths):
    submitted(paths, state="PENDING")
    begin(paths)
    folder = paths.run(SPEC, 1)
    write_holder(folder / HOLDER, Holder.here(), new=True)
    write_lines(folder / "metrics.tsv", ["update\ttokens\tnll", "50\t500\t5.5"])
    write_lines(folder / "times.tsv", ["update\tseconds", "50\t25"])
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
    assert (read.title, read.lines) == ("train_run x.1", str(job.lines))


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

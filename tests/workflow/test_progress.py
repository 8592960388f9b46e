"""How a training goes, from its files, those of its job, and those of a start."""

from dataclasses import replace

import pytest

from fathom.cluster import starts
from fathom.cluster.jobs import Folder
from fathom.config.paths import Paths
from fathom.io.files import write_json, write_lines
from fathom.io.locks import HOLDER, Holder, write_holder
from fathom.results.run_state import State, write_state
from fathom.workflow.progress import LINES, Progresses
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


def submitted(paths, **seen):
    """Write what a start knows of the training's job."""
    folder = Folder(paths.cluster / "fathom-train_run-x")
    submitted_job.submitted(folder, "x.1", [paths.training(SPEC, 1).absolute()])
    folder.note({"number": "7"} | seen)
    return folder


def test_a_start_that_runs_makes_it_wait(paths):
    assert of(paths).kind == "not started"
    assert not paths.results.exists()
    starts.add_trainings(paths.cluster, [paths.training(SPEC, 1)])
    assert of(paths).kind == "waiting"
    begin(paths, state="saved")
    assert of(paths).kind == "waiting"
    assert of(paths).state.update == 40


def test_a_job_that_waits_is_queued_also_after_a_save(paths):
    submitted(paths, name="PENDING", reason="Priority")
    assert of(paths).kind == "queued"
    begin(paths, state="saved", reason="preempted")
    assert of(paths).kind == "queued"


def test_a_training_that_runs_has_a_pace_and_the_time_left(paths):
    submitted(paths, name="PENDING")
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
    starts.add_trainings(paths.cluster, [paths.training(SPEC, 1)])
    known = of(paths)
    assert (known.kind, known.reason) == ("failed", "this is why")
    assert known.log in (paths.train_log(SPEC, 1), paths.run(SPEC, 1) / "train.log")


def test_a_job_that_failed_before_the_training_began_is_a_failed_training(paths):
    folder = submitted(paths, word="failed", name="OUT_OF_MEMORY", reason="its reason")
    write_lines(folder.lines("7"), ["its line"])
    known = of(paths)
    assert known.kind == "failed"
    assert "its reason" in known.reason
    assert known.last_lines == ["its line"]


def test_a_training_that_saved_before_its_job_failed_was_stopped(paths):
    submitted(paths, word="failed", name="CANCELLED")
    begin(paths, state="saved", reason="cancelled")
    assert (of(paths).kind, of(paths).reason) == ("stopped", "cancelled")


def test_a_training_that_has_ended_is_what_it_ended_as_whatever_was_known(paths):
    submitted(paths, word="failed")
    write_training(SPEC, paths, "diverged")
    known = of(paths)
    assert (known.kind, known.state.update) == ("diverged", 5)
    assert known.updates == SPEC.training.updates


def test_jobs_of_no_training_that_was_asked_for_are_listed_where_they_wait(paths):
    submitted(paths, name="PENDING")
    folder = Folder(paths.cluster / "fathom-prepare_corpus-x")
    write_json(folder.path / "job.json", {"now": "8", "rule": "prepare_corpus", "label": "x"})
    read = Progresses(paths)
    read.of(SPEC, 1)
    [job] = read.other_jobs
    assert job.number == "8"

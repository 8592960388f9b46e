"""Jobs that wait or have failed, from files alone."""

from pathlib import Path

import pytest

from fathom.cluster.jobs import Folder
from fathom.cluster.queued import queued
from fathom.io.files import write_json
from tests.support.submitted_job import submitted


@pytest.fixture
def job(tmp_path):
    """The folder of a job that was submitted as number 7."""
    return submitted(Folder(tmp_path / "x"), "a.1", [Path("/r/t.json")])


def test_a_job_of_which_nothing_was_heard_waits(job):
    [known] = queued(job.path.parent)
    assert known.waits
    assert known.outputs == (Path("/r/t.json"),)
    assert known.name == "train_run a.1"


@pytest.mark.parametrize("name", ["PENDING", "Q", "H"])
def test_a_job_waits_with_the_schedulers_reason(job, name):
    job.note({"number": "7", "name": name, "reason": "Priority"})
    [known] = queued(job.path.parent)
    assert known.waits
    assert "Priority" in str(known)


def test_a_job_that_runs_does_not_wait(job):
    job.note({"number": "7", "name": "RUNNING"})
    [known] = queued(job.path.parent)
    assert not known.waits
    assert not known.failed


def test_a_job_that_will_not_start_names_its_cure(job):
    job.note({"number": "7", "name": "PENDING", "reason": "held", "cure": "scontrol release 7"})
    assert "scontrol release 7" in str(*queued(job.path.parent))


def test_a_job_that_failed_says_why_and_where_its_lines_are(job):
    job.note({"number": "7", "word": "failed", "name": "TIMEOUT", "reason": "limit"})
    write_json(job.end("7"), {"code": 1, "why": ""})
    [known] = queued(job.path.parent)
    assert known.failed
    assert not known.waits
    assert "limit" in str(known)
    assert known.lines == job.lines("7")


def test_a_job_that_has_ended_well_or_by_itself_is_left_out(job):
    job.note({"number": "7", "word": "success"})
    assert not list(queued(job.path.parent))
    job.note({"number": "7"})
    write_json(job.end("7"), {"code": 0, "why": ""})
    assert not list(queued(job.path.parent))


def test_what_was_heard_of_an_earlier_number_does_not_count(job):
    job.note({"number": "6", "word": "failed"})
    [known] = queued(job.path.parent)
    assert known.waits


def test_a_damaged_record_is_no_job(job):
    (job.path / "job.json").write_text("{")
    assert not list(queued(job.path.parent))

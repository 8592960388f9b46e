"""The decision about a job, without Slurm: every state, silence, garbage, a forgotten job."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from fathom.cluster.jobs import Folder, read
from fathom.cluster.slurm import FAILED, RUNNING, SUCCESS, JobState, Slurm
from fathom.cluster.status import (
    AGAIN,
    LOST_AFTER,
    MISSES,
    Marker,
    Seen,
    decide,
    marker_of,
    queued,
    refresh,
)
from fathom.io.files import write_json
from tests.support.own_project import ROOT
from tests.support.submitted_job import submitted

NEW = Seen("7")


def state(word, name="NAME"):
    return {"7": JobState(word, name, "reason")}


@pytest.mark.parametrize(
    ("states", "marker", "word"),
    [
        (state(RUNNING), None, RUNNING),
        (state(SUCCESS), None, SUCCESS),
        (state(FAILED), None, FAILED),
        # The marker is of this attempt: the work is done, whatever came after.
        (state(FAILED), Marker(0), SUCCESS),
        (state(RUNNING), Marker(0), SUCCESS),
        (None, Marker(0), SUCCESS),
        ({}, Marker(0), SUCCESS),
        # It has failed, and may be requeued by Slurm.
        (state(RUNNING), Marker(1, "signal"), RUNNING),
        (None, Marker(1, "signal"), RUNNING),
        ({}, Marker(1, "signal"), FAILED),
        (state(FAILED), Marker(1, "signal"), FAILED),
        # Silence, and a list without the job.
        (None, None, RUNNING),
        ({}, None, RUNNING),
        ({"17": JobState(FAILED, "FAILED")}, None, RUNNING),
        # It ended at its limit, and its successor is not submitted yet.
        ({}, Marker(143, AGAIN), RUNNING),
    ],
)
def test_a_job_is_decided_by_its_marker_and_its_state(states, marker, word):
    assert decide(states, marker, NEW, 0.0).word == word


def test_a_job_is_lost_after_misses_and_time_and_not_before():
    seen = NEW
    for at in range(MISSES):
        seen = decide({}, None, seen, at * LOST_AFTER / MISSES)
        assert seen.word == RUNNING
    assert decide({}, None, seen, LOST_AFTER - 1).word == RUNNING
    assert decide({}, None, seen, LOST_AFTER).word == FAILED
    few = decide({}, None, NEW, 0.0)
    assert decide({}, None, few, 10 * LOST_AFTER).word == RUNNING


def test_misses_are_counted_in_a_row_and_silence_is_none():
    """Field fault 8."""
    missed = replace(NEW, misses=MISSES, since=1.0)
    assert decide(state(RUNNING), None, missed, 500.0).misses == 0
    silent = decide(None, None, missed, 500.0)
    assert (silent.word, silent.misses) == (RUNNING, MISSES)


@pytest.fixture
def folder(above, script):
    """The folder of job 7."""
    job = read(script())
    made = Folder(above / job.name)
    made.path.mkdir()
    made.remember(job, "7", "7", [])
    return made


def word(above, number="7"):
    lines = (above / "words").read_text(encoding="utf-8").split("\n")
    return dict(line.split() for line in lines[1:] if line)[number]


def look(above):
    refresh(Slurm(), above)
    return word(above)


@pytest.mark.usefixtures("folder")
def test_a_failed_job_is_reported_once_with_its_state_and_its_last_message(
    above, answers, capsys, folder
):
    folder.lines("7").write_text("x\nfathom: out of memory\nTraceback\n", encoding="utf-8")
    answers("squeue", "7|CANCELLED|None")
    assert look(above) == look(above) == FAILED
    [line] = capsys.readouterr().err.strip().split("\n")
    assert "job 7 failed: CANCELLED" in line
    assert "out of memory" in line
    assert str(folder.lines("7")) in line
    # What has ended stays so when Slurm forgets it.
    answers("squeue")
    assert look(above) == FAILED


@pytest.mark.usefixtures("folder")
def test_a_held_job_is_reported_once_and_found_from_files_alone(above, answers, capsys):
    answers("squeue", "7|PENDING|job requeued in held state")
    assert look(above) == look(above) == RUNNING
    printed = capsys.readouterr().err
    assert printed.count("scontrol release 7") == 1
    [job] = queued(above)
    assert job.waits
    assert "scontrol release 7" in str(job)
    answers("squeue", "7|PENDING|Priority")
    look(above)
    assert "Priority" in str(*queued(above))
    answers("squeue", "7|RUNNING|None")
    look(above)
    assert not any(job.waits for job in queued(above))


def test_a_lost_job_is_asked_for_by_its_number_first(above, answers, folder):
    write_json(folder.path / "seen.json", {"number": "7", "misses": MISSES, "since": 1.0})
    answers("squeue")
    answers("scontrol", "JobId=7 JobState=RUNNING")
    assert look(above) == RUNNING
    assert folder.seen()["misses"] == 0
    write_json(folder.path / "seen.json", {"number": "7", "misses": MISSES, "since": 1.0})
    answers("scontrol", code=1, message="Invalid job id specified")
    assert look(above) == FAILED


@pytest.mark.usefixtures("folder")
def test_a_number_that_nobody_remembers_is_what_the_scheduler_says(above, answers):
    answers("squeue", "6|RUNNING|None")
    refresh(Slurm(), above, "6")
    assert word(above, "6") == RUNNING
    answers("squeue")
    refresh(Slurm(), above, "6")
    assert word(above, "6") == FAILED


def run_status(above, number, **changed):
    """Return what the profile's command prints, and how it ends."""
    environment = {"FATHOM_PYTHON": sys.executable, "PYTHONPATH": str(ROOT / "lib")}
    done = subprocess.run(
        [ROOT / "slurm" / "status", number],
        env=os.environ | environment | changed,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ("7 success", "success"),
        ("17 failed\n7 running\n8 success", "running"),
        ("7 failed", "failed"),
        ("7 nonsense", "running"),
        ("7", "running"),
    ],
)
def test_the_profiles_command_reads_one_list_for_all_jobs(above, words, printed):
    (above / "words").write_text(f"{int(time.time())}\n{words}\n")
    assert run_status(above, "7", FATHOM_PYTHON="/bin/false") == (0, f"{printed}\n")


@pytest.mark.parametrize("content", [None, "", "garbage\n", "\0\n", "1\n7 success\n"])
def test_it_prints_a_word_whatever_happens(above, content):
    if content is not None:
        (above / "words").write_text(content)
    code, printed = run_status(above, "7", FATHOM_PYTHON="/bin/false")
    assert code == 0
    assert printed in ("running\n", "success\n")


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_it_asks_slurm_where_the_list_is_old(above, answers, calls):
    answers("squeue", "7|COMPLETED|None")
    (above / "words").write_text("1\n7 running\n")
    assert run_status(above, "7") == (0, "success\n")
    assert run_status(above, "7") == (0, "success\n")
    assert len(calls("squeue")) == 1


@pytest.fixture
def waiting(tmp_path):
    """The folder of a job that was submitted as number 7."""
    return submitted(Folder(tmp_path / "x"), "a.1", [Path("/r/t.json")])


@pytest.mark.parametrize(
    ("seen", "waits", "failed", "words"),
    [
        ({}, True, False, "job 7 waits"),
        ({"number": "6", "word": "failed"}, True, False, "job 7 waits"),
        ({"name": "PENDING", "reason": "Priority"}, True, False, "job 7 waits (Priority)"),
        ({"name": "PENDING", "reason": "held", "cure": "scontrol release 7"}, True, False,
         "job 7 will not start by itself (held): scontrol release 7"),
        ({"name": "RUNNING"}, False, False, "job 7 runs"),
        ({"word": "failed", "name": "TIMEOUT", "reason": "limit"}, False, True,
         "job 7 has failed (limit)"),
    ],
)  # fmt: skip
def test_what_is_known_of_a_job_is_read_from_files_alone(waiting, seen, waits, failed, words):
    """What was heard of an earlier number does not count."""
    waiting.note({"number": "7"} | seen)
    [job] = queued(waiting.path.parent)
    assert (job.name, job.outputs) == ("train_run a.1", (Path("/r/t.json"),))
    assert (job.waits, job.failed, str(job)) == (waits, failed, words)
    assert job.lines == waiting.lines("7")


def test_a_job_that_has_ended_and_a_damaged_record_are_left_out(waiting):
    waiting.note({"number": "7", "word": "success"})
    assert not list(queued(waiting.path.parent))
    waiting.note({"number": "7"})
    write_json(waiting.end("7"), {"code": 0, "why": ""})
    assert not list(queued(waiting.path.parent))
    waiting.end("7").write_text('{"code": 0')
    assert marker_of(waiting, "7") is None
    waiting.end("7").unlink()
    assert list(queued(waiting.path.parent))
    (waiting.path / "job.json").write_text("{")
    assert not list(queued(waiting.path.parent))

import os

import pytest

from fathom.train.attempts import DAMAGED, Attempts, recipe_of, recorded
from fathom.train.stopping import END_TIME
from tests.support.refused import says
from tests.support.small_corpus import silent


def test_an_attempt_without_an_end_was_killed_and_stays_in_the_list(tmp_path):
    path = tmp_path / "attempts.json"
    Attempts(path, silent).start(0, recipe=2)
    second = Attempts(path, silent)
    second.start(40, recipe=3)
    second.end(100, "finished")
    first, last = Attempts(path, silent).all
    assert (first["from_update"], first["end"], first["ended_as"]) == (0, None, "killed")
    assert (last["from_update"], last["to_update"], last["ended_as"]) == (40, 100, "finished")
    assert last["pid"]


def ended_before(tmp_path, ended_as, last_seen=None, job="41"):
    """Return what the next attempt finds out about how one ended."""
    path = tmp_path / "attempts.json"
    first = Attempts(path, silent)
    first.start(0, recipe=2)
    if ended_as:
        first.end(40, ended_as)
    os.environ["SLURM_JOB_ID"] = job  # in_job puts it back
    second = Attempts(path, silent)
    second.start(40, recipe=2, last_seen=last_seen)
    return second.all[0]["ended_as"]


@pytest.fixture
def in_job(monkeypatch):
    """Train in job 41, which ends at the second 10,000."""
    monkeypatch.setenv("SLURM_JOB_ID", "41")
    monkeypatch.setenv(END_TIME, "10000")


@pytest.mark.parametrize(
    ("last_seen", "ended_as"), [(9_995, "limit"), (10_020, "limit"), (5_000, "killed")]
)
@pytest.mark.usefixtures("in_job")
def test_a_kill_at_the_limit_is_told_from_another_by_the_time(tmp_path, last_seen, ended_as):
    """Field fault 3: both are SIGKILL to the process."""
    assert ended_before(tmp_path, None, last_seen) == ended_as


@pytest.mark.parametrize(("job", "ended_as"), [("41", "preempted"), ("42", "cancelled")])
@pytest.mark.usefixtures("in_job")
def test_a_job_that_runs_again_under_its_id_was_preempted(tmp_path, job, ended_as):
    """Field fault 3: preemption and scancel send the same signal."""
    assert ended_before(tmp_path, "stopped", job=job) == ended_as


@pytest.mark.parametrize("ended_as", ["limit", "cancelled", "out_of_memory"])
@pytest.mark.usefixtures("in_job")
def test_an_end_that_is_known_stays(tmp_path, ended_as):
    assert ended_before(tmp_path, ended_as) == ended_as


def test_a_resumed_training_has_the_lowest_recipe_of_its_attempts(tmp_path):
    attempts = Attempts(tmp_path / "attempts.json", silent)
    for recipe in (3, 2, 4):
        attempts.start(0, recipe)
    assert attempts.recipe == 2


DAMAGES = [b"", b"{}", b"[]", b"\0\0\0", b"\xff", b'{"attempts": {}}', b'{"attempts": [1]}']


@pytest.mark.parametrize("content", DAMAGES)
def test_a_damaged_list_is_set_aside_with_one_line_and_begins_again(tmp_path, content):
    path = tmp_path / "attempts.json"
    path.write_bytes(content)
    assert recorded(path) is None
    lines = []
    attempts = Attempts(path, lines.append)
    assert len(lines) == 1
    says("damaged attempts", where="attempts.json").check(lines)
    assert attempts.all == []
    assert (tmp_path / DAMAGED).read_bytes() == content
    attempts.start(3, recipe=2)
    assert [one["from_update"] for one in recorded(path)] == [3]


def test_a_list_that_is_not_there_is_empty(tmp_path):
    assert recorded(tmp_path / "attempts.json") == []


@pytest.mark.parametrize("attempt", [{}, {"recipe": None}, {"recipe": "2"}])
def test_an_attempt_without_a_recipe_is_older_than_all(attempt):
    assert recipe_of(attempt) == 0

"""What is recorded of attempts, who reports an error, and what is stale."""

import os

import pytest
import torch

from fathom.io.errors import FathomError
from fathom.io.files import read_json, write_json
from fathom.io.locks import HOLDER, Holder, only_writer, write_holder
from fathom.io.signals import Stopped
from fathom.results.recipe import RECIPE
from fathom.results.run_state import FAILED, OUT_OF_MEMORY, fail, read_state
from fathom.results.training_record import Ended
from fathom.train import train as one_message
from fathom.train.attempts import DAMAGED, Attempt, Attempts, recipe_of, recorded
from fathom.train.ranks import PeerLost, Ranks
from fathom.train.state import delete_stale
from fathom.train.stopping import END_TIME
from fathom.train.train import OneMessage
from tests.support.refused import refused, says
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
    says("damaged; renamed to", where="attempts.json").check(lines)
    assert attempts.all == []
    assert (tmp_path / DAMAGED).read_bytes() == content
    attempts.start(3, recipe=2)
    assert [one["from_update"] for one in recorded(path)] == [3]


@pytest.mark.parametrize("attempt", [{}, {"recipe": None}, {"recipe": "2"}])
def test_an_attempt_without_a_recipe_is_older_than_all(attempt):
    assert recipe_of(attempt) == 0


@pytest.fixture
def attempt(tmp_path):
    """An attempt that trains from update 40 of 60."""
    with only_writer(tmp_path, silent) as held:
        attempt = Attempt(tmp_path, held, silent)
        attempt.start(40, 60)
        yield attempt


def state(tmp_path):
    read = read_state(tmp_path)
    return read.state, read.reason, read.update


def last(tmp_path):
    attempt = read_json(tmp_path / "attempts.json")["attempts"][-1]
    return attempt["ended_as"], attempt.get("to_update")


def test_an_attempt_begins_with_a_number_and_a_place(tmp_path, attempt):
    read = read_state(tmp_path)
    assert (read.state, read.update, read.updates, read.attempt) == ("training", 40, 60, 1)
    assert read.pid == attempt.held.holder.pid
    assert last(tmp_path) == (None, None)


def test_a_save_moves_the_update_of_a_resume_and_a_stop_says_why(tmp_path, attempt):
    attempt.saved(50)
    assert state(tmp_path) == ("training", "", 50)
    attempt.stopped(50, "limit")
    assert state(tmp_path) == ("saved", "limit", 50)
    assert last(tmp_path) == ("limit", 50)


@pytest.mark.parametrize("kind", ["finished", "diverged", "failed_to_train"])
def test_an_outcome_is_said_after_training_json(tmp_path, attempt, kind):
    outcome = Ended(kind=kind, update=60, reason="so it is")
    attempt.ended(60, outcome)
    assert last(tmp_path) == (kind, 60)
    assert state(tmp_path)[0] == "training"
    attempt.recorded(outcome)
    assert state(tmp_path) == (kind, "so it is", 40)


def test_nothing_is_saved_after_another_process_has_taken_the_lock(tmp_path, attempt):
    attempt.before_save()
    other = Holder.here()
    write_holder(tmp_path / HOLDER, other, new=False)
    with refused(f"{other!s} has taken the lock over"):
        attempt.before_save()


def test_a_failure_before_the_first_update_is_no_end_of_the_attempt_before(tmp_path, attempt):
    attempt.stopped(40, "limit")
    Attempt(tmp_path, attempt.held, silent).failed("failed")
    assert last(tmp_path) == ("limit", 40)


MISSING = FathomError("no such file", "tensors.json", "encode it")


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Wait for nobody."""
    monkeypatch.setattr(one_message, "PATIENCE", 0.0)


def end(folder, rank, error, attempt=None, world=3, recorded=None):
    """End a process by an error, after another one has recorded one."""
    with OneMessage(Ranks(rank, world), folder) as ending:
        ending.begin(None if rank else attempt)
        if recorded:
            fail(folder, recorded, "no memory is left")
        raise error


def test_a_process_alone_says_its_error_and_records_it(tmp_path, attempt):
    with refused("another process of this training has ended"):
        end(tmp_path, 0, PeerLost(), attempt, world=1)
    assert read_state(tmp_path).state == FAILED
    says("another process of this training has ended").check(read_state(tmp_path).reason)


@pytest.mark.parametrize(
    ("error", "kind"),
    [(torch.OutOfMemoryError("full"), OUT_OF_MEMORY), (RuntimeError("a bug"), FAILED)],
)
@pytest.mark.parametrize("rank", [0, 2])
def test_the_process_that_has_an_error_says_it(tmp_path, attempt, rank, error, kind):
    """Field fault 16."""
    with pytest.raises(type(error)):
        end(tmp_path, rank, error, attempt)
    assert (read_state(tmp_path).state, read_state(tmp_path).reason) == (kind, str(error))


@pytest.mark.parametrize(
    ("rank", "error"),
    [*((rank, PeerLost()) for rank in range(3)), (1, torch.OutOfMemoryError("full"))],
)
def test_a_process_is_silent_where_another_one_has_said_why(tmp_path, attempt, rank, error):
    with pytest.raises(SystemExit) as ended:
        end(tmp_path, rank, error, attempt, recorded=OUT_OF_MEMORY)
    assert ended.value.code == 1
    assert read_state(tmp_path).state == OUT_OF_MEMORY
    if rank == 0:
        assert last(tmp_path)[0] == "out_of_memory"


@pytest.mark.parametrize(("rank", "speaks"), [(0, True), (1, True), (2, False)])
def test_of_those_that_lost_a_process_that_was_killed_the_first_says_it(
    tmp_path, attempt, rank, speaks
):
    """The first process; where it is the one that was killed, the second."""
    with pytest.raises(PeerLost if speaks else SystemExit):
        end(tmp_path, rank, PeerLost(), attempt)


def test_what_all_processes_refuse_the_first_one_says(tmp_path, attempt):
    with pytest.raises(FathomError):
        end(tmp_path, 0, MISSING, attempt)
    with pytest.raises(SystemExit):
        end(tmp_path, 2, MISSING)


def test_what_one_process_refuses_it_says(tmp_path, attempt):
    with pytest.raises(FathomError):
        end(tmp_path, 2, MISSING)


def test_an_error_before_the_attempt_begins_leaves_the_state_of_the_one_before(tmp_path, attempt):
    attempt.stopped(40, "limit")
    with pytest.raises(ValueError, match="so"), OneMessage(Ranks(0, 2), tmp_path):
        raise ValueError("so")
    assert read_state(tmp_path).state == "saved"


def test_a_stop_is_no_error(tmp_path, attempt):
    with pytest.raises(Stopped):
        end(tmp_path, 0, Stopped(15), attempt)
    assert read_state(tmp_path).state == "training"


@pytest.fixture
def folder(tmp_path):
    """A finished run's folder."""
    for name in ("checkpoints/last.pt", "decodings/a/fra.txt", "training.json", "train.log"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


def names(folder):
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize(("older", "left"), [(1, {"train.log"}), (0, None)])
def test_a_training_of_an_older_recipe_leaves_only_its_log(folder, older, left):
    recipe = RECIPE["training"]
    attempts = [{"recipe": recipe}, {"recipe": recipe - older}]
    write_json(folder / "attempts.json", {"attempts": attempts})
    before = names(folder)
    lines = []
    delete_stale(folder, lines.append)
    assert {name for name in names(folder) if not name.startswith("lock")} == (left or before)
    assert len(lines) == older


def test_a_run_that_never_began_is_left_alone(tmp_path):
    delete_stale(tmp_path / "run", print)
    assert not (tmp_path / "run").exists()


def test_a_damaged_list_of_attempts_makes_no_training_stale(folder):
    (folder / "attempts.json").write_text("{}", encoding="utf-8")
    before = names(folder)
    delete_stale(folder, print)
    assert names(folder) == before

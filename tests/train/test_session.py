"""What is recorded of attempts, who reports an error, and what is stale."""

import os

import pytest
import torch

from fathom.io.errors import FathomError
from fathom.io.files import read_json, write_json
from fathom.io.locks import HOLDER, Held, Holder, only_writer
from fathom.io.signals import Stopped
from fathom.results.recipe import RECIPE
from fathom.results.run_state import FAILED, OUT_OF_MEMORY, fail, read_state
from fathom.train import session
from fathom.train.ranks import PeerLost, Ranks
from fathom.train.session import (
    ATTEMPTS,
    DAMAGED,
    Attempt,
    Session,
    delete_stale,
    recipe_of,
    recorded,
)
from fathom.train.stopping import END_TIME
from tests.support.refused import refused, says
from tests.support.small_corpus import silent


def begun(folder, last_seen=None, report=silent):
    """Begin an attempt; `last_seen` is when a process that was killed before it was seen last."""
    return Attempt(folder, Held(folder / HOLDER, Holder.here(), last_seen), report)


def test_an_attempt_without_an_end_was_killed_and_stays_in_the_list(tmp_path):
    begun(tmp_path).start(0, 100)
    second = begun(tmp_path)
    second.start(40, 100)
    second.end(100, "finished")
    first, last = recorded(tmp_path)
    assert (first["from_update"], first["end"], first["ended_as"]) == (0, None, "killed")
    assert (last["from_update"], last["to_update"], last["ended_as"]) == (40, 100, "finished")
    assert last["pid"]


def ended_before(tmp_path, ended_as, last_seen=None, job="41"):
    """Return what the next attempt finds out about how one ended."""
    first = begun(tmp_path)
    first.start(0, 100)
    if ended_as:
        first.end(40, ended_as)
    os.environ["SLURM_JOB_ID"] = job  # in_job puts it back
    begun(tmp_path, last_seen).start(40, 100)
    return recorded(tmp_path)[0]["ended_as"]


@pytest.fixture
def in_job(monkeypatch):
    """Train in job 41, which ends at the second 10,000."""
    monkeypatch.setenv("SLURM_JOB_ID", "41")
    monkeypatch.setenv(END_TIME, "10000")


@pytest.mark.parametrize(
    ("recorded_as", "last_seen", "job", "ended_as"),
    [
        # Both are SIGKILL to the process: the time tells a kill at the limit from another.
        (None, 9_995, "41", "limit"),
        (None, 10_020, "41", "limit"),
        (None, 5_000, "41", "killed"),
        # Preemption and scancel send the same signal: a job that was preempted runs again.
        ("stopped", None, "41", "preempted"),
        ("stopped", None, "42", "cancelled"),
    ],
)
@pytest.mark.usefixtures("in_job")
def test_the_next_attempt_finds_out_why_a_job_ended(
    tmp_path, recorded_as, last_seen, job, ended_as
):
    assert ended_before(tmp_path, recorded_as, last_seen, job) == ended_as


def test_a_resumed_training_has_the_lowest_recipe_of_its_attempts(tmp_path, monkeypatch):
    for recipe in (3, 2, 4):
        monkeypatch.setitem(RECIPE, "training", recipe)
        attempt = begun(tmp_path)
        attempt.start(0, 100)
    assert attempt.recipe == 2


DAMAGES = [b"", b"{}", b"[]", b"\0\0\0", b"\xff", b'{"attempts": {}}', b'{"attempts": [1]}']


@pytest.mark.parametrize("content", DAMAGES)
def test_a_damaged_list_is_set_aside_with_one_line_and_begins_again(tmp_path, content):
    (tmp_path / ATTEMPTS).write_bytes(content)
    assert recorded(tmp_path) is None
    lines = []
    attempt = begun(tmp_path, report=lines.append)
    assert len(lines) == 1
    says("damaged; renamed to", where=ATTEMPTS).check(lines)
    assert (tmp_path / DAMAGED).read_bytes() == content
    attempt.start(3, 100)
    assert [entry["from_update"] for entry in recorded(tmp_path)] == [3]


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


def last(tmp_path):
    attempt = read_json(tmp_path / "attempts.json")["attempts"][-1]
    return attempt["ended_as"], attempt.get("to_update")


def test_an_attempt_begins_with_a_number_and_a_place(tmp_path, attempt):
    read = read_state(tmp_path)
    assert (read.state, read.update, read.updates, read.attempt) == ("training", 40, 60, 1)
    assert read.pid == attempt.held.holder.pid
    assert last(tmp_path) == (None, None)


def test_a_failure_is_no_end_of_an_attempt_that_has_ended_or_never_trained(tmp_path, attempt):
    attempt.end(40, "limit")
    attempt.failed("failed")
    Attempt(tmp_path, attempt.held, silent).failed("failed")
    assert last(tmp_path) == ("limit", 40)


MISSING = FathomError("no such file", "tensors.json", "encode it")


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Wait for nobody."""
    monkeypatch.setattr(session, "PATIENCE", 0.0)


def end(folder, rank, error, attempt=None, world=3, recorded=None):
    """End a process by an error, after another one has recorded one."""
    with Session(Ranks(rank, world), folder) as together:
        together.begin(None if rank else attempt)
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
    attempt.write(state="saved")
    with pytest.raises(ValueError, match="so"), Session(Ranks(0, 2), tmp_path):
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

"""Which of several processes says what ended them; test_ranks.py has the same with processes."""

import pytest
import torch

from fathom.io.errors import FathomError
from fathom.io.files import read_json
from fathom.io.locks import only_writer
from fathom.io.signals import Stopped
from fathom.results.run_state import FAILED, OUT_OF_MEMORY, fail, read_state
from fathom.train import train as one_message
from fathom.train.attempts import Attempt
from fathom.train.ranks import PeerLost, Ranks
from fathom.train.train import OneMessage
from tests.support.refused import refused, says
from tests.support.small_corpus import silent

MISSING = FathomError("no such file", "tensors.json", "encode it")


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Wait for nobody."""
    monkeypatch.setattr(one_message, "PATIENCE", 0.0)


@pytest.fixture
def attempt(tmp_path):
    """An attempt of the first process that trains."""
    with only_writer(tmp_path, silent) as held:
        attempt = Attempt(tmp_path, held, silent)
        attempt.start(0, 6)
        yield attempt


def end(folder, rank, error, attempt=None, world=3, recorded=None):
    """End a process by an error, after another one has recorded one."""
    with OneMessage(Ranks(rank, world), folder) as ending:
        ending.begin(attempt)
        if recorded:
            fail(folder, recorded, "no memory is left")
        raise error


def test_a_process_alone_says_its_error_and_records_it(tmp_path, attempt):
    with refused("lost process"):
        end(tmp_path, 0, PeerLost(), attempt, world=1)
    assert read_state(tmp_path).state == FAILED
    says("lost process").check(read_state(tmp_path).reason)


@pytest.mark.parametrize(
    ("error", "kind"),
    [(torch.OutOfMemoryError("full"), OUT_OF_MEMORY), (RuntimeError("a bug"), FAILED)],
)
@pytest.mark.parametrize("rank", [0, 2])
def test_the_process_that_has_an_error_says_it(tmp_path, attempt, rank, error, kind):
    """Field fault 16."""
    with pytest.raises(type(error)):
        end(tmp_path, rank, error, None if rank else attempt)
    assert (read_state(tmp_path).state, read_state(tmp_path).reason) == (kind, str(error))


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_a_process_that_lost_one_that_said_why_is_silent(tmp_path, attempt, rank):
    with pytest.raises(SystemExit) as ended:
        end(tmp_path, rank, PeerLost(), None if rank else attempt, recorded=OUT_OF_MEMORY)
    assert ended.value.code == 1
    assert read_state(tmp_path).state == OUT_OF_MEMORY
    if rank == 0:
        (recorded,) = read_json(tmp_path / "attempts.json")["attempts"]
        assert recorded["ended_as"] == "out_of_memory"


@pytest.mark.parametrize(("rank", "speaks"), [(0, True), (1, True), (2, False)])
def test_of_those_that_lost_a_process_that_was_killed_the_first_says_it(
    tmp_path, attempt, rank, speaks
):
    """The first process; where it is the one that was killed, the second."""
    with pytest.raises(PeerLost if speaks else SystemExit):
        end(tmp_path, rank, PeerLost(), None if rank else attempt)


def test_what_all_processes_refuse_the_first_one_says(tmp_path, attempt):
    with pytest.raises(FathomError):
        end(tmp_path, 0, MISSING, attempt)
    with pytest.raises(SystemExit):
        end(tmp_path, 2, MISSING)


def test_what_one_process_refuses_it_says(tmp_path, attempt):
    with pytest.raises(FathomError):
        end(tmp_path, 2, MISSING)


def test_two_without_memory_are_one_message(tmp_path, attempt):
    with pytest.raises(SystemExit):
        end(tmp_path, 1, torch.OutOfMemoryError("full"), recorded=OUT_OF_MEMORY)


def test_an_error_before_the_attempt_begins_leaves_the_state_of_the_one_before(tmp_path, attempt):
    attempt.stopped(3, "limit")
    with pytest.raises(ValueError, match="so"), OneMessage(Ranks(0, 2), tmp_path):
        raise ValueError("so")
    assert read_state(tmp_path).state == "saved"


def test_a_stop_is_no_error(tmp_path, attempt):
    with pytest.raises(Stopped):
        end(tmp_path, 0, Stopped(15), attempt)
    assert read_state(tmp_path).state == "training"

import pytest

from fathom.io.files import read_json
from fathom.io.holders import Holder, write_holder
from fathom.io.locks import HOLDER, only_writer
from fathom.results.run_state import read_state
from fathom.results.training_record import Ended
from fathom.train.attempts import Attempt
from tests.support.refused import refused
from tests.support.small_corpus import silent


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


def test_a_save_moves_the_update_from_which_the_training_would_resume(tmp_path, attempt):
    attempt.saved(50)
    assert state(tmp_path) == ("training", "", 50)


def test_a_stop_says_why(tmp_path, attempt):
    attempt.saved(50)
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
    with refused("lock lost", str(other)):
        attempt.before_save()


def test_a_failure_is_recorded_by_its_kind(tmp_path, attempt):
    attempt.saved(44)
    attempt.failed("out_of_memory")
    assert last(tmp_path) == ("out_of_memory", 44)


def test_a_failure_before_the_first_update_is_no_end_of_the_attempt_before(tmp_path, attempt):
    attempt.stopped(40, "limit")
    Attempt(tmp_path, attempt.held, silent).failed("failed")
    assert last(tmp_path) == ("limit", 40)

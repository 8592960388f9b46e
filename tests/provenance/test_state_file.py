import pytest

from fathom.io.files import read_json
from fathom.results.state_file import (
    FAILED,
    OUT_OF_MEMORY,
    SAVED,
    STATE_FILE,
    TRAINING,
    State,
    fail,
    read_state,
    write_state,
)

STATE = State(state=TRAINING, update=40, updates=60, attempt=2, host="node7", pid=12, job="41")


def test_a_state_is_read_as_it_was_written_with_its_time(tmp_path):
    write_state(tmp_path, STATE)
    state = read_state(tmp_path)
    assert state.model_copy(update={"time": ""}) == STATE
    assert state.time.endswith("+00:00")
    assert read_json(tmp_path / STATE_FILE)["state"] == "training"


@pytest.mark.parametrize("content", [None, "", "{}", '{"state": "asleep"}'])
def test_a_state_that_is_missing_or_damaged_is_none(tmp_path, content):
    if content is not None:
        (tmp_path / STATE_FILE).write_text(content, encoding="utf-8")
    assert read_state(tmp_path) is None


def test_the_first_process_that_fails_has_the_word(tmp_path):
    write_state(tmp_path, STATE)
    assert fail(tmp_path, OUT_OF_MEMORY, "no memory is left")
    assert not fail(tmp_path, FAILED, "another process has ended")
    state = read_state(tmp_path)
    assert (state.state, state.reason, state.update) == (OUT_OF_MEMORY, "no memory is left", 40)


@pytest.mark.parametrize(
    ("kind", "error"), [(TRAINING, False), (SAVED, False), (OUT_OF_MEMORY, True), (FAILED, True)]
)
def test_a_stop_is_no_error(kind, error):
    assert STATE.model_copy(update={"state": kind}).is_error == error


def test_a_failure_before_anything_was_recorded_is_said(tmp_path):
    assert fail(tmp_path, FAILED, "no text")
    assert read_state(tmp_path) is None

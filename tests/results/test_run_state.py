"""How far a training is, whether it runs, and how fast, from its files."""

import os
from dataclasses import replace

import pytest

from fathom.config.paths import Paths
from fathom.io import files
from fathom.io.files import read_json, write_json
from fathom.io.locks import HOLDER, Holder, write_holder
from fathom.results.run_state import (
    FAILED,
    OUT_OF_MEMORY,
    ROWS,
    SAVED,
    SILENT,
    STATE_FILE,
    TRAINING,
    RunState,
    State,
    fail,
    last_update,
    pace,
    read_state,
    run_state,
    write_state,
)
from tests.support.run_files import write_training
from tests.support.specs import small_spec

STATE = State(state=TRAINING, update=40, updates=60, attempt=2, host="node7", pid=12, job="41")


@pytest.fixture
def paths(tmp_path):
    return Paths(tmp_path, "tiny")


@pytest.fixture
def folder(paths):
    return paths.run(small_spec(), 1)


def begin(folder, **state):
    """Write what a training that has begun leaves."""
    write_json(folder / "attempts.json", {"attempts": []})
    if state:
        write_state(folder, STATE.model_copy(update={"update": 0, "updates": 0} | state))


def hold(folder, **differences):
    """Name a process as the holder of the lock; this one by default."""
    holder = replace(Holder.here(), **differences)
    write_holder(folder / HOLDER, holder, new=True)
    return holder


def log(folder, rows):
    (folder / "metrics.tsv").write_text(f"update\tnll\n{rows}")


def test_a_run_that_nobody_trains_was_stopped_at_its_last_logged_update(folder):
    assert run_state(folder) == RunState("not started")
    begin(folder)
    assert run_state(folder) == RunState("stopped")
    log(folder, "25\t6.0\n50\t5.0\n")
    assert run_state(folder) == RunState("stopped", 50)
    # A row that is being written is not read yet.
    log(folder, "25\t6.0\n5")
    assert run_state(folder) == RunState("stopped", 25)


def test_a_run_whose_holder_lives_runs_at_its_last_logged_update(folder):
    begin(folder, update=40, updates=60)
    holder = hold(folder)
    assert run_state(folder).update == 40
    log(folder, "50\t5.0\n")
    before = sorted(folder.iterdir())
    state = run_state(folder)
    assert (state.kind, state.update, state.updates) == ("running", 50, 60)
    assert state.holder == holder
    assert state.silent < SILENT
    assert sorted(folder.iterdir()) == before


def test_a_run_without_a_heartbeat_or_whose_process_is_gone_is_stale_at_its_last_save(folder):
    begin(folder, update=40, updates=60)
    log(folder, "50\t5.0\n")
    hold(folder, host="another")
    assert run_state(folder).kind == "running"
    os.utime(folder / HOLDER, (1, 1))
    states = [run_state(folder)]
    (folder / HOLDER).unlink()
    hold(folder, started=1)
    states.append(run_state(folder))
    assert [(state.kind, state.update) for state in states] == [("stale", 40)] * 2


@pytest.mark.parametrize(("word", "kind"), [("saved", "stopped"), ("out_of_memory", "failed")])
def test_a_run_that_was_stopped_or_failed_says_why(folder, word, kind):
    begin(folder, state=word, update=40, updates=60, reason="this is why")
    assert run_state(folder) == RunState(kind, 40, 60, "this is why")


@pytest.mark.parametrize("kind", ["finished", "diverged", "failed_to_train"])
def test_a_run_that_has_ended_says_how(paths, folder, kind):
    write_training(small_spec(), paths, kind)
    expected = RunState(kind.replace("_", " "), 5, None, f"it has {kind}")
    assert run_state(folder) == expected
    assert expected.ended


def test_a_training_record_that_cannot_be_trusted_is_damaged(paths, folder):
    write_training(small_spec(), paths)
    path = paths.training(small_spec(), 1)
    path.write_text(path.read_text().replace('"finished"', '"diverged"'))
    assert run_state(folder) == RunState("damaged")
    (folder / "training.json").unlink()
    (folder / "training.json").mkdir()
    assert run_state(folder) == RunState("damaged")
    hold(folder)
    assert run_state(folder).kind == "running"


def test_a_training_record_that_is_gone_when_it_is_read_is_none(paths, folder, monkeypatch):
    """The record was called damaged, or ended `fathom status`."""
    write_training(small_spec(), paths)
    check = files.require_file

    def then_gone(path, remedy):
        check(path, remedy)
        path.unlink()

    monkeypatch.setattr(files, "require_file", then_gone)
    assert run_state(folder) == RunState("not started")


def test_a_state_is_read_as_it_was_written_with_its_time_and_else_there_is_none(tmp_path):
    write_state(tmp_path, STATE)
    state = read_state(tmp_path)
    assert state.model_copy(update={"time": ""}) == STATE
    assert state.time.endswith("+00:00")
    path = tmp_path / STATE_FILE
    assert read_json(path)["state"] == "training"
    for content in ("", "{}", '{"state": "asleep"}'):
        path.write_text(content, encoding="utf-8")
        assert read_state(tmp_path) is None
    path.unlink()
    assert read_state(tmp_path) is None


def test_the_first_process_that_fails_says_why(tmp_path):
    assert fail(tmp_path, FAILED, "no text")
    assert read_state(tmp_path) is None
    write_state(tmp_path, STATE)
    assert fail(tmp_path, OUT_OF_MEMORY, "no memory is left")
    assert not fail(tmp_path, FAILED, "another process has ended")
    state = read_state(tmp_path)
    assert (state.state, state.reason, state.update) == (OUT_OF_MEMORY, "no memory is left", 40)
    assert state.is_error
    assert not state.model_copy(update={"state": SAVED}).is_error


def write_series(folder, *rows):
    """Write update, tokens, seconds and NLL of each row."""
    lines = [f"{update}\t{tokens}\t{nll}" for update, tokens, _, nll in rows]
    (folder / "metrics.tsv").write_text("\n".join(["update\ttokens\tnll", *lines, ""]))
    lines = [f"{update}\t{seconds}" for update, _, seconds, _ in rows]
    (folder / "times.tsv").write_text("\n".join(["update\tseconds", *lines, ""]))


def test_without_rows_or_with_damaged_ones_there_is_no_pace(tmp_path):
    assert pace(tmp_path) is None
    assert last_update(tmp_path / "metrics.tsv") is None
    for rows in ((), ((50, "x", 25, 6.5),)):
        write_series(tmp_path, *rows)
        assert pace(tmp_path) is None


def test_the_pace_is_that_of_the_last_rows(tmp_path):
    slow = [(number, 10 * number, 100 * number, 6) for number in range(1, 21)]
    fast = [(20 + number, 200 + 10 * number, 2000 + number, 5) for number in range(1, ROWS + 1)]
    write_series(tmp_path, *slow, *fast)
    assert pace(tmp_path).seconds_per_update == pytest.approx(1)
    assert pace(tmp_path).tokens_per_second == pytest.approx(10)


def test_a_row_whose_time_is_not_written_yet_says_where_the_training_is(tmp_path):
    write_series(tmp_path, (50, 5000, 25, 6.5), (100, 10_000, 50, ""))
    text = (tmp_path / "times.tsv").read_text()
    (tmp_path / "times.tsv").write_text(text[:-1])
    found = pace(tmp_path)
    assert (found.update, found.nll) == (100, None)
    # The first row is compared with the beginning.
    assert (found.tokens_per_second, found.seconds_per_update) == pytest.approx((200, 0.5))

"""How far a training is, from its files."""

import os
from dataclasses import replace

import pytest

from fathom.config.paths import Paths
from fathom.io.files import write_json
from fathom.io.holders import Holder, write_holder
from fathom.io.locks import HOLDER
from fathom.results.run_state import SILENT, RunState, run_state
from fathom.results.state_file import State, write_state
from tests.support.run_files import write_training
from tests.support.specs import small_spec


@pytest.fixture
def paths(tmp_path):
    return Paths(tmp_path, "tiny")


@pytest.fixture
def folder(paths):
    return paths.run(small_spec(), 1)


def test_a_run_without_an_attempt_has_not_started(folder):
    assert run_state(folder) == RunState("not started")


def begin(folder, **state):
    """Write what a training that has begun leaves."""
    write_json(folder / "attempts.json", {"attempts": []})
    if state:
        given = {"state": "training", "attempt": 1, "host": "x", "pid": 1, "job": None}
        write_state(folder, State.model_validate(given | state))


def hold(folder, **differences):
    """Name a process as the holder of the lock; this one by default."""
    holder = replace(Holder.here(), **differences)
    write_holder(folder / HOLDER, holder, new=True)
    return holder


def test_a_run_that_nobody_trains_was_stopped_at_its_last_logged_update(folder):
    begin(folder)
    assert run_state(folder) == RunState("stopped")
    (folder / "metrics.tsv").write_text("update\tnll\n25\t6.0\n50\t5.0\n")
    assert run_state(folder) == RunState("stopped", 50)


def test_a_row_that_is_being_written_is_not_read_yet(folder):
    begin(folder)
    (folder / "metrics.tsv").write_text("update\tnll\n25\t6.0\n5")
    assert run_state(folder) == RunState("stopped", 25)


def test_a_run_whose_holder_lives_runs_at_its_last_logged_update(folder):
    begin(folder, update=40, updates=60)
    holder = hold(folder)
    assert run_state(folder).update == 40
    (folder / "metrics.tsv").write_text("update\tnll\n50\t5.0\n")
    state = run_state(folder)
    assert (state.kind, state.update, state.updates) == ("running", 50, 60)
    assert state.holder == holder
    assert state.silent < SILENT


def test_a_run_of_another_host_runs_for_as_long_as_its_heart_beats(folder):
    begin(folder, updates=60)
    hold(folder, host="another")
    assert run_state(folder).kind == "running"
    os.utime(folder / HOLDER, (1, 1))
    assert run_state(folder).kind == "stale"


def test_a_run_whose_process_is_gone_from_this_host_is_stale_at_its_last_save(folder):
    begin(folder, update=40, updates=60)
    (folder / "metrics.tsv").write_text("update\tnll\n50\t5.0\n")
    hold(folder, started=1)
    state = run_state(folder)
    assert (state.kind, state.update) == ("stale", 40)


@pytest.mark.parametrize(("word", "kind"), [("saved", "stopped"), ("out_of_memory", "failed")])
def test_a_run_that_was_stopped_or_failed_says_why(folder, word, kind):
    begin(folder, state=word, update=40, updates=60, reason="this is why")
    assert run_state(folder) == RunState(kind, 40, 60, "this is why")


def test_reading_writes_nothing(folder):
    begin(folder, update=40)
    hold(folder)
    before = sorted(folder.iterdir())
    run_state(folder)
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("finished", "finished"),
        ("diverged", "diverged"),
        ("failed_to_train", "failed to train"),
    ],
)
def test_a_run_that_has_ended_says_how(paths, folder, kind, words):
    write_training(small_spec(), paths, kind)
    assert run_state(folder) == RunState(words, 5, None, f"it has {kind}")


def test_a_training_file_that_cannot_be_trusted_is_damaged(paths, folder):
    write_training(small_spec(), paths)
    path = paths.training(small_spec(), 1)
    path.write_text(path.read_text().replace('"finished"', '"diverged"'))
    assert run_state(folder) == RunState("damaged")
    hold(folder)
    assert run_state(folder).kind == "running"

"""How far a training is, from its files."""

import pytest

from fathom.io.files import write_json
from fathom.provenance.run_state import RunState, run_state
from fathom.runs.paths import Paths
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


def test_a_run_that_has_started_is_at_its_last_logged_update(folder):
    folder.mkdir(parents=True)
    write_json(folder / "attempts.json", {"attempts": []})
    assert run_state(folder) == RunState("started")
    (folder / "metrics.tsv").write_text("update\tnll\n25\t6.0\n50\t5.0\n")
    assert run_state(folder) == RunState("started", 50)


def test_a_row_that_is_being_written_is_not_read_yet(folder):
    folder.mkdir(parents=True)
    write_json(folder / "attempts.json", {"attempts": []})
    (folder / "metrics.tsv").write_text("update\tnll\n25\t6.0\n5")
    assert run_state(folder) == RunState("started", 25)


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
    assert run_state(folder) == RunState(words, 5)


def test_a_training_file_that_cannot_be_trusted_is_damaged(paths, folder):
    write_training(small_spec(), paths)
    path = paths.training(small_spec(), 1)
    path.write_text(path.read_text().replace('"finished"', '"diverged"'))
    assert run_state(folder) == RunState("damaged")

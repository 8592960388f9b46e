"""training.json: what it must hold, and what is measured of it."""

from pathlib import Path

import pytest

from fathom.io.errors import FathomError
from fathom.io.files import sha256
from fathom.io.integrity import hashes, read_record, write_record
from fathom.results import training_file
from tests.support.refused import says
from tests.support.run_files import training
from tests.support.specs import small_spec

SPEC = small_spec()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs/paper/small-12345678/1/training.json"


def test_what_is_written_is_read_again(path):
    given = training()
    given.pop("schema")
    training_file.write(path, training_file.checked_content(given, path))
    assert read_record(path) == training()
    assert training_file.read(path).outcome.finished


def test_a_finished_training_measures_parameters_validation_and_baseline(path):
    write_record(path, training())
    file = training_file.measured(training_file.read(path), SPEC, 1)
    assert (file.rule, file.run, file.identity, file.seed) == (
        "training",
        SPEC.name,
        SPEC.identity,
        1,
    )
    parameters = file.measurements["parameters"]
    assert parameters.all.value == 90
    assert parameters.parts == {"trainable": 90, "encoder": 30, "decoder": 40, "embeddings": 20}
    validation = file.measurements["last_validation"]
    assert validation.all.value == 4.5
    assert {task: number.value for task, number in validation.tasks.items()} == {
        "aaa": 4.0,
        "bbb": 5.0,
    }
    assert file.measurements["unigram_nll"].all.value == 6.06


def test_a_training_without_a_result_still_has_parameters(path):
    write_record(path, training("diverged"))
    file = training_file.measured(training_file.read(path), SPEC, 1)
    assert (file.outcome, file.update, file.reason) == ("diverged", 5, "it has diverged")
    assert set(file.measurements) == {"parameters"}


def test_a_training_that_ended_is_described_in_one_line(path):
    assert training_file.already_ended(path) is None
    write_record(path, training())
    line = training_file.already_ended(path)
    assert line == f"already finished (validation NLL 4.50); see {path}"
    write_record(path, training("diverged"))
    line = training_file.already_ended(path)
    assert line == f"already ended: diverged (it has diverged); see {path}"


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"x")])
def test_a_training_whose_weights_are_lost_or_changed_has_to_train_again(path, damage):
    weights = path.parent / "checkpoints" / "last.pt"
    weights.parent.mkdir(parents=True)
    weights.write_bytes(b"weights")
    files = hashes(path.parent, "checkpoints/*")
    write_record(path, training(files=files))
    assert training_file.already_ended(path)
    assert training_file.read(path).weights == {"last.pt": sha256(weights)}
    damage(weights)
    assert training_file.already_ended(path) is None


@pytest.mark.parametrize("content", [b"", b"{}", b'{"schema": 2}'])
def test_a_damaged_record_says_nothing_of_its_training(path, content):
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert training_file.already_ended(path) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"recipe": None}, says(where="recipe")),
        ({"outcome": {"kind": "finishd", "update": 1, "reason": ""}}, says(nearest="finished")),
        ({"code": {}}, says("unknown key", "code")),
        ({"schema": 1}, says("schema", 1, 2, remedy="fathom train paper/small-12345678")),
    ],
)
def test_what_does_not_fit_is_refused(path, change, message):
    write_record(path, training() | change)
    with pytest.raises(FathomError) as raised:
        training_file.read(path)
    assert raised.value.where.startswith(str(path))
    message.check(raised.value)

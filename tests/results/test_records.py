"""Records of trainings, decodings and measurements: read as written, or refused."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from fathom.config.measurement_keys import file_of, rule_of
from fathom.config.paths import Paths
from fathom.io.errors import FathomError
from fathom.io.files import sha256
from fathom.io.records import hashes, read_record, write_record
from fathom.results import decoding_record, measurements, recipe, training_record
from fathom.results.measurements import Measurements, Number, Record
from fathom.results.training_record import Ended, MeasurementFile
from tests.support.run_files import training, write_training
from tests.support.specs import small_spec

SPEC = small_spec()
GATED = replace(SPEC, gates=("soft", "hard"))
FINISHED = Ended(kind="finished", update=5, reason="")


class Hashes:
    """A run whose decodings have an identity."""

    def decoding_identity(self, gates, window=False):
        return {"soft": "5" * 64, "hard": "a" * 64, "plain": "0" * 64}[gates]


# Keys of measurements


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("parameters", "training"),
        ("bleu.test.soft.13a", "scores.test.soft-55555555"),
        ("bleu.valid.hard.ko-mecab", "scores.valid.hard-aaaaaaaa"),
        ("chrf.test.plain", "scores.test.plain-00000000"),
        ("bleu.test.soft.window.13a", "window.soft-55555555"),
        ("nll.valid.soft", "likelihood.valid.soft-55555555"),
        ("perplexity.valid.plain", "likelihood.valid.plain-00000000"),
        ("depth.decoder", "gates"),
        ("similarity", "sharing"),
        ("tokens.train.en", "statistics"),
    ],
)
def test_a_key_has_one_file(key, name):
    assert file_of(key, Hashes()) == name


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("belu.test.soft.13a", "no measurement 'belu'.*'bleu'"),
        ("nll.vaild.soft", "'vaild'.*'valid'"),
        ("nll.valid.sotf", "'sotf'.*'soft'"),
        ("depth", "no stack"),
        ("bleu.test.soft", "no tokenizer"),
        ("nll.valid.soft.13a", "one word too many; write nll.<split>.<gates>"),
    ],
)
def test_a_wrong_key_gets_the_nearest_word(key, message):
    with pytest.raises(FathomError, match=message):
        rule_of(key)


# Measurement files

NLL = Record(
    unit="nats",
    tasks={"bos": Number(value=4.0, n=10), "kor": Number(value=5.0, n=30)},
    all=Number(value=4.75, n=40),
)


def likelihood(**changes):
    content = {
        "rule": "likelihood",
        "recipe": {"training": 1, "scoring": 1},
        "run": "paper/run",
        "identity": "b" * 64,
        "seed": 1,
        "outcome": "finished",
        "measurements": {},
    }
    return Measurements.model_validate(content | changes)


def test_a_measurement_file_is_read_as_it_was_written(tmp_path):
    path, file = tmp_path / "x.json", likelihood(measurements={"nll.valid.soft": NLL})
    measurements.write(path, file)
    assert measurements.read(path) == file
    content = read_record(path)
    assert content["schema"] == 2
    # What has its default value is left out.
    assert content["measurements"]["nll.valid.soft"]["tasks"]["bos"] == {"n": 10, "value": 4.0}
    gates = Record(
        axes=("task", "layer"),
        labels={"task": ["bos", "kor"], "layer": ["1", "2", "3"]},
        values=[[0.5, 0.25, 1.0], [0.5, 0.75, 0.0]],
    )
    for other in (
        likelihood(rule="gates", measurements={"gates.decoder": gates}),
        likelihood(outcome="diverged", update=7, reason="why"),
    ):
        measurements.write(path, other)
        assert measurements.read(path) == other


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ({"nll.valid.soft": {"unti": "nats"}}, "nll.valid.soft.unti.*'unit'"),
        ({"nll.valid.soft": {"all": {"value": None}}}, "soft.all.value"),
        ({"nll.valid.soft": {"all": {"value": "nan"}}}, "soft.all.value"),
    ],
)
def test_measurements_that_do_not_fit_are_refused_with_file_and_key(tmp_path, records, message):
    path = tmp_path / "likelihood.json"
    measurements.write(path, likelihood())
    write_record(path, read_record(path) | {"measurements": records})
    with pytest.raises(FathomError, match=f"likelihood.json.*{message}"):
        measurements.read(path)


# What a rule measures of a training


@pytest.fixture
def file(tmp_path):
    """The file of a likelihood."""
    return MeasurementFile(SPEC, 1, Paths(tmp_path, "tiny"), "likelihood", "valid", "plain")


def test_a_finished_training_is_measured(file):
    write_training(SPEC, file.paths)
    record = NLL.model_copy(update={"missing": {"fra": "no layer"}})
    records, lines = {"nll.valid.plain": record}, []
    found = file.measure(lambda: records, lines.append, {"size": 21})
    assert file.path.name.startswith("likelihood.valid.plain-")
    assert measurements.read(file.path) == found
    assert (found.run, found.seed, found.identity) == (SPEC.name, 1, SPEC.identity)
    assert (found.outcome, found.measurements) == ("finished", records)
    assert found.settings == {"size": 21}
    assert lines == ["fra: no layer", str(file.path)]


@pytest.mark.parametrize("kind", ["diverged", "failed_to_train"])
def test_a_training_without_a_result_passes_its_outcome_on_unmeasured(file, kind):
    write_training(SPEC, file.paths, kind)
    lines = []
    found = file.measure(lambda: pytest.fail("measured"), lines.append)
    assert (found.outcome, found.update, found.measurements) == (kind, 5, {})
    assert lines[0] == f"{kind.replace('_', ' ')} (it has {kind})"


def test_a_measurement_that_fails_leaves_no_older_file(file):
    with pytest.raises(FathomError, match=r"training\.json: no such file"):
        file.measure(dict, print)
    write_training(SPEC, file.paths)
    file.measure(lambda: {"nll.valid.plain": NLL}, print)

    def broken():
        raise FathomError("broken", "here", "repair it")

    with pytest.raises(FathomError, match="broken"):
        file.measure(broken, print)
    assert not file.path.exists()


# training.json


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs/paper/small-12345678/1/training.json"


def test_an_ended_training_is_written_with_what_it_measured(path):
    given = training()
    given.pop("schema")
    training_record.write_ended(path, given, SPEC, 1)
    assert read_record(path) == training()
    file = measurements.read(path.parent / "measurements/training.json")
    named = (file.rule, file.run, file.identity, file.seed)
    assert named == ("training", SPEC.name, SPEC.identity, 1)
    parameters = file.measurements["parameters"]
    assert parameters.all.value == 90
    assert parameters.parts == {"trainable": 90, "encoder": 30, "decoder": 40, "embeddings": 20}
    validation = file.measurements["last_validation"]
    assert validation.all.value == 4.5
    tasks = {task: number.value for task, number in validation.tasks.items()}
    assert tasks == {"aaa": 4.0, "bbb": 5.0}
    assert file.measurements["unigram_nll"].all.value == 6.06
    # Without a result it has parameters.
    training_record.write_ended(path, given | {"outcome": training("diverged")["outcome"]}, SPEC, 1)
    file = measurements.read(path.parent / "measurements/training.json")
    assert (file.outcome, file.update, file.reason) == ("diverged", 5, "it has diverged")
    assert set(file.measurements) == {"parameters"}


def test_what_the_training_measured_is_made_again(path):
    write_record(path, training())
    measured = path.parent / "measurements/training.json"
    training_record.restore_measured(path, SPEC, 1)
    before, time = measured.read_bytes(), measured.stat().st_mtime_ns
    training_record.restore_measured(path, SPEC, 1)
    assert measured.stat().st_mtime_ns == time
    for damage in (measured.unlink, lambda: measured.write_bytes(before.replace(b"6.06", b"9.06"))):
        damage()
        training_record.restore_measured(path, SPEC, 1)
        assert measured.read_bytes() == before


def test_a_training_that_ended_is_described_in_one_line(path):
    assert training_record.already_ended(path) is None
    write_record(path, training())
    line = training_record.already_ended(path)
    assert line == f"already finished (validation NLL 4.50); see {path}"
    write_record(path, training("diverged"))
    line = training_record.already_ended(path)
    assert line == f"already ended: diverged (it has diverged); see {path}"
    for content in (b"", b"{}", b'{"schema": 2}'):
        path.write_bytes(content)
        assert training_record.already_ended(path) is None


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"x")])
def test_a_training_whose_weights_are_lost_or_changed_has_to_train_again(path, damage):
    weights = path.parent / "checkpoints" / "last.pt"
    weights.parent.mkdir(parents=True)
    weights.write_bytes(b"weights")
    write_record(path, training(files=hashes(path.parent, "checkpoints/*")))
    assert training_record.already_ended(path)
    assert training_record.read(path).weights == {"last.pt": sha256(weights)}
    damage(weights)
    assert training_record.already_ended(path) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"recipe": None}, "recipe"),
        ({"outcome": {"kind": "finishd", "update": 1, "reason": ""}}, "'finished'"),
        ({"code": {}}, "unknown key 'code'"),
        ({"schema": 1}, "schema 1, but 2 is needed; run `fathom train paper/small-12345678"),
        # Edited by hand.
        ({"record_sha256": "0" * 64}, "checksum"),
    ],
)
def test_a_training_record_that_does_not_fit_is_refused(path, change, message):
    write_record(path, training() | change)
    if "record_sha256" in change:
        path.write_bytes(path.read_bytes().replace(b"4.5", b"4.6"))
    with pytest.raises(FathomError, match=f"training.json.*{message}"):
        training_record.read(path)


# decoding.json


def decoding(**differences):
    return {
        "identity": GATED.decoding_identity("soft"),
        "split": "test",
        "gates": "soft",
        "recipe": 1,
        "settings": GATED.decoding.model_dump(),
        "weights": (5,),
        "outcome": "finished",
        "reason": "",
        "tasks": {"aaa": 3},
        "files": {"aaa.txt": "a" * 64},
        "no_layer": ("bbb",),
        "versions": {"torch": "2.13.0"},
        **differences,
    }


def test_other_settings_gates_or_weights_than_those_of_a_decoding_are_refused(tmp_path):
    folder = tmp_path / "runs/paper/small-12345678/2/decodings/test.soft-87654321"
    again = "fathom translate paper/small-12345678 --seed 2 --split test --gates soft"
    decoding_record.write(folder, decoding())
    record = decoding_record.read(folder, GATED, "soft", FINISHED)
    assert (record.weights, record.no_layer, record.tasks["aaa"]) == ((5,), ("bbb",), 3)
    wider = GATED.decoding.model_copy(update={"beam": 9})
    averaged = GATED.decoding.model_copy(update={"average_of": 3})
    for spec, gates in (
        (GATED, "hard"),
        (replace(GATED, decoding=wider), "soft"),
        (replace(GATED, decoding=averaged), "soft"),
    ):
        with pytest.raises(FathomError, match=f"other settings or weights.*{again}"):
            decoding_record.read(folder, spec, gates, FINISHED)
    ended = Ended(kind="diverged", update=5, reason="")
    with pytest.raises(FathomError, match="'finished', but the training is 'diverged'"):
        decoding_record.read(folder, GATED, "soft", ended)


def test_what_is_not_a_decoding_is_never_written(tmp_path):
    with pytest.raises(FathomError, match="recipe"):
        decoding_record.write(tmp_path, decoding(recipe="1"))
    assert not list(tmp_path.iterdir())


# Recipe and sources


def test_only_what_was_made_with_another_recipe_is_stale(monkeypatch):
    assert set(recipe.RECIPE) == {"training", "decoding", "scoring"}
    monkeypatch.setattr(recipe, "RECIPE", {"training": 2, "decoding": 1, "scoring": 1})
    assert recipe.stale({"training": 2, "decoding": 1}) == {}
    older, newer = recipe.stale({"training": 1, "scoring": 1}), recipe.stale({"decoding": 5})
    assert older == {"training": "recipe 1 is older than 2"}
    assert newer == {"decoding": "recipe 5 is newer than 1: update fathom"}


def test_a_commit_says_whether_files_differ_and_is_that_of_a_clone_that_tracks_them(tmp_path):
    git = ("git", "-c", "user.name=x", "-c", "user.email=x@example.org")
    (tmp_path / "one.py").write_text("1\n", encoding="utf-8")
    assert recipe.commit(tmp_path) is None
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "One")):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    clean = recipe.commit(tmp_path)
    assert re.fullmatch(r"[0-9a-f]{40}", clean)
    (tmp_path / "one.py").write_text("2\n", encoding="utf-8")
    assert recipe.commit(tmp_path) == f"{clean}-dirty"
    # It was recorded with the commit of the repository in which its environment was.
    package = tmp_path / "venv" / "site-packages" / "fathom"
    package.mkdir(parents=True)
    (package / "one.py").write_text("1\n", encoding="utf-8")
    assert recipe.commit(package) is None


def test_any_byte_of_a_python_file_changes_the_hash_of_the_sources(tmp_path):
    assert set(recipe.sources()) == {"commit", "sources_sha256"}
    (tmp_path / "one.py").write_text("1\n", encoding="utf-8")
    before = recipe.hashed(tmp_path)
    (tmp_path / "notes.txt").write_text("1\n", encoding="utf-8")
    assert recipe.hashed(tmp_path) == before
    (tmp_path / "one.py").write_text("1 \n", encoding="utf-8")
    assert recipe.hashed(tmp_path) != before

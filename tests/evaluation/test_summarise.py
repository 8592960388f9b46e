"""The manifest gathers what was measured of a run, and refuses what does not fit."""

import shutil
from dataclasses import replace

import pytest

from fathom.decode import likelihood
from fathom.io.errors import FathomError
from fathom.io.files import sha256
from fathom.io.integrity import read_record, write_record
from fathom.results import manifest, measurements, recipe, training_file
from fathom.results.measurements import file_of
from fathom.scoring.measured import write
from fathom.scoring.score import score
from fathom.scoring.summarise import summarise
from tests.support.refused import says
from tests.support.run_files import attempt, training

BOTH = ("soft", "hard")


def silent(line):
    """Take a line and print nothing."""


@pytest.fixture
def summarised(paths, decoded):
    """Return a function that scores and summarises a run, and gives it with its manifest."""

    def finish(gates=("plain",), splits=("test",), **differences):
        spec = decoded(gates=gates, splits=splits, **differences)
        ended = training_file.read(paths.training(spec, 1))
        path = paths.measurements(spec, 1, "training")
        measurements.write(path, training_file.measured(ended, spec, 1))
        for split in splits:
            for kind in gates:
                score(spec, 1, split, kind, paths, silent)
        summarise(spec, 1, paths, silent)
        return spec, manifest.read(paths.manifest(spec, 1))

    return finish


def test_a_finished_run_has_all_its_measurements(summarised):
    spec, found = summarised(BOTH, ("valid", "test"), direction="one_to_many")
    assert (found.run, found.identity, found.seed) == (spec.name, spec.identity, 1)
    for split in ("valid", "test"):
        for gates in BOTH:
            for metric in ("13a", "intl", "char", "none", "ko-mecab"):
                assert f"bleu.{split}.{gates}.{metric}" in found.measurements
    number = found.measurements["bleu.test.hard.13a"].tasks["kor"]
    assert number.low <= number.value <= number.high
    assert number.n == 6
    assert found.measurements["parameters"].all.value == 90
    assert found.measurements["last_validation"].all.value == 4.5
    assert found.measurements["unigram_nll"].all.value == 6.06


def test_a_run_whose_data_has_no_direction_has_a_manifest(summarised):
    _, found = summarised(direction=None)
    assert found.data.direction is None


def test_every_measurement_is_in_the_file_that_its_key_names(summarised, paths):
    spec, found = summarised(BOTH, ("valid", "test"))
    for key, record in found.measurements.items():
        file = measurements.read(paths.measurements(spec, 1, file_of(key, spec)))
        assert file.measurements[key] == record


def test_a_measurement_that_is_made_later_comes_in(summarised, paths):
    spec, before = summarised()
    records = likelihood.records({"bos": 9.0}, {"bos": 3}, (), "valid", "plain")
    write(spec, 1, paths, "likelihood", records, "valid", "plain")
    summarise(spec, 1, paths, silent)
    found = manifest.read(paths.manifest(spec, 1))
    assert set(found.measurements) - set(before.measurements) == set(records)
    assert found.measurements["nll.valid.plain"].all.value == 3.0


@pytest.mark.parametrize("kind", ["diverged", "failed_to_train"])
def test_a_run_without_a_result_has_its_outcome_and_its_parameters(summarised, kind):
    _, found = summarised(BOTH, kind=kind)
    assert found.outcome.kind == kind
    assert found.outcome.reason == f"it has {kind}"
    assert set(found.measurements) == {"parameters"}


def test_a_task_without_a_layer_says_so(summarised):
    _, found = summarised(BOTH, no_layer=("kor",))
    assert "kor" in found.measurements["bleu.test.hard.13a"].missing
    assert "kor" in found.measurements["bleu.test.soft.13a"].tasks


def test_each_stage_keeps_its_recipe_and_the_sources_of_the_training(summarised):
    _, found = summarised()
    assert found.recipe == recipe.RECIPE
    assert (found.commit, found.sources_sha256) == ("c" * 40, "5" * 64)
    assert found.versions["torch"] == "2.13.0"
    assert found.versions["sacrebleu"] == "2.6.0"


def test_a_result_of_an_older_recipe_is_reported_as_stale(summarised, paths, monkeypatch):
    spec, _ = summarised()
    before = recipe.RECIPE["training"]
    monkeypatch.setitem(recipe.RECIPE, "training", before + 1)
    lines = []
    summarise(spec, 1, paths, lines.append)
    assert lines[1:] == [f"stale: training: recipe {before} is older than {before + 1}"]
    assert set(manifest.read(paths.manifest(spec, 1)).stale) == {"training"}


def test_files_are_named_with_their_hash(summarised, paths):
    spec, found = summarised()
    folder = paths.decoding(spec, 1, "test", "plain").relative_to(paths.run(spec, 1)).as_posix()
    assert set(found.files) == {
        "spec.yaml",
        "metrics.tsv",
        "training.json",
        *(f"{folder}/{name}" for name in ("decoding.json", "scoring.json", "scores.tsv")),
    }
    for name, digest in found.files.items():
        assert sha256(paths.run(spec, 1) / name) == digest


def test_summarising_twice_writes_the_same_bytes(summarised, paths):
    spec, _ = summarised()
    before = paths.manifest(spec, 1).read_bytes()
    summarise(spec, 1, paths, silent)
    assert paths.manifest(spec, 1).read_bytes() == before


def test_many_attempts_are_counted(summarised, paths):
    spec, _ = summarised()
    path = paths.training(spec, 1)
    write_record(path, read_record(path) | {"attempts": [attempt(number) for number in range(300)]})
    summarise(spec, 1, paths, silent)
    found = manifest.read(paths.manifest(spec, 1))
    assert found.attempts_in_all == 300
    assert [len(found.attempts), found.attempts[-1]["pid"]] == [50, 1299]


def check_refused(paths, spec, message):
    paths.manifest(spec, 1).unlink()
    with pytest.raises(FathomError) as raised:
        summarise(spec, 1, paths, silent)
    message.check(raised.value)
    assert not paths.manifest(spec, 1).exists()


def test_a_decoding_that_contradicts_the_training_is_refused(summarised, paths):
    spec, _ = summarised()
    write_record(paths.training(spec, 1), training("diverged"))
    remedy = f"fathom translate paper/{spec.folder}"
    check_refused(paths, spec, says("other outcome", "finished", "diverged", remedy=remedy))


def test_a_decoding_with_other_settings_is_left_out(summarised, paths):
    spec, _ = summarised()
    wider = replace(spec, decoding=spec.decoding.model_copy(update={"beam": 9}))
    summarise(wider, 1, paths, silent)
    found = manifest.read(paths.manifest(wider, 1))
    assert not [key for key in found.measurements if key.startswith("bleu")]


def test_scores_of_an_earlier_decoding_are_refused(summarised, paths):
    spec, _ = summarised()
    path = paths.decoding(spec, 1, "test", "plain") / "decoding.json"
    write_record(path, read_record(path) | {"versions": {"torch": "2.14.0"}})
    check_refused(paths, spec, says("scored before"))


def test_a_measurement_of_another_run_is_refused(summarised, paths):
    spec, _ = summarised()
    path = write(spec, 1, paths, "gates", {})
    write_record(path, read_record(path) | {"seed": 2})
    remedy = f"fathom gates paper/{spec.folder} --seed 1"
    check_refused(paths, spec, says("measured of", ..., 2, remedy=remedy))


def test_gates_of_other_weights_are_refused(summarised, paths):
    spec, _ = summarised()
    path = write(spec, 1, paths, "gates", {}, settings={"average_of": 3})
    check_refused(paths, spec, says("other weights"))
    averaged = replace(spec, decoding=spec.decoding.model_copy(update={"average_of": 3}))
    summarise(averaged, 1, paths, silent)
    assert path.is_file()


def test_a_missing_training_is_named(summarised, paths):
    spec, _ = summarised()
    paths.training(spec, 1).unlink()
    check_refused(paths, spec, says("no such file", where="training.json", remedy="fathom train"))


def test_text_and_tensors_that_were_deleted_are_not_needed(summarised, paths):
    spec, before = summarised()
    for name in ("corpora", "tensors"):
        shutil.rmtree(paths.results / name, ignore_errors=True)
    paths.manifest(spec, 1).unlink()
    summarise(spec, 1, paths, silent)
    assert manifest.read(paths.manifest(spec, 1)).data == before.data
    assert before.data.tensors_sha256 == "e" * 64


@pytest.mark.parametrize("damage", ["lost", "edited"])
def test_what_the_training_measured_is_made_again(summarised, paths, damage):
    spec, _ = summarised()
    path = paths.measurements(spec, 1, "training")
    before = path.read_bytes()
    if damage == "lost":
        path.unlink()
    else:
        path.write_bytes(before.replace(b"6.06", b"9.06"))
    summarise(spec, 1, paths, silent)
    assert path.read_bytes() == before


def test_an_edited_score_is_refused(summarised, paths):
    spec, _ = summarised()
    folder = paths.decoding(spec, 1, "test", "plain")
    (measured,) = paths.run(spec, 1).glob("measurements/scores.*.json")
    again = f"fathom score paper/{spec.folder} --seed 1 --split test --gates plain"
    for path, record, number in (
        (folder / "scores.tsv", folder / "scoring.json", b"6"),
        (folder / "scoring.json", folder / "scoring.json", b'"samples": 200'),
        (measured, measured, b'"n": 6'),
    ):
        before = path.read_bytes()
        assert number in before
        path.write_bytes(before.replace(number, number[:-1] + b"9"))
        name = "changed file" if path.suffix == ".tsv" else "changed record"
        expected = says(name, where=path, remedy=f"rm {record} && {again}")
        with pytest.raises(FathomError) as raised:
            summarise(spec, 1, paths, silent)
        expected.check(raised.value)
        path.write_bytes(before)


def test_a_training_file_without_a_key_is_refused(summarised, paths):
    spec, _ = summarised()
    value = training()
    del value["totals"]
    write_record(paths.training(spec, 1), value)
    check_refused(paths, spec, says(where="totals"))

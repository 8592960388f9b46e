"""What one seed has for one key: a record, or words."""

import pytest

from fathom.artefacts.table.sources import lost_words
from fathom.results.recipe import RECIPE
from tests.support.refused import refused
from tests.support.small_tables import Results, scores

KEY = "bleu.test.plain.13a"


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path)


def readings(results, run="p/deep", key=KEY):
    return [reading for _, reading in results.sources[run].readings(key)]


def test_a_run_without_files_has_no_reading(results):
    assert readings(results) == []


def test_a_measurement_is_read_from_the_file_of_its_rule(results):
    results.write("p/deep", {KEY: scores(20.0, 38.0)})
    (reading,) = readings(results)
    assert reading.record.tasks["bos"].value == 20.0
    (path,) = results.sources["p/deep"].files(KEY).values()
    assert path.name == "scores.test.plain-abcd1234.json"


def test_seeds_are_read_in_their_order_and_those_not_run_are_left_out(results):
    results.write("p/small", {KEY: scores(21.0)}, seed=2)
    assert [seed for seed, _ in results.sources["p/small"].readings(KEY)] == [2]


def test_a_file_that_is_missing_is_not_measured_and_the_key_is_named(results):
    results.write("p/deep", {})
    (reading,) = readings(results)
    assert (reading.words, reading.detail) == ("not measured", f"p/deep: {KEY}")


def test_scores_of_other_settings_are_never_shown(results):
    """Field fault 18."""
    results.write("p/deep", {KEY: scores(20.0)})
    path = results.path("p/deep") / "scores.test.plain-abcd1234.json"
    path.rename(path.with_name("scores.test.plain-00000000.json"))
    (reading,) = readings(results)
    assert (reading.record, reading.words) == (None, "other decoding")
    assert "scores.test.plain-00000000" in reading.detail
    assert "scores.test.plain-abcd1234" in reading.detail


def test_the_other_gates_of_a_run_are_no_other_decoding(results):
    results.write("p/gated", {"bleu.test.soft.13a": scores(20.0)})
    (reading,) = readings(results, "p/gated", "bleu.test.hard.13a")
    assert reading.words == "not measured"


def test_a_score_with_another_tokenizer_is_not_measured(results):
    results.write("p/deep", {KEY: scores(20.0)})
    (reading,) = readings(results, key="bleu.test.plain.none")
    assert reading.words == "not measured"


@pytest.mark.parametrize(
    ("outcome", "words"),
    [("diverged", "diverged at update 122"), ("failed_to_train", "failed to train")],
)
def test_a_run_without_a_result_gives_its_outcome_whatever_was_measured(results, outcome, words):
    results.write("p/deep", {"nll.valid.plain": scores(4.0)}, outcome=outcome)
    for key in (KEY, "nll.valid.plain", "bleu.valid.plain.13a"):
        (reading,) = readings(results, key=key)
        assert (reading.record, reading.words, reading.outcome) == (None, words, True)


def test_a_run_without_a_result_has_its_parameters(results):
    results.write("p/deep", {"parameters": scores(66.0)}, outcome="diverged")
    (reading,) = readings(results, key="parameters")
    assert reading.record is not None


@pytest.mark.parametrize("stage", RECIPE)
def test_an_older_recipe_of_any_stage_is_named(results, monkeypatch, stage):
    """Field fault 18."""
    results.write("p/deep", {KEY: scores(20.0)})
    before = RECIPE[stage]
    monkeypatch.setitem(RECIPE, stage, before + 1)
    (reading,) = readings(results)
    assert reading.stale == f"{stage}: recipe {before} is older than {before + 1}"


def test_files_of_another_run_are_refused(results):
    """Field fault 18."""
    results.write("p/deep", {KEY: scores(20.0)}, identity="0" * 64)
    with refused("not of this run", "p/deep seed 1"):
        readings(results)


def test_a_damaged_file_is_refused(results):
    results.write("p/deep", {KEY: scores(20.0)})
    (results.path("p/deep") / "scores.test.plain-abcd1234.json").write_text("{", "utf-8")
    with refused("not JSON"):
        readings(results)


def test_a_training_that_lost_its_own_measurements_names_the_command(results):
    folder = results.path("p/deep").parent
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "training.json").touch()
    with refused("no such file", where="measurements/training.json"):
        readings(results, key="parameters")
    # Of the one that did not train, nothing is missing.
    assert readings(results, "p/small", "parameters") == []


def test_seeds_without_a_result_are_counted_by_how_they_ended():
    ended = ["diverged at update 3", "failed to train", "diverged at update 9"]
    assert lost_words(ended, 5) == "2 of 5 seeds diverged, 1 of 5 seeds failed to train"
    assert (lost_words([], 5), lost_words(["diverged"], 1)) == ("", "")


def test_a_corpus_without_statistics_is_not_measured(results):
    (reading,) = readings(results, "text", "pairs.train")
    assert (reading.words, reading.detail) == ("not measured", "text: pairs.train")

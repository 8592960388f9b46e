"""Cells over seeds: what is read, means, spreads, units, and what takes the place of a value."""

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest

from fathom.artefacts.table.results import result
from fathom.artefacts.table.sources import lost_words, outcome_words
from fathom.io.records import read_record, write_record
from fathom.results import measurements, training_record
from fathom.results.measurements import Number, Record
from fathom.results.recipe import RECIPE
from fathom.results.training_record import TrainingRecord
from tests.support.refused import refused
from tests.support.run_files import training
from tests.support.small_tables import KNOWN, SIGNATURE, Results, scores, table, typical

BLEU, HARD = "bleu.test.plain.13a", "bleu.test.hard.13a"
SCORES = "scores.test.plain-abcd1234.json"


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path)


def cell(results, row, column, name="table1", block=""):
    """Return the value of a cell of a small paper's table."""
    part = KNOWN.cell(table(results.folder, name), row, column, block)
    return result(part, results.sources)


def only(results, text, tasks=(), sources=None):
    """Return the value of the only cell of a table."""
    (part,) = KNOWN.cells(table(results.folder, "t", f"t: {{title: T, section: S, {text}}}"))
    return result(replace(part, tasks=tasks or part.tasks), sources or results.sources)


def test_a_task_has_its_own_score_and_a_mean_is_over_the_tasks_and_counts_all_sentences(results):
    results.write("p/deep", {BLEU: scores(20.0, 38.0, n=60)})
    bos, avg = (cell(results, "24/24", column) for column in ("bos", "avg"))
    assert (bos.value, bos.stderr, bos.interval, bos.seeds) == (20.0, 0.5, 1.0, 1)
    assert (bos.sentences, bos.how, bos.words) == (60, (SIGNATURE,), "")
    assert (avg.value, avg.sentences) == (29.0, 120)
    assert avg.stderr == pytest.approx(0.5 / math.sqrt(2))
    assert avg.interval == pytest.approx(1 / math.sqrt(2))


def test_a_mean_is_over_the_tasks_of_its_block_also_where_a_number_over_all_is_stored(results):
    results.write("p/deep", {BLEU: scores(20.0, 38.0)})
    for _ in range(2):
        assert cell(results, "deep", "avg", "table4", "A").value == 20.0
        assert cell(results, "deep", "avg", "table4", "B").value == 38.0
        tasks = {"bos": Number(value=20.0), "fra": Number(value=38.0)}
        results.write("p/deep", {BLEU: Record(tasks=tasks, all=Number(value=30.0))})
    assert cell(results, "24/24", "avg").value == 30.0


def test_seeds_are_averaged_and_their_spread_is_that_of_the_mean(results):
    for seed, bos in ((1, 20.0), (2, 22.0)):
        results.write("p/small", {BLEU: scores(bos, 38.0)}, seed)
    shown = cell(results, "6/6", "bos")
    assert (shown.value, shown.seeds, shown.interval) == (21.0, 2, 1.0)
    assert shown.deviation == pytest.approx(math.sqrt(2))
    assert shown.stderr == pytest.approx(1.0)


def of_seeds(results, *seeds):
    """Return the cell of a run of which each seed has a score, an outcome or nothing."""
    source = results.of_seeds("p/small", *seeds)
    return result(KNOWN.cell(table(results.folder), "6/6", "bos"), {"p/small": source})


@pytest.mark.parametrize(
    ("seeds", "words", "shown"),
    [
        (("diverged", "unscored", "unscored"), "not measured (2 of 3 seeds)", 2),
        (("diverged", None, None), "not run (2 of 3 seeds)", 0),
        (("diverged", "unscored", 20.0, "unscored"), "not measured (2 of 4 seeds)", 2),
        (("diverged", "diverged", None), "diverged at update 122 (2 of 3 seeds)", 2),
        (("diverged", "diverged", 20.0), "diverged at update 122 (2 of 3 seeds)", 2),
        (("diverged", "diverged", 20.0, None), "not run (1 of 4 seeds)", 0),
        ((None, None), "not run", 0),
    ],
)
def test_a_run_has_an_outcome_once_most_of_its_seeds_have_one(results, seeds, words, shown):
    own = of_seeds(results, *seeds)
    assert (own.value, own.words, own.seeds) == (None, words, shown)
    lost = seeds.count("diverged")
    assert own.lost == (f"{lost} of {len(seeds)} seeds diverged" if lost else "")
    if "diverged" not in words and lost:
        assert f"{lost} of {len(seeds)} seeds: diverged at update 122" in own.note


def test_a_value_needs_half_of_the_seeds_and_says_how_the_others_ended(results):
    shown = of_seeds(results, "diverged", 20.0, "failed_to_train", 22.0, 24.0, "unscored", None)
    assert (shown.value, shown.seeds, shown.of, shown.awaited) == (22.0, 3, 7, 2)
    assert shown.lost == "1 of 7 seeds diverged, 1 of 7 seeds failed to train"
    shown = of_seeds(results, "diverged", 20.0)
    assert (shown.value, shown.seeds) == (20.0, 1)
    assert shown.note == "1 of 2 seeds: diverged at update 122"
    complete = of_seeds(results, 20.0, 22.0)
    assert (complete.value, complete.lost, complete.awaited) == (21.0, "", 0)


def test_seeds_that_diverged_at_different_updates_diverged(results):
    for seed, update in ((1, 122), (2, 300)):
        results.write("p/small", {}, seed, outcome="diverged")
        path = results.path("p/small", seed) / "training.json"
        file = measurements.read(path)
        measurements.write(path, file.model_copy(update={"update": update}))
    shown = of_seeds(results, None, None)
    assert (shown.words, shown.lost) == ("diverged (2 of 2 seeds)", "2 of 2 seeds diverged")
    assert "1 of 2 seeds: diverged at update 300" in shown.note


def test_a_seed_whose_gates_leave_no_layer_has_no_number(results):
    results.write("p/gated", {HARD: scores(fra=39.5, missing=("bos",))}, 1)
    results.write("p/gated", {HARD: scores(20.0, 38.0)}, 2)
    folders = {seed: results.path("p/gated", seed) for seed in (1, 2)}
    source = replace(results.sources["p/gated"], folders=folders)
    shown = only(
        results, "columns: [bos], gates: hard, rows: {a: gated}", sources={"p/gated": source}
    )
    assert (shown.value, shown.lost) == (20.0, "1 of 2 seeds without a number")


def test_an_outcome_is_in_every_score_column_and_what_a_run_cannot_have_is_empty(tmp_path):
    results = typical(tmp_path)
    words = {cell(results, "24/24", column).words for column in ("bos", "avg", "fra")}
    assert words == {"diverged at update 122"}
    assert cell(results, "24/24", "params").value == pytest.approx(66.3)
    # No gates, so no hard ones.
    empty = cell(results, "6/6", "avg_hard")
    assert (empty.value, empty.words) == (None, "")
    assert cell(results, "LL-D, 6/12", "avg_hard").words == "no layer is left for bos"


WINDOW, NLL = "bleu.test.plain.window.13a", "nll.valid.plain"
OF_WINDOW = "columns: [avg], value: bleu.window, rows: {a: small}"
OF_NLL = "columns: [nll_valid], rows: {a: small}"
TWO_NATS = Record(
    unit="nats",
    tasks={"bos": Number(value=1.0), "fra": Number(value=9.0)},
    all=Number(value=math.log(2) * 2),
)
RECORDS = {
    "all tokens come before a mean over tasks": (NLL, TWO_NATS, OF_NLL, {"value": 2.0}),  # bits
    "the spread of a window is that over its checkpoints": (
        WINDOW, Record(all=Number(value=27.3, spread=0.08, n=21)), OF_WINDOW,
        {"value": 27.3, "stderr": 0.08, "interval": None, "sentences": None},
    ),
    "tokens are not sentences": (
        NLL, Record(all=Number(value=math.log(2), n=21)), OF_NLL, {"value": 1.0, "sentences": None},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("key", "record", "says", "expected"), RECORDS.values(), ids=RECORDS)
def test_a_number_over_all_is_shown_with_its_own_spread_and_no_sentences(
    results, key, record, says, expected
):
    results.write("p/small", {key: record})
    shown = only(results, says)
    assert {name: getattr(shown, name) for name in expected} == pytest.approx(expected)


def test_many_tasks_without_a_score_are_counted_rather_than_named(results):
    numbers = dict.fromkeys("abc", Number(value=1.0))
    missing = dict.fromkeys("def", "no layer is left with hard gates")
    results.write("p/gated", {HARD: Record(tasks=numbers, missing=missing)})
    shown = only(results, "columns: [avg], gates: hard, rows: {a: gated}", tasks=tuple("abcdef"))
    assert shown.words == "no layer is left (3 of 6 tasks)"


def test_a_doubt_of_one_seed_is_that_of_the_cell(results):
    results.write("p/small", {BLEU: scores(20.0, 38.0)}, 1)
    doubtful = scores(22.0, 38.0).model_copy(update={"doubt": "another language"})
    results.write("p/small", {BLEU: doubtful}, 2)
    shown = cell(results, "6/6", "bos")
    assert (shown.value, shown.doubtful, shown.note) == (21.0, True, "another language")
    results.write("p/deep", {BLEU: scores(20.0, 38.0)})
    assert not cell(results, "24/24", "bos").doubtful


def readings(results, run="p/deep", key=BLEU):
    return [reading for _, reading in results.sources[run].readings(key)]


def test_scores_of_other_settings_are_never_shown(results):
    results.write("p/deep", {BLEU: scores(20.0)})
    path = results.path("p/deep") / SCORES
    path.rename(path.with_name("scores.test.plain-00000000.json"))
    (reading,) = readings(results)
    assert (reading.record, reading.words) == (None, "other decoding")
    assert "scores.test.plain-00000000" in reading.detail
    assert "scores.test.plain-abcd1234" in reading.detail


@pytest.mark.parametrize(
    ("run", "there", "asked"),
    [
        ("p/deep", "parameters", BLEU),
        ("p/gated", "bleu.test.soft.13a", HARD),  # other gates, same decoding
        ("p/deep", BLEU, "bleu.test.plain.none"),
    ],
)
def test_what_a_run_has_not_measured_is_named(results, run, there, asked):
    results.write(run, {there: scores(20.0)})
    (reading,) = readings(results, run, asked)
    assert (reading.words, reading.detail) == ("not measured", f"{run}: {asked}")


@pytest.mark.parametrize(
    ("outcome", "words"),
    [("diverged", "diverged at update 122"), ("failed_to_train", "failed to train")],
)
def test_a_run_without_a_result_gives_its_outcome_whatever_was_measured(results, outcome, words):
    results.write("p/deep", {"nll.valid.plain": scores(4.0)}, outcome=outcome)
    for key in (BLEU, "nll.valid.plain", "bleu.valid.plain.13a"):
        (reading,) = readings(results, key=key)
        assert (reading.record, reading.words, reading.outcome) == (None, words, True)


@pytest.mark.parametrize(
    ("nll", "words"),
    [(6.08, " (0.02 above the unigram)"), (6.04, " (0.02 below the unigram)"), (None, "")],
)
def test_a_run_that_failed_to_train_says_how_far_from_the_unigram(nll, words):
    """A file of before the number was recorded has none, whatever its reason says."""
    reason = "validation NLL 6.080, unigram baseline 6.060 nats per token"
    ended = {"kind": "failed_to_train", "update": 300, "reason": reason}
    last = nll and {"nll": nll, "by_task": {}}
    record = training("failed_to_train", outcome=ended, validation=last)
    spec = SimpleNamespace(name="p/deep", identity="f" * 64)
    file = training_record.measured(TrainingRecord.model_validate(record), spec, 1)
    assert outcome_words(file) == f"failed to train{words}"
    assert lost_words([outcome_words(file)], 2) == "1 of 2 seeds failed to train"


@pytest.mark.parametrize("stage", RECIPE)
def test_an_older_recipe_of_any_stage_is_named_and_noted(results, monkeypatch, stage):
    results.write("p/deep", {BLEU: scores(20.0)})
    before = RECIPE[stage]
    monkeypatch.setitem(RECIPE, stage, before + 1)
    (reading,) = readings(results)
    assert reading.stale == f"{stage}: recipe {before} is older than {before + 1}"
    assert reading.stale in cell(results, "24/24", "bos").note


def test_seeds_that_were_scored_in_several_ways_are_noted(results):
    """A metric was edited, or sacreBLEU updated, between two seeds."""
    results.write("p/small", {BLEU: scores(20.0)})
    results.write("p/small", {BLEU: scores(22.0).model_copy(update={"how": "new"})}, 2)
    assert cell(results, "6/6", "bos").note == (
        f"seeds are scored in 2 ways ({SIGNATURE}; new); score them again"
    )


def test_a_mean_of_weights_that_is_worse_than_the_last_ones_is_noted_beside_its_nll(results):
    """A mean that reached far back cost half a nat, and no table said so."""
    key, last = "nll.valid.plain", Record(unit="nats", all=Number(value=5.45))
    text = "columns: [valid_nll], rows: {deep: deep}"
    for nll, noted in ((5.98, True), (5.5, False)):
        results.write("p/deep", {key: Record(all=Number(value=nll)), "last_validation": last})
        of_mean = {name: replace(each, average_of=5) for name, each in results.sources.items()}
        words = "the mean of 5 saved weights has a validation NLL of 5.98 nats, the last weights"
        assert only(results, text, sources=of_mean).note == (f"{words} 5.45" if noted else "")
        assert only(results, text).note == ""


def other_weights(path):
    """The name of this file does not tell which weights it is of."""
    write_record(path, read_record(path) | {"settings": {"average_of": 3}})


def test_files_that_are_damaged_or_of_another_run_or_weights_are_refused(results):
    path = results.path("p/deep") / SCORES
    results.write("p/deep", {BLEU: scores(20.0)})
    other_weights(path)
    with refused("measured with other weights", where=path.name):
        readings(results)
    results.write("p/deep", {BLEU: scores(20.0)}, identity="0" * 64)
    with refused("measurements of another run than p/deep seed 1"):
        readings(results)
    path.write_text("{", "utf-8")
    with refused("not JSON ("):
        readings(results)


def test_a_training_json_that_was_changed_is_refused_with_all_that_it_measured(results):
    """Its measurements were drawn, while `fathom verify` refused it."""
    results.write("p/deep", {BLEU: scores(20.0)})
    path = results.path("p/deep").parent / "training.json"
    write_record(path, training())
    assert [reading.words for reading in readings(results)] == [""]
    path.write_text(path.read_text("utf-8").replace("4.5", "4.4"), "utf-8")
    with refused("checksum mismatch: the file changed", where="1/training.json"):
        readings(results)


def test_a_training_that_lost_its_own_measurements_names_the_command(results):
    folder = results.path("p/deep").parent
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "training.json").touch()
    with refused("no such file", where="measurements/training.json"):
        readings(results, key="parameters")
    # Of the one that did not train, nothing is missing.
    assert readings(results, "p/small", "parameters") == []

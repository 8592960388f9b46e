"""A cell less another one: paired where both are scored on the same sentences, else why not."""

import math
from shutil import copytree

import numpy as np
import pytest
from scipy import stats

from fathom.artefacts.table.differences import BY_SEED, OVER_SEEDS, difference, significantly_better
from fathom.artefacts.table.results import result
from fathom.config.schema.table import Mark
from fathom.io.files import sha256
from fathom.io.records import read_record, write_record
from fathom.results.measurements import Number, Record
from fathom.scoring.bootstrap import SEED
from fathom.scoring.metrics import bleu
from fathom.scoring.sentences import path_of, read
from tests.support.paired import paired_bootstrap
from tests.support.refused import refused
from tests.support.small_tables import KNOWN, Results, scores, table, texts

BLEU = "bleu.test.plain.13a"
MARK = Mark(means="gain", to="6/6", test="paired_bootstrap", draws=200, share=0.5)
GOOD, BAD = texts(0.1), texts(0.4, seed=2)


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """Two rows on the same sentences."""
    results = Results(tmp_path_factory.mktemp("scored"))
    results.score("p/small", BAD)
    results.score("p/deep", GOOD)
    return results


@pytest.fixture
def results(scored, tmp_path):
    """A copy of the two rows."""
    return Results(copytree(scored.folder, tmp_path / "results"))


def less(results, cell=("24/24", "bos"), base=("6/6", "bos"), text=None):
    """Return one cell less another one, each as (row, column)."""
    drawn = table(results.folder, *(("t", text) if text else ()))
    sources = results.sources
    first, second = (result(KNOWN.cell(drawn, *place), sources) for place in (cell, base))
    return difference(first, second, sources)


def cells(results, *rows):
    """Return the cells of a task in some rows."""
    drawn = table(results.folder)
    return [result(KNOWN.cell(drawn, row, "bos"), results.sources) for row in rows]


def counts(results, run, task="bos", seed=1):
    return read(results.decoding(run, seed, "test", "plain"), task).statistics(bleu.metric("13a"))


def test_rows_on_the_same_sentences_are_paired(results):
    gain = less(results)
    expected = paired_bootstrap([[counts(results, "p/deep")]], [[counts(results, "p/small")]])
    assert gain.result.value == pytest.approx(expected.value, abs=1e-5)
    assert (gain.result.interval, gain.half) == (expected.half, expected.half)
    assert gain.result.stderr == expected.stderr
    assert gain.paired.p == expected.p
    assert "10,000 draws" in gain.method


def test_pairs_are_narrower_than_independent_rows(results):
    results.score("p/deep", texts(0.38, seed=2))  # leaves out almost the same words
    first, base = (results.sources[run] for run in ("p/deep", "p/small"))
    numbers = [next(source.readings(BLEU))[1].record.tasks["bos"] for source in (first, base)]
    independent = math.hypot(*((number.high - number.low) / 2 for number in numbers))
    assert 0 < less(results).half < 0.7 * independent


def test_a_row_less_itself_has_no_width_and_p_1(results):
    gain = less(results, base=("24/24", "bos"))
    assert (gain.result.value, gain.half, gain.paired.p) == (0, 0, 1)


def test_a_mean_draws_each_tasks_sentences_in_pairs(results):
    gain = less(results, ("24/24", "avg"), ("6/6", "avg"))
    sets = [
        [[counts(results, run, task)] for task in ("bos", "fra")] for run in ("p/deep", "p/small")
    ]
    assert gain.half == paired_bootstrap(*sets).half
    assert gain.half < less(results).half


def test_seeds_of_one_row_are_averaged_in_each_draw(results):
    results.score("p/small", texts(0.2, seed=3), seed=2)
    gain = less(results)
    seeds = [counts(results, "p/small", seed=seed) for seed in (1, 2)]
    expected = paired_bootstrap([[counts(results, "p/deep")]], [seeds])
    assert (gain.result.deviation, gain.half) == (None, expected.half)
    assert gain.result.value == pytest.approx(expected.value, abs=1e-5)


def by_seed(results, run, seeds=2, task="bos"):
    """Return the scores of the trainings of a run."""
    return [counts(results, run, task, seed).value for seed in range(1, seeds + 1)]


def test_several_seeds_in_both_rows_give_the_interval_over_seeds(results, monkeypatch):
    monkeypatch.setitem(KNOWN.entries, "p/deep", (1, 2))
    results.score("p/small", texts(0.2, seed=3), seed=2)
    for seed in range(2, 6):
        results.score("p/deep", texts(0.15, seed=seed + 2), seed=seed)
    gain = less(results)
    pairs = stats.ttest_rel(by_seed(results, "p/deep"), by_seed(results, "p/small"))
    interval = pairs.confidence_interval(0.95)
    # Stored scores have six decimals.
    assert 2 * gain.half == pytest.approx(interval.high - interval.low, abs=1e-4)
    assert gain.p == pytest.approx(pairs.pvalue, rel=1e-5)
    assert gain.method == BY_SEED
    # Without the same seeds runs are independent.
    monkeypatch.setitem(KNOWN.entries, "p/deep", (1, 2, 3, 4, 5))
    gain, first = less(results), by_seed(results, "p/deep", 5)
    welch = stats.ttest_ind(first, by_seed(results, "p/small"), equal_var=False)
    assert gain.p == pytest.approx(welch.pvalue, rel=1e-5)
    assert gain.method == OVER_SEEDS


def test_two_cells_of_one_run_are_compared_seed_by_seed(results):
    """They were independent here alone: a row less itself had a width and p 1."""
    results.score("p/small", texts(0.2, seed=3), seed=2)
    text = "t: {title: T, section: S, columns: [bos, fra], rows: {a: small, b: small}}"
    itself = less(results, ("a", "bos"), ("b", "bos"), text)
    assert (itself.result.value, itself.half, itself.p, itself.result.stderr) == (0, 0, 1, 0)
    tasks = less(results, ("a", "bos"), ("b", "fra"), text)
    expected = stats.ttest_rel(*(by_seed(results, "p/small", task=task) for task in ("bos", "fra")))
    assert tasks.p == pytest.approx(expected.pvalue, rel=1e-4)
    interval = expected.confidence_interval(0.95)
    assert 2 * tasks.half == pytest.approx(interval.high - interval.low, abs=1e-3)


def test_chrf_is_paired_too(results):
    text = "t: {title: T, section: S, columns: [bos], value: chrf, rows: {a: deep, b: small}}"
    gain = less(results, ("a", "bos"), ("b", "bos"), text)
    assert 0 < gain.half < gain.result.value


def test_a_clear_gain_passes_the_test_of_a_mark_and_a_clear_loss_does_not(results):
    for rows in (("24/24", "6/6"), ("6/6", "24/24")):
        first, base = cells(results, *rows)
        gained = first.value > base.value
        assert significantly_better(MARK, first, base, results.sources) == gained
        assert significantly_better(MARK, first, base, results.sources, lower=True) != gained


def test_equal_rows_and_rows_that_cannot_be_paired_pass_no_test(results):
    first, base = cells(results, "24/24", "6/6")
    assert not significantly_better(MARK, first, first, results.sources)
    assert not significantly_better(Mark(means="gain", to="6/6"), first, base, results.sources)
    no_counts(results)
    assert not significantly_better(MARK, first, base, results.sources)


def wins_of_draws(results, share):
    """Return the share of draws, each of a share of the sentences, in which p/deep is better."""
    systems = [counts(results, run) for run in ("p/deep", "p/small")]
    sentences = len(systems[0].counts)
    drawn = np.random.default_rng(SEED).choice(sentences, (MARK.draws, int(share * sentences)))
    first, second = (
        [system.metric.score(system.counts[picks].sum(axis=0)) for picks in drawn]
        for system in systems
    )
    return np.greater(first, second).mean()


def test_a_small_difference_passes_a_low_level_alone_in_draws_of_half_of_the_sentences(results):
    results.score("p/deep", texts(0.36, seed=5))
    first, base = cells(results, "24/24", "6/6")
    wins = wins_of_draws(results, MARK.share)
    assert 0.6 < wins < wins_of_draws(results, 1.0) < 0.95
    for level in (wins, wins + 0.001):
        mark = MARK.model_copy(update={"level": level})
        assert significantly_better(mark, first, base, results.sources) == (level == wins)


def no_counts(results):
    path_of(results.decoding("p/small", 1, "test", "plain"), "bos").unlink()


def other_sentences(results):
    results.score("p/small", {task: (lines, lines) for task, (lines, _) in BAD.items()})


def other_length(results):
    results.score("p/small", texts(0.4, lines=59))


def one_sentence(results):
    for run in ("p/small", "p/deep"):
        results.score(run, texts(0.0, lines=1))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (other_sentences, "other test sentences"),
        (other_length, "other test sentences"),
        (no_counts, "no counts of sentences are stored"),
        (one_sentence, "a test set of one sentence"),
    ],
)
def test_rows_that_cannot_be_paired_say_why_and_have_no_interval(results, change, why):
    change(results)
    gain = less(results)
    assert gain.result.value is not None
    assert (gain.half, gain.result.stderr, gain.method, gain.paired) == (None, None, "", None)
    assert gain.result.note == f"no interval of the difference: {why}"


@pytest.mark.parametrize(
    ("first", "second", "base", "why"),
    [
        ("bleu.plain", "chrf.plain", "bos", "another metric"),
        ("bleu.plain", "bleu.plain in percent", "bos", "another metric"),
        ("bleu.plain", "bleu.plain", "fra", "other test sentences"),
    ],
)
def test_another_metric_or_task_says_so(results, first, second, base, why):
    rows = f"a: {{run: deep, value: {first}}}, b: {{run: small, value: {second}}}"
    text = f"t: {{title: T, section: S, columns: [bos, fra], rows: {{{rows}}}}}"
    gain = less(results, ("a", "bos"), ("b", base), text)
    assert (gain.half, gain.result.note) == (None, f"no interval of the difference: {why}")


def test_numbers_without_sentences_have_no_interval_and_no_note(tmp_path):
    results = Results(tmp_path / "sizes")
    for run, size in (("p/small", 91.6e6), ("p/deep", 104.6e6)):
        results.write(run, {"parameters": Record(all=Number(value=size))})
    gain = less(results, ("24/24", "params"), ("6/6", "params"))
    assert gain.result.value == pytest.approx(13.0)
    assert (gain.half, gain.result.note) == (None, "")


def test_counts_of_other_scores_are_refused(results):
    results.write("p/small", {BLEU: scores(55.5, 55.5)})
    # The signature is not part of this damage.
    path = results.path("p/small") / "scores.test.plain-abcd1234.json"
    how = next(results.sources["p/deep"].readings(BLEU))[1].record.how
    content = read_record(path)
    content["measurements"][BLEU]["how"] = how
    write_record(path, content)
    remedy = "make it with the stage that writes it"  # these folders are not named as runs are
    with refused("and the measurement is 55.5", where=path.name, remedy=remedy):
        less(results)


def test_damaged_counts_are_refused(results):
    path = path_of(results.decoding("p/small", 1, "test", "plain"), "bos")
    second = path_of(results.decoding("p/deep", 1, "test", "plain"), "bos")
    assert sha256(path) != sha256(second)
    path.write_bytes(second.read_bytes())
    with refused("not the file that was recorded"):
        less(results)


def test_a_difference_to_what_has_no_value_has_words(tmp_path):
    results = Results(tmp_path / "one")
    results.score("p/deep", GOOD)
    gain = less(results)
    assert (gain.result.value, gain.result.words) == (None, "not run (6/6)")


def test_what_a_reader_must_know_of_the_base_is_in_the_note(results):
    results.write("p/small", {}, 2, outcome="diverged")
    first = less(results).result
    assert "6/6: 1 of 2 seeds: diverged at update 122" in first.note
    assert first.lost == "6/6: 1 of 2 seeds diverged"

"""Our numbers: intervals over seeds, or of test sets drawn again; else the numbers alone."""

import math
import random
from statistics import fmean, stdev

import pytest
from sacrebleu.metrics.bleu import BLEU

from fathom.claims.expressions import parse
from fathom.claims.judge import Judge
from fathom.claims.quantities import Curve, Term
from fathom.claims.results import ALONE, EXACT, Results, over_seeds
from fathom.provenance.measurements import Number, Record
from fathom.scoring.bootstrap import draws
from fathom.scoring.paired import drawn_scores
from fathom.scoring.sentences import read
from fathom.tables.comparison import compare_table
from fathom.tables.differences import difference
from tests.support.small_tables import KNOWN, TABLES, scores, table, texts
from tests.support.small_tables import Results as Files

GOOD, BAD, WORSE = texts(0.1), texts(0.4, seed=2), texts(0.5, seed=3)


@pytest.fixture
def files(tmp_path):
    """Two rows on the same sentences."""
    made = Files(tmp_path)
    made.score("p/small", BAD)
    made.score("p/deep", GOOD)
    return made


def results_of(files, text=TABLES, marks=None):
    """Return the numbers of table1."""
    drawn = table(files.folder, text=text, marks=marks)
    compared = compare_table(drawn, drawn.cells(KNOWN), (), files.sources, "tiny")
    return Results({"table1": compared}, lambda _: Curve("figure1", "", {}, "not run", True))


def truth(files, claim, **keywords):
    return Judge(results_of(files, **keywords), "here").truth(parse(claim, "here"))


def naive(first, second, draws_of=400):
    """Return half of the centred interval of a difference, from text alone."""
    dice = random.Random(1)
    pairs = [*zip(*first, second[0], strict=True)]
    found = []
    for _ in range(draws_of):
        own, references, other = zip(*dice.choices(pairs, k=len(pairs)), strict=True)
        score = BLEU().corpus_score
        found.append(score([*own], [[*references]]).score - score([*other], [[*references]]).score)
    middle = fmean(found)
    return sorted(abs(one - middle) for one in found)[-draws_of // 20]


@pytest.mark.slow
def test_the_interval_of_two_rows_is_that_of_an_independent_bootstrap(files):
    (fact,) = truth(files, 'table1["24/24", "bos"] > table1["6/6", "bos"]').evidence
    expected = naive(GOOD["bos"], BAD["bos"])
    assert (fact.high - fact.low) / 2 == pytest.approx(expected, rel=0.15)
    own, references = GOOD["bos"]
    value = BLEU().corpus_score(own, [references]).score
    other = BLEU().corpus_score(BAD["bos"][0], [references]).score
    assert fact.difference == pytest.approx(value - other, abs=1e-5)
    assert "in pairs" in fact.basis


def test_each_draw_is_scored_as_sacrebleu_scores_its_text(files):
    counts = read(files.decoding("p/deep", 1, "test", "plain"), "bos").statistics("13a")
    own, references = GOOD["bos"]
    for row, score in zip(draws(len(own), 20), drawn_scores([[counts]], samples=20), strict=True):
        drawn = [at for at, times in enumerate(row) for _ in range(int(times))]
        lines = [own[at] for at in drawn], [[references[at] for at in drawn]]
        assert score == pytest.approx(BLEU().corpus_score(*lines).score)


@pytest.mark.parametrize("column", ["bos", "avg"])
def test_the_interval_is_that_of_tables_and_figures(files, column):
    (fact,) = truth(files, f'table1["24/24", "{column}"] > table1["6/6", "{column}"]').evidence
    cells = {
        item.result.cell.row: item.result
        for item in results_of(files).tables["table1"].cells
        if item.result.cell.column == column
    }
    same = difference(cells["24/24"], cells["6/6"], files.sources)
    assert fact.difference == pytest.approx(same.result.value)
    assert (fact.high - fact.low) / 2 == pytest.approx(same.half)


def test_a_number_and_a_margin_have_the_interval_of_the_number(files):
    (fact,) = truth(files, 'table1["6/6", "bos"] > 1').evidence
    counts = read(files.decoding("p/small", 1, "test", "plain"), "bos").statistics("13a")
    drawn = drawn_scores([[counts]])
    half = sorted(abs(drawn - drawn.mean()))[-len(drawn) // 20]
    assert (fact.high - fact.low) / 2 == pytest.approx(half)
    assert "pairs" not in fact.basis


def test_other_sentences_are_drawn_independently(files):
    claim = 'table1["6/6", "bos"] - table1["6/6", "fra"] > -100'
    (fact,) = truth(files, claim).evidence
    assert "pairs" not in fact.basis
    widths = [
        (one.high - one.low) / 2
        for task in ("bos", "fra")
        for one in truth(files, f'table1["6/6", "{task}"] > -100').evidence
    ]
    assert (fact.high - fact.low) / 2 == pytest.approx(math.hypot(*widths), rel=0.15)


def test_a_mean_of_tasks_and_one_of_them_are_drawn_together(files):
    claim = 'table1["6/6", "avg"] - table1["6/6", "bos"] > -100'
    (fact,) = truth(files, claim).evidence
    assert "in pairs" in fact.basis
    # The difference is half of that of the two tasks, which are drawn independently.
    (both,) = truth(files, 'table1["6/6", "fra"] - table1["6/6", "bos"] > -100').evidence
    assert fact.high - fact.low == pytest.approx((both.high - both.low) / 2, rel=0.1)
    (mirrored,) = truth(files, 'table1["6/6", "bos"] - table1["6/6", "avg"] < 100').evidence
    assert mirrored.high - mirrored.low == pytest.approx(fact.high - fact.low)


def test_a_mean_of_rows_is_drawn_too(files):
    (fact,) = truth(files, 'mean(table1[["6/6", "24/24"], "bos"]) > 1').evidence
    assert fact.low < fact.difference < fact.high


def test_several_seeds_in_all_rows_decide(tmp_path):
    files = Files(tmp_path)
    for seed, value in ((1, 20.0), (2, 21.0)):
        files.write("p/small", {"bleu.test.plain.13a": scores(value, value)}, seed)
    text = TABLES.replace('"24/24": deep', "again: small")
    fact = truth(files, 'table1["6/6", "bos"] > 20', text=text).evidence[0]
    half = 1.96 * stdev((20.0, 21.0)) / math.sqrt(2)
    assert (fact.difference, fact.low) == (20.5, pytest.approx(20.5 - half))
    assert "2 seeds" in fact.basis


def test_numbers_of_one_training_go_together_and_runs_are_independent():
    first = Term("a", 1.5, source="p/a", by_seed={1: 1.0, 2: 2.0})
    again = Term("b", 2.5, source="p/a", by_seed={1: 2.0, 2: 3.0})
    other = Term("c", 5.0, source="p/c", by_seed={1: 4.0, 2: 5.0, 3: 6.0})
    assert over_seeds({first: 1.0, again: -1.0}).half == 0
    errors = stdev((1.0, 2.0)) / math.sqrt(2), 1 / math.sqrt(3)
    both = over_seeds({first: 1.0, other: -1.0})
    assert both.half == pytest.approx(1.96 * math.hypot(*errors))
    assert "2 and 3 seeds" in both.basis
    assert over_seeds({first: 1.0, Term("d", 1.0, source="p/d", by_seed={1: 1.0}): 1.0}) is None


def test_parameters_are_exact_and_other_numbers_of_one_seed_decide_alone(tmp_path):
    files = Files(tmp_path)
    record = Record(tasks={"bos": Number(value=5.0), "fra": Number(value=6.0)})
    size = {"parameters": Record(all=Number(value=66_300_000))}
    files.write("p/gated", {"depth.decoder": record, **size})
    (fact,) = truth(files, 'table1["LL-D, 6/12", "depth_decoder"] > 5').evidence
    assert (fact.answer, fact.low, fact.basis) == ("holds", None, ALONE)
    (fact,) = truth(files, 'table1["LL-D, 6/12", "params"] < 67').evidence
    assert (fact.answer, fact.basis) == ("holds", EXACT)


def test_scores_without_counts_of_sentences_decide_alone(tmp_path):
    files = Files(tmp_path)
    files.write("p/deep", {"bleu.test.plain.13a": scores(20.0, 30.0)})
    (fact,) = truth(files, 'table1["24/24", "bos"] > 19').evidence
    assert (fact.answer, fact.basis) == ("holds", ALONE)


def test_outcomes_are_the_worst_value_and_what_was_not_run_is_absent(files):
    files.write("p/gated", {}, outcome="diverged")
    assert truth(files, 'table1["LL-D, 6/12", "avg"] < table1["6/6", "avg"]').answer == "holds"
    assert truth(files, 'failed(table1["LL-D, 6/12"]) and trained(table1["6/6"])').answer == "holds"
    assert truth(files, 'table1["Control", "avg"] > 1').answer == "absent"
    assert truth(files, 'trained(table1["Control"])').answer == "absent"
    assert truth(files, 'table1["6/6", "no such task"] > 1').answer == "absent"
    assert truth(files, 'end(figure1["a"]) > 1').answer == "absent"


def test_a_significant_gain_is_marked_and_better(files):
    from fathom.papers.table_settings import Mark

    mark = Mark(means="gain", to="6/6", test="paired_bootstrap", draws=100)
    for text, expected in ((GOOD, "holds"), (WORSE, "fails")):
        files.score("p/deep", text)
        claim = 'significant(table1["24/24", "avg"])'
        assert truth(files, claim, marks={"bold": mark}).answer == expected

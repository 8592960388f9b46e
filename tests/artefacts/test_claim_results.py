"""Our numbers: intervals over seeds, or of test sets drawn again; else the numbers alone."""

import math
import random
from statistics import fmean
from types import SimpleNamespace

import pytest
from sacrebleu.metrics.bleu import BLEU
from scipy import stats

from fathom.artefacts.claims.language import truth as answer_of
from fathom.artefacts.claims.numbers import Term
from fathom.artefacts.claims.worlds import EXACT, NO_INTERVAL, Results, over_seeds
from fathom.artefacts.table.differences import ALONE, NO_SEEDS, OTHER_SEEDS, UNEVEN, difference
from fathom.config.schema.table import Mark
from fathom.results.measurements import Number, Record
from fathom.scoring.bootstrap import drawn_scores
from fathom.scoring.metrics import bleu
from fathom.scoring.sentences import read
from tests.support.small_tables import TABLES, compared, scores, texts
from tests.support.small_tables import Results as Files

GOOD, BAD, WORSE = texts(0.1), texts(0.4, seed=2), texts(0.5, seed=3)
BLEU_KEY = "bleu.test.plain.13a"


@pytest.fixture
def files(tmp_path):
    """Two rows on the same sentences."""
    made = Files(tmp_path)
    made.score("p/small", BAD)
    made.score("p/deep", GOOD)
    return made


def results_of(files, **keywords):
    """Return the numbers of table1."""
    made = compared(files, **keywords)
    artefacts = SimpleNamespace(project=None, compared=lambda paper, table: made)
    return Results(artefacts, SimpleNamespace(figures={}, tables={"table1": made.table}))


def truth(files, claim, **keywords):
    return answer_of(claim, "here", results_of(files, **keywords))


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


@pytest.mark.parametrize("column", ["bos", "avg"])
def test_the_interval_is_that_of_tables_and_figures(files, column):
    (fact,) = truth(files, f'table1["24/24", "{column}"] > table1["6/6", "{column}"]').evidence
    cells = {
        item.result.cell.row: item.result
        for item in compared(files).cells
        if item.result.cell.column == column
    }
    same = difference(cells["24/24"], cells["6/6"], files.sources)
    assert fact.difference == pytest.approx(same.result.value)
    assert (fact.high - fact.low) / 2 == pytest.approx(same.half)


def test_a_number_and_a_margin_have_the_interval_of_the_number(files):
    (fact,) = truth(files, 'table1["6/6", "bos"] > 1').evidence
    counts = read(files.decoding("p/small", 1, "test", "plain"), "bos").statistics(
        bleu.metric("13a")
    )
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


def test_means_are_drawn_together_with_what_they_are_a_mean_of(files):
    claim = 'table1["6/6", "avg"] - table1["6/6", "bos"] > -100'
    (fact,) = truth(files, claim).evidence
    assert "in pairs" in fact.basis
    # The difference is half of that of the two tasks, which are drawn independently.
    (both,) = truth(files, 'table1["6/6", "fra"] - table1["6/6", "bos"] > -100').evidence
    assert fact.high - fact.low == pytest.approx((both.high - both.low) / 2, rel=0.1)
    (mirrored,) = truth(files, 'table1["6/6", "bos"] - table1["6/6", "avg"] < 100').evidence
    assert mirrored.high - mirrored.low == pytest.approx(fact.high - fact.low)
    (rows,) = truth(files, 'mean(table1[["6/6", "24/24"], "bos"]) > 1').evidence
    assert rows.low < rows.difference < rows.high


def test_several_seeds_in_all_rows_decide(tmp_path):
    files = Files(tmp_path)
    for seed, value in ((1, 20.0), (2, 21.0)):
        files.write("p/small", {BLEU_KEY: scores(value, value)}, seed)
    text = TABLES.replace('"24/24": deep', "again: small")
    fact = truth(files, 'table1["6/6", "bos"] > 20', text=text).evidence[0]
    expected = stats.ttest_1samp((20.0, 21.0), 0).confidence_interval(0.95)
    assert (fact.difference, fact.low) == (20.5, pytest.approx(expected.low))
    assert "2 seeds" in fact.basis


def test_numbers_of_one_training_and_of_equal_seeds_go_together():
    first = Term("a", 1.5, source="p/a", by_seed={1: 1.0, 2: 2.0})
    again = Term("b", 2.5, source="p/a", by_seed={1: 2.0, 2: 3.0})
    other = Term("c", 5.0, source="p/c", by_seed={1: 4.0, 2: 5.0, 3: 6.0})
    assert over_seeds({first: 1.0, again: -1.0}).half(0.05) == 0
    welch = stats.ttest_ind((1.0, 2.0), (4.0, 5.0, 6.0), equal_var=False).confidence_interval(0.95)
    both = over_seeds({first: 1.0, other: -1.0})
    assert both.half(0.05) == pytest.approx((welch.high - welch.low) / 2)
    assert "2 and 3 seeds" in both.basis
    # Two numbers of one run are one sample, also beside a run with other seeds.
    beside = over_seeds({first: 1.0, again: -1.0, other: 1.0})
    alone = stats.ttest_1samp((4.0, 5.0, 6.0), 0).confidence_interval(0.95)
    assert beside.half(0.05) == pytest.approx((alone.high - alone.low) / 2)
    # The numbers of each seed first, where all three runs have the same seeds.
    runs = ((4.0, 5.5, 6.0), (3.0, 4.0, 5.5), (1.0, 1.5, 1.0))
    third = [
        Term(f"t{at}", 0.0, source=f"p/t{at}", by_seed=dict(enumerate(run)))
        for at, run in enumerate(runs)
    ]
    mean = over_seeds(dict(zip(third, (0.5, 0.5, -1.0), strict=True)))
    paired = stats.ttest_rel(
        [(a + b) / 2 for a, b, _ in zip(*runs, strict=True)], runs[2]
    ).confidence_interval(0.95)
    assert mean.half(0.05) == pytest.approx((paired.high - paired.low) / 2)
    assert mean.basis == "{} interval over 3 seeds, in pairs, Student's t"
    # Three numbers of one run are one sample: 2 degrees of freedom for 3 seeds.
    by_seed = {1: 4.0, 2: 5.0, 3: 7.0}
    sums = {Term(name, 0.0, source="p/c", by_seed=by_seed): 1 / 3 for name in "abc"}
    alone = stats.ttest_1samp((4.0, 5.0, 7.0), 0).confidence_interval(0.95)
    assert over_seeds(sums).half(0.05) == pytest.approx((alone.high - alone.low) / 2)
    assert (
        over_seeds({first: 1.0, Term("d", 1.0, source="p/d", by_seed={1: 1.0}): 1.0}).half is None
    )


def test_parameters_are_exact_and_what_cannot_be_drawn_again_decides_alone(tmp_path):
    files = Files(tmp_path)
    record = Record(tasks={"bos": Number(value=5.0), "fra": Number(value=6.0)})
    size = {"parameters": Record(all=Number(value=66_300_000))}
    files.write("p/gated", {"depth.decoder": record, **size})
    files.write("p/deep", {BLEU_KEY: scores(20.0, 30.0)})  # without counts of sentences
    for claim, basis in (
        ('table1["LL-D, 6/12", "depth_decoder"] > 5', NO_INTERVAL.format(ALONE)),
        ('table1["24/24", "bos"] > 19', NO_INTERVAL.format(ALONE)),
        ('table1["LL-D, 6/12", "params"] < 67', EXACT),
    ):
        (fact,) = truth(files, claim).evidence
        assert (fact.answer, fact.low, fact.basis) == ("holds", None, basis)


def test_outcomes_are_the_worst_value_and_what_was_not_run_is_absent(files):
    files.write("p/gated", {}, outcome="diverged")
    assert truth(files, 'table1["LL-D, 6/12", "avg"] < table1["6/6", "avg"]').answer == "holds"
    claim = 'failed(table1["LL-D, 6/12"]) and trained(table1["24/24"])'
    assert truth(files, claim).answer == "holds"
    assert truth(files, 'trained(table1["6/6"])').answer == "absent"  # its second seed is not run
    assert truth(files, 'table1["Control", "avg"] > 1').answer == "absent"
    assert truth(files, 'trained(table1["Control"])').answer == "absent"
    assert truth(files, 'table1["6/6", "no such task"] > 1').answer == "absent"
    assert truth(files, 'max(table1[:, "no such task"]) > 1').answer == "absent"


def test_a_significant_gain_is_marked_and_better(files):
    mark = Mark(means="gain", to="6/6", test="paired_bootstrap", draws=100)
    for text, expected in ((GOOD, "holds"), (WORSE, "fails")):
        files.score("p/deep", text)
        claim = 'significant(table1["24/24", "avg"])'
        assert truth(files, claim, marks={"bold": mark}).answer == expected


def of_seeds(folder, claim, small, deep=(20.0,)):
    """Return the answer of a claim from what the seeds of `6/6` and `24/24` have."""
    files = Files(folder / str(len([*folder.iterdir()])))
    runs = {"p/small": small, "p/deep": deep}
    sources = {run: files.of_seeds(run, *seeds) for run, seeds in runs.items()}
    return truth(files, claim, sources=sources)


D = "diverged"
ROW, OTHER = 'table1["6/6", "bos"]', 'table1["24/24", "bos"]'
TRAINED, FAILED = 'trained(table1["6/6"])', 'failed(table1["6/6"])'


@pytest.mark.parametrize(
    ("seeds", "trained", "failed"),
    [
        ((20.0, 21.0, 22.0), "holds", "fails"),
        ((D, D, 20.0, 21.0, 22.0), "fails", "fails"),
        ((D, D, D, 21.0, 22.0), "fails", "fails"),
        ((D, D, D), "fails", "holds"),
        ((D, "unscored", "unscored"), "fails", "absent"),
        ((D, None, None), "fails", "absent"),
        ((D, D, None), "fails", "absent"),
        ((20.0, None), "absent", "fails"),
        ((20.0, D, "unscored", "unscored"), "fails", "fails"),
        ((None, None), "absent", "absent"),
    ],
)
def test_trained_and_failed_ask_for_every_seed(tmp_path, seeds, trained, failed):
    """Two of five diverged seeds were trained, and three of five had failed."""
    assert of_seeds(tmp_path, TRAINED, seeds).answer == trained
    assert of_seeds(tmp_path, FAILED, seeds).answer == failed


def test_the_evidence_counts_the_seeds_without_a_result(tmp_path):
    (fact,) = of_seeds(tmp_path, TRAINED, (D, D, 20.0, 21.0, 22.0)).evidence
    assert fact.text.endswith("21 (2 of 5 seeds diverged)")
    (fact,) = of_seeds(tmp_path, FAILED, (D, D, D, 21.0, 22.0)).evidence
    assert fact.text.endswith("21.5 (3 of 5 seeds diverged)")
    (fact,) = of_seeds(tmp_path, FAILED, (D, D, D)).evidence
    assert "3 of 3 seeds" in fact.text
    (fact,) = of_seeds(tmp_path, FAILED, (D, None, None)).evidence
    assert fact.text.endswith("not run (2 of 3 seeds), 1 of 3 seeds diverged")
    (fact,) = of_seeds(tmp_path, TRAINED, (20.0, None)).evidence
    assert fact.text.endswith("20, 1 of its seeds not run")


@pytest.mark.parametrize("seeds", [(D, D, 20.0, 20.1, 20.2), (D, D, D, 20.0, 20.1)])
def test_some_diverged_seeds_decide_nothing_that_the_worst_value_would_change(tmp_path, seeds):
    lower, higher = (19.0, 19.1, 19.2), (30.0, 30.1, 30.2)
    assert of_seeds(tmp_path, f"{ROW} > {OTHER}", seeds, lower).answer == "inconclusive"
    assert of_seeds(tmp_path, f"{OTHER} < {ROW}", seeds, lower).answer == "inconclusive"
    assert of_seeds(tmp_path, f"{ROW} > {OTHER}", seeds, higher).answer == "fails"
    assert of_seeds(tmp_path, f"{ROW} < {OTHER}", seeds, higher).answer == "holds"
    assert of_seeds(tmp_path, f"{ROW} > {OTHER}", seeds, (D, *lower)).answer == "inconclusive"
    assert of_seeds(tmp_path, f"{ROW} > {OTHER}", seeds, (D, *higher)).answer == "inconclusive"
    (fact,) = of_seeds(tmp_path, f"{ROW} > {OTHER}", seeds, lower).evidence
    assert f"({seeds.count(D)} of 5 seeds diverged)" in fact.text
    assert (fact.low, fact.high > 0) == (None, True)


def test_one_diverged_seed_next_to_seeds_that_are_not_scored_is_absent(tmp_path):
    for seeds in ((D, "unscored", "unscored"), (D, None, None), (D, D, None)):
        found = of_seeds(tmp_path, f"{ROW} > {OTHER}", seeds)
        assert found.answer == "absent"
        assert "seeds diverged" in found.evidence[0].text
    assert of_seeds(tmp_path, f"{ROW} > {OTHER}", (D, D, D)).answer == "fails"


def nll(seeds, source):
    """Return a term with a number for each of some seeds."""
    return Term(source, 2.0, source=source, by_seed={seed: 2.0 + seed / 10 for seed in seeds})


@pytest.mark.parametrize(
    ("terms", "why"),
    [
        ((nll((1,), "p/a"), nll((1,), "p/b")), ALONE),
        ((nll((1, 2), "p/a"), nll((1,), "p/b")), UNEVEN),
        ((nll((1, 2), "p/a"), nll((1, 2, 3), "p/a")), OTHER_SEEDS),
        ((nll((1,), "p/a"), nll((1, 2), "p/a")), OTHER_SEEDS),
        ((nll((), "p/a"), nll((1, 2), "p/b")), NO_SEEDS),
    ],
)
def test_what_has_no_interval_says_the_true_reason(files, terms, why):
    """Rows with several seeds were called rows of one seed."""
    interval = results_of(files).interval({terms[0]: 1.0, terms[1]: -1.0})
    assert (interval.half, interval.basis) == (None, NO_INTERVAL.format(why))

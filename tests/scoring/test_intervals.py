"""Intervals: sacreBLEU's bootstrap, one paired test whose p agrees with it, and Student's t."""

import math
import random
from statistics import fmean, stdev

import numpy as np
import pytest
import sacrebleu
from sacrebleu.significance import PairedTest
from scipy import stats

from fathom.scoring import bootstrap
from fathom.scoring.bootstrap import SEED, Paired, drawn_scores, draws, interval
from fathom.scoring.metrics import Metric, Statistics, bleu, chrf
from fathom.scoring.students_t import freedom, half_interval, holm, holm_shares, p_value
from tests.scoring.conftest import ENGLISH
from tests.support.paired import paired_bootstrap

# sacreBLEU computes the scores of its draws in float32.
TOLERANCE = 1e-5
SAMPLES = 300


def texts():
    dice = random.Random(3)
    references = [line for line in ENGLISH for _ in range(5)]
    hypotheses = [
        " ".join(word for word in line.split(" ") if dice.random() > 0.2) for line in references
    ]
    return hypotheses, references


def spread(statistics, samples):
    return interval(statistics, draws(len(statistics.counts), samples))


@pytest.mark.parametrize("metric", ["13a", "intl", "chrF"])
def test_the_interval_is_the_one_that_sacrebleu_prints(metric):
    hypotheses, references = texts()
    peer = sacrebleu.CHRF() if metric == "chrF" else sacrebleu.BLEU(tokenize=metric)
    expected = peer.corpus_score(hypotheses, [references], n_bootstrap=SAMPLES)
    found = spread(statistics(hypotheses, metric, references), SAMPLES)
    assert (found.high - found.low) / 2 == pytest.approx(expected._ci, abs=TOLERANCE)
    assert found.low < expected.score < found.high


def test_an_interval_can_be_drawn_again_and_ignores_the_environment(monkeypatch):
    counted = bleu.metric("13a").statistics(*texts())
    first = spread(counted, SAMPLES)
    monkeypatch.setenv("SACREBLEU_SEED", "1")
    assert spread(counted, SAMPLES) == first


class Mean(Metric):
    """The mean of the sentences' scores, as of a neural network."""

    name, unit, better, columns = "mean", "", "higher", ("millionths", "segments")

    def signature(self):
        return "mean"

    def count(self, hypotheses, references, sources, language):
        raise NotImplementedError

    def score(self, sums):
        return 100 * float(sums[0]) / 1e6 / float(sums[1])


def means(values):
    """Return the counts of a metric that is a mean."""
    return Statistics(Mean(), np.array([[10_000 * value, 1] for value in values]))


def test_the_standard_error_is_the_deviation_of_the_draws():
    statistics = means([0, 100, 30, 70, 20])
    drawn = draws(5, 6)
    scores = (drawn @ statistics.counts)[:, 0] / 50_000
    assert interval(statistics, drawn).stderr == pytest.approx(np.std(scores, ddof=1), rel=1e-12)


# Pairs

REFERENCES = [f"{line} {number}" for number in range(8) for line in ENGLISH]


def worse(share, seed):
    """Return the references with a share of their words left out."""
    dice = random.Random(seed)
    return [
        " ".join(word for word in line.split(" ") if dice.random() > share) for line in REFERENCES
    ]


FIRST, NEAR, FAR = worse(0.2, 1), worse(0.22, 2), worse(0.45, 3)


def statistics(hypotheses, metric="13a", references=REFERENCES):
    counts = chrf.METRIC if metric == "chrF" else bleu.metric(metric)
    return counts.statistics(hypotheses, references)


def paired(first, second, samples=400, **options):
    return paired_bootstrap([[statistics(first)]], [[statistics(second)]], samples, **options)


@pytest.mark.parametrize("metric", ["13a", "char", "chrF"])
@pytest.mark.parametrize("other", [NEAR, FAR, FIRST])
def test_sacrebleus_p_is_the_one_that_sacrebleu_prints(metric, other):
    peer = sacrebleu.CHRF() if metric == "chrF" else sacrebleu.BLEU(tokenize=metric)
    _, scores = PairedTest(
        [("base", other), ("system", FIRST)], {"m": peer}, [REFERENCES], "bs", SAMPLES
    )()
    (printed,) = (results[1] for name, results in scores.items() if name != "System")
    own = paired_bootstrap([[statistics(FIRST, metric)]], [[statistics(other, metric)]], SAMPLES)
    assert own.p_sacrebleu == printed.p_value
    assert 0 < own.p_sacrebleu < 0.5


def test_a_row_against_itself_has_no_width_and_p_1():
    one = [[statistics(FIRST)], [statistics(NEAR)]]
    itself = paired_bootstrap(one, one, SAMPLES)
    assert (itself.value, itself.half, itself.stderr, itself.p) == (0, 0, 0, 1)
    assert itself.wins == itself.losses == 0


def test_the_standard_error_is_of_a_sample_of_draws():
    assert Paired(0.0, np.array([1.0, 3.0])).stderr == pytest.approx(math.sqrt(2))


@pytest.mark.parametrize("samples", [20, 39, 40, 99, 100, 1000])
def test_the_interval_excludes_0_exactly_where_p_is_below_one_in_twenty(samples):
    drawn = np.random.default_rng(samples).normal(0.3, 1, samples)
    half = Paired(0.0, drawn).half
    scatter = sorted(abs(drawn - drawn.mean()))
    for value in (*scatter[-8:], half - 1e-9, half, half + 1e-9, -half - 1e-9, 0.0, 9.0):
        one = Paired(value, drawn)
        assert (abs(value) > one.half) == (one.p < 0.05)


def test_the_p_of_1000_draws_counts_those_at_least_as_far_from_their_mean():
    drawn = np.array([float(number) for number in range(-50, 50)])  # the mean is -0.5
    assert Paired(40.0, drawn).p == pytest.approx((20 + 1) / 101)
    assert Paired(-40.0, drawn).p == Paired(40.0, drawn).p
    assert Paired(40.0, drawn).half == 47.5


def test_systems_of_different_quality_differ_and_equal_ones_do_not():
    far, near = paired(FIRST, FAR), paired(FIRST, NEAR)
    assert far.p < 0.01 < 0.05 < near.p
    assert far.value == pytest.approx(statistics(FIRST).value - statistics(FAR).value)
    assert paired(FAR, FIRST).value == -far.value
    assert np.array_equal(paired(FIRST, NEAR).drawn, near.drawn)
    assert not np.array_equal(paired(FIRST, NEAR, seed=2).drawn, near.drawn)


def test_draws_in_blocks_are_those_that_are_made_at_once():
    counted = means(range(40))
    drawn = drawn_scores([[counted]], 2500)
    picks = draws(40, 2500)
    sums = (picks @ counted.counts).astype(int)
    assert np.array_equal(drawn, [counted.metric.score(row) for row in sums])
    assert np.array_equal(drawn_scores([[counted]])[:2500], drawn)
    assert len(drawn_scores([[counted]])) == bootstrap.SAMPLES == 10_000


def test_pairs_scatter_less_than_two_draws():
    """Both systems leave out the same words but for one sentence."""
    other = ["nothing", *FIRST[1:]]
    alone = paired(FIRST, FIRST, seed=1)
    assert alone.half < paired(FIRST, other).half < 0.5 * paired(FIRST, FAR).half


def test_each_test_set_of_a_mean_is_drawn_in_pairs_and_by_itself():
    sets = [[means(range(100))], [means(range(50, 150))]]
    zeros = [[means([0] * 100)]] * 2
    one, both = (paired_bootstrap(sets[:n], zeros[:n], 2000) for n in (1, 2))
    assert both.value == pytest.approx((49.5 + 99.5) / 2)
    # The mean of two independent test sets scatters less by the root of two.
    assert both.stderr == pytest.approx(one.stderr / 2**0.5, rel=0.08)


def test_trainings_of_a_system_share_their_draws():
    one, other = means(range(100)), means(range(100, 0, -1))
    zero = [[means([0] * 100)]]
    together = paired_bootstrap([[one, other]], zero, SAMPLES)
    assert together.value == pytest.approx(50.0)
    assert together.half == pytest.approx(0.0, abs=1e-9)


def compare_mt(first, second, references, picks):
    """Return how often the first wins, as compare-mt's eval_with_paired_bootstrap counts."""
    wins = 0
    for ids in picks:
        texts = [[lines[i] for i in ids] for lines in (first, second, references)]
        one, other = (
            sacrebleu.BLEU().corpus_score(hypotheses, [texts[2]]).score for hypotheses in texts[:2]
        )
        wins += one > other
    return wins / len(picks)


def test_wins_are_compare_mts_on_the_same_picks():
    rng = np.random.default_rng(SEED)
    picks = rng.choice(len(REFERENCES), size=(60, len(REFERENCES) // 2), replace=True)
    own = paired(FIRST, NEAR, 60, share=0.5)
    assert own.wins == compare_mt(FIRST, NEAR, REFERENCES, picks)
    assert 0 < own.wins < 1


# Student's t

FEW, MORE, SPREAD = [20.1, 20.9], [19.0, 19.4, 19.1, 19.6, 19.3], [15.0, 22.0, 18.0]


def error(numbers):
    """Return the standard error of a mean, and its seeds."""
    return stdev(numbers) / math.sqrt(len(numbers)), len(numbers)


@pytest.mark.parametrize("numbers", [FEW, MORE, SPREAD])
def test_one_mean_has_the_interval_of_a_t_test(numbers):
    expected = stats.ttest_1samp(numbers, 0).confidence_interval(0.95)
    assert half_interval([error(numbers)]) == pytest.approx((expected.high - expected.low) / 2)


@pytest.mark.parametrize("pair", [(FEW, MORE), (FEW, FEW[::-1]), (MORE, SPREAD)])
def test_a_difference_of_runs_has_the_interval_of_welchs_test(pair):
    test, parts = stats.ttest_ind(*pair, equal_var=False), [error(numbers) for numbers in pair]
    expected = test.confidence_interval(0.95)
    assert half_interval(parts) == pytest.approx((expected.high - expected.low) / 2)
    difference = fmean(pair[0]) - fmean(pair[1])
    assert p_value(difference, parts) == pytest.approx(test.pvalue, rel=0, abs=1e-12)
    assert freedom(parts) == pytest.approx(test.df, rel=1e-12)


@pytest.mark.parametrize("pair", [(FEW, MORE), (MORE, SPREAD), (FEW,)])
def test_p_over_seeds_is_below_one_in_twenty_exactly_where_the_interval_excludes_0(pair):
    parts = [error(numbers) for numbers in pair]
    half = half_interval(parts)
    for distance in (0.0, 0.5, 1 - 1e-9, 1 + 1e-9, 2, 50):
        for difference in (distance * half, -distance * half):
            assert (p_value(difference, parts) < 0.05) == (abs(difference) > half)


@pytest.mark.parametrize(
    ("seeds", "by_t", "by_normal"),
    [
        *(((2, 2), 0.03, 0.19), ((5, 5), 0.045, 0.09), ((2, 5), 0.07, 0.16)),
        *(((2,), 0.05, 0.30), ((3,), 0.05, 0.19), ((5,), 0.05, 0.12)),  # differences of pairs
    ],
)
def test_what_is_equal_seldom_differs(seeds, by_t, by_normal):
    """Shares of 3,000 draws from one distribution: by t, and by 1.96 standard errors.

    Welch's degrees of freedom are approximate: too few for equal numbers of seeds, and too many
    where one run has two seeds and the other one more.
    """
    dice, wrong, normal = random.Random(1), 0, 0
    for _ in range(3000):
        runs = [[dice.gauss(0, 1) for _ in range(count)] for count in seeds]
        errors = [error(numbers) for numbers in runs]
        gap = abs(math.fsum(sign * fmean(one) for sign, one in zip((1, -1), runs, strict=False)))
        wrong += gap > half_interval(errors)
        normal += gap > 1.96 * math.hypot(*(one for one, _ in errors))
    assert wrong / 3000 == pytest.approx(by_t, abs=0.01)
    assert normal / 3000 == pytest.approx(by_normal, abs=0.02)


def test_other_levels_are_those_of_scipy_and_of_the_draws():
    expected = stats.ttest_1samp(MORE, 0).confidence_interval(1 - 0.05 / 8)
    half = half_interval([error(MORE)], 0.05 / 8)
    assert half == pytest.approx((expected.high - expected.low) / 2)
    ten = Paired(0.0, np.array([float(number) for number in range(-5, 6)] * 100))
    assert [ten.half_at(share) for share in (0.5, 200 / 1100, 199 / 1100, 1e-9)] == [3, 5, 5, 5]


@pytest.mark.parametrize(
    ("p_values", "shares"),
    [
        # By hand: 5 % / 3 decides the first; 5 % / 2 the second; 5 % not the last.
        ([0.30, 0.010, 0.020], [0.05, 0.05 / 3, 0.05 / 2]),
        ([0.026, 0.010, 0.020], [0.05, 0.05 / 3, 0.05 / 2]),
        ([0.020, 0.020], [0.05 / 2] * 2),
        ([0.017, 0.04, 0.018], [0.05 / 3] * 3),  # none is decided, so there is no next step
        ([0.04], [0.05]),
        ([], []),
    ],
)
def test_holms_procedure_shares_five_percent_and_decides_as_corrected_p_do(p_values, shares):
    found = holm_shares([lambda share, p=p: p <= share for p in p_values])
    assert found == pytest.approx(shares)
    decided = [p <= share for p, share in zip(p_values, found, strict=True)]
    assert decided == [corrected <= 0.05 for corrected in holm(p_values)]


def test_numbers_that_are_equal_for_all_seeds_have_no_width():
    assert half_interval([(0.0, 2), (0.0, 5)]) == 0
    assert [p_value(value, [(0.0, 2), (0.0, 5)]) for value in (0.0, -0.1)] == [1, 0]
    assert half_interval([(0.0, 2), error(MORE)]) == pytest.approx(half_interval([error(MORE)]))

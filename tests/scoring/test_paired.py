"""One resampling gives an interval and a p that agree; sacreBLEU's p is sacreBLEU's."""

import math
import random

import numpy as np
import pytest
import sacrebleu
from sacrebleu.significance import PairedTest

from fathom.scoring import bleu, chrf
from fathom.scoring.bootstrap import SEED, Statistics
from fathom.scoring.paired import Paired, paired_bootstrap
from tests.evaluation.conftest import ENGLISH, OTHER

SAMPLES = 400
REFERENCES = [f"{line} {number}" for number in range(8) for line in ENGLISH]


def worse(share, seed):
    """Return the references with a share of their words left out."""
    dice = random.Random(seed)
    return [
        " ".join(word for word in line.split(" ") if dice.random() > share) for line in REFERENCES
    ]


FIRST, NEAR, FAR = worse(0.2, 1), worse(0.22, 2), worse(0.45, 3)


def statistics(hypotheses, metric="13a", references=REFERENCES):
    if metric == "chrF":
        return chrf.statistics(hypotheses, references)
    return bleu.statistics(hypotheses, references, metric)


def paired(first, second, samples=SAMPLES, **options):
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


def test_pairs_scatter_less_than_two_draws():
    """Both systems leave out the same words but for one sentence."""
    other = ["nothing", *FIRST[1:]]
    alone = paired(FIRST, FIRST, seed=1)
    assert alone.half < paired(FIRST, other).half < 0.5 * paired(FIRST, FAR).half


def test_equal_seeds_give_equal_draws():
    assert np.array_equal(paired(FIRST, NEAR).drawn, paired(FIRST, NEAR).drawn)
    assert not np.array_equal(paired(FIRST, NEAR).drawn, paired(FIRST, NEAR, seed=2).drawn)


def mean_of(values):
    """Return statistics whose score is a mean."""
    counts = np.array([[value, 1] for value in values])
    return Statistics("mean", ("value", "one"), counts, "", lambda sums: sums[0] / sums[1])


def test_the_interval_of_a_mean_is_the_textbooks():
    """400 differences of deviation 10: their mean has 0.5, and 95 % lie within 1.96 of it."""
    base = list(range(400))
    shifted = [value + (10 if value % 2 else -10) for value in base]
    one = paired_bootstrap([[mean_of(shifted)]], [[mean_of(base)]], 2000)
    assert one.stderr == pytest.approx(0.5, rel=0.06)
    assert one.half == pytest.approx(0.98, rel=0.08)


def test_each_test_set_of_a_mean_is_drawn_in_pairs_and_by_itself():
    sets = [[mean_of(range(100))], [mean_of(range(50, 150))]]
    zeros = [[mean_of([0] * 100)]] * 2
    one, both = (paired_bootstrap(sets[:n], zeros[:n], 2000) for n in (1, 2))
    assert both.value == pytest.approx((49.5 + 99.5) / 2)
    # The mean of two independent test sets scatters less by the root of two.
    assert both.stderr == pytest.approx(one.stderr / 2**0.5, rel=0.08)


def test_trainings_of_a_system_share_their_draws():
    one, other = mean_of(range(100)), mean_of(range(100, 0, -1))
    zero = [[mean_of([0] * 100)]]
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


def test_korean_and_bosnian_test_sets_have_a_common_mean():
    sets = [
        [bleu.statistics([line[:-3] for line in lines], lines, "13a")] for lines in OTHER.values()
    ]
    right = [[bleu.statistics(lines, lines, "13a")] for lines in OTHER.values()]
    one = paired_bootstrap(right, sets, 100)
    assert one.value == pytest.approx(100 - np.mean([part[0].value for part in sets]))

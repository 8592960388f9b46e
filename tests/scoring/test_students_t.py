"""Intervals over seeds, next to scipy's own tests and to simulated runs."""

import math
import random
from statistics import fmean, stdev

import pytest
from scipy import stats

from fathom.scoring.students_t import half_interval

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
    expected = stats.ttest_ind(*pair, equal_var=False).confidence_interval(0.95)
    half = half_interval([error(numbers) for numbers in pair])
    assert half == pytest.approx((expected.high - expected.low) / 2)


@pytest.mark.parametrize(
    ("seeds", "by_t", "by_normal"),
    [((2, 2), 0.03, 0.19), ((5, 5), 0.045, 0.09), ((2, 5), 0.07, 0.16), ((3,), 0.05, 0.19)],
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


def test_numbers_that_are_equal_for_all_seeds_have_no_width():
    assert half_interval([(0.0, 2), (0.0, 5)]) == 0
    assert half_interval([(0.0, 2), error(MORE)]) == pytest.approx(half_interval([error(MORE)]))

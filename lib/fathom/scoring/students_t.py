"""The 95 % interval and p of numbers that are known from a few seeds: Student's t.

A standard error of n seeds is itself uncertain. With 1.96 of them an interval of 2 seeds misses the
mean of all seeds in 30 % of cases, and one of 5 seeds in 12 %; quantiles of t allow for that.
"""

import math
from collections.abc import Iterable, Sequence

LEVEL = 0.95


def half_interval(parts: Iterable[tuple[float, int]]) -> float:
    """Return half of the 95 % interval of a sum of independent means over seeds.

    The degrees of freedom are those of Welch and Satterthwaite: n - 1 for one mean of n seeds.
    Where no number differs between seeds, it is 0.

    Args:
        parts: the standard error of each mean, in the unit of the answer, and its seeds: 2 or more.
    """
    from scipy.special import stdtrit

    variance, freedom = _welch(parts)
    return float(stdtrit(freedom, (1 + LEVEL) / 2)) * math.sqrt(variance) if variance else 0.0


def p_value(difference: float, parts: Iterable[tuple[float, int]]) -> float:
    """Return the two-sided p of a difference of independent means over seeds: Welch's t test.

    It is below 0.05 exactly where the interval of `half_interval` leaves out 0. Where no number
    differs between seeds, it is 1 for no difference, and else 0.
    """
    from scipy.special import stdtr

    variance, freedom = _welch(parts)
    if not variance:
        return float(not difference)
    return float(2 * stdtr(freedom, -abs(difference) / math.sqrt(variance)))


def _welch(parts: Iterable[tuple[float, int]]) -> tuple[float, float]:
    """Return the variance of a sum and its degrees of freedom; both are 0 without a variance."""
    squares = [(error**2, seeds - 1) for error, seeds in parts]
    variance = math.fsum(square for square, _ in squares)
    if not variance:
        return 0.0, 0.0
    return variance, variance**2 / math.fsum(square**2 / free for square, free in squares)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return each p, in the same order, corrected for all: Holm's step-down procedure."""
    corrected, largest = [0.0] * len(p_values), 0.0
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    for place, at in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - place) * p_values[at]))
        corrected[at] = largest
    return corrected

"""Intervals and p of numbers that are known from a few seeds: Student's t, and Holm's correction.

A standard error of n seeds is itself uncertain. With 1.96 of them an interval of 2 seeds misses the
mean of all seeds in 30 % of cases, and one of 5 seeds in 12 %; quantiles of t allow for that.
"""

import math
from collections.abc import Callable, Sequence

OUTSIDE = 0.05  # the chance that a 95 % interval misses what it is about

# The standard error of each mean of a sum, in the unit of the sum, and its seeds: 2 or more.
Parts = Sequence[tuple[float, int]]


def freedom(parts: Parts) -> float:
    """Return the degrees of freedom of a sum of independent means: Welch and Satterthwaite's.

    They are n - 1 for one mean of n seeds, also where no number differs between seeds.
    """
    squares = [(error**2, seeds - 1) for error, seeds in parts]
    variance = math.fsum(square for square, _ in squares)
    if not variance:
        return math.fsum(free for _, free in squares)
    return variance**2 / math.fsum(square**2 / free for square, free in squares)


def half_interval(parts: Parts, outside: float = OUTSIDE) -> float:
    """Return half of the 95 % interval, or of another, of a sum of independent means over seeds.

    Where no number differs between seeds, it is 0.
    """
    from scipy.special import stdtrit

    error = _error(parts)
    return float(stdtrit(freedom(parts), 1 - outside / 2)) * error


def p_value(total: float, parts: Parts) -> float:
    """Return the two-sided p of a sum of independent means over seeds, if the true sum is 0.

    It is below 0.05 where the interval around `total` excludes 0. Where no number differs between
    seeds, it is 1 for a sum of 0, and else 0.
    """
    from scipy.special import stdtr

    error = _error(parts)
    if not error:
        return float(not total)
    return 2 * float(stdtr(freedom(parts), -abs(total) / error))


def _error(parts: Parts) -> float:
    return math.sqrt(math.fsum(error**2 for error, _ in parts))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return each p, in the same order, corrected for all: Holm's step-down procedure."""
    corrected, largest = [0.0] * len(p_values), 0.0
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    for place, at in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - place) * p_values[at]))
        corrected[at] = largest
    return corrected


def holm_shares(decide: Sequence[Callable[[float], bool]]) -> list[float]:
    """Return the chance of an error at which Holm's procedure (1979) judges each comparison.

    Each of n comparisons is judged at 5 %/n; where m of them stay undecided, these are judged again
    at 5 %/m, until no further one is decided. So the chance that any is decided wrongly is at most
    5 %. `decide` says of each whether it is decided at a chance of an error.
    """
    shares, remaining = [0.0] * len(decide), [*range(len(decide))]
    while remaining:
        share = OUTSIDE / len(remaining)
        for at in remaining:
            shares[at] = share
        left = [at for at in remaining if not decide[at](share)]
        if len(left) == len(remaining):
            break
        remaining = left
    return shares

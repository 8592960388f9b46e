"""The mean score of a window of checkpoints, which a development set chooses.

A run is then judged by a stretch of its training and not by one lucky checkpoint. The spread inside
the window is that of neighbouring checkpoints of one training: no standard error over seeds.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean, stdev

from fathom.errors import FathomError


@dataclass(frozen=True)
class Window:
    """What is reported of a window.

    Attributes:
        updates: the checkpoints in it, by their updates.
        wanted: how many there should be; fewer were kept where this is more.
        mean: of the test scores.
        window_sd: their standard deviation (n − 1); None of a single one.
    """

    updates: tuple[int, ...]
    wanted: int
    mean: float
    window_sd: float | None


def chosen(development: Mapping[int, float], size: int) -> tuple[int, ...]:
    """Return the consecutive checkpoints with the highest mean score.

    Of equal means the latest is taken; where there are fewer checkpoints than `size`, all are.

    Args:
        development: the score of every candidate on the development set, by update.
        size: checkpoints of a window.

    Raises:
        FathomError: there are no scores, one is not finite, or the size is below 1.
    """
    _check(development, "development scores")
    if size < 1:
        raise FathomError(f"a window of {size} checkpoints", "window", "give 1 or more")
    updates = sorted(development)
    size = min(size, len(updates))
    # As written, not as stored: 25.1 + 25.3 and 25.2 + 25.2 are a tie.
    scores = [Fraction(str(development[update])) for update in updates]
    total = best = sum(scores[:size])
    start = 0
    for first in range(1, len(updates) - size + 1):
        total += scores[first + size - 1] - scores[first - 1]
        if total >= best:
            best, start = total, first
    return tuple(updates[start : start + size])


def judged(test: Mapping[int, float], updates: tuple[int, ...], size: int) -> Window:
    """Return the mean of the test scores in a window, and their spread.

    Args:
        test: test scores by update, at least those of the window.
        updates: the window.
        size: checkpoints that the window should have.

    Raises:
        FathomError: a test score is missing or not finite.
    """
    missing = [update for update in updates if update not in test]
    if missing:
        named = ", ".join(map(str, missing))
        raise FathomError(f"no test score of update {named}", "window", "translate and score it")
    scores = {update: test[update] for update in updates}
    _check(scores, "test scores")
    spread = stdev(scores.values()) if len(scores) > 1 else None
    return Window(updates, size, fmean(scores.values()), spread)


def _check(scores: Mapping[int, float], where: str) -> None:
    """Refuse what no mean can be taken of."""
    if not scores:
        raise FathomError("there are none", where, "score the checkpoints first")
    for update, score in scores.items():
        if not math.isfinite(score):
            raise FathomError(f"{score} at update {update}", where, "score that checkpoint again")

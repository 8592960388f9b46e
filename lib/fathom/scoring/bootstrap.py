"""Sufficient statistics of each sentence, the score of all from their sum, and its interval.

A corpus score is a function of sums over sentences. With the statistics kept by sentence, the test
set is drawn again without a second look at any text.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

SEED = 12345  # sacreBLEU's own, so that the interval is the one that sacreBLEU prints.
TAIL = 40  # One part in forty is left out at either end: 95 % stay.


@dataclass(frozen=True)
class Statistics:
    """What one metric keeps of each sentence."""

    metric: str  # its label
    columns: tuple[str, ...]  # what each column counts
    counts: np.ndarray  # (sentences, columns) whole numbers
    signature: str  # sacreBLEU's: how the metric was computed
    score_of: Callable[[np.ndarray], float]  # of a sum over sentences, (columns,)

    @property
    def value(self) -> float:
        """The score of all sentences."""
        return self.score_of(self.counts.sum(axis=0))


@dataclass(frozen=True)
class Interval:
    """The spread of a score when the test set is drawn again; `low` to `high` holds 95 %."""

    low: float
    high: float
    stderr: float


def draws(
    sentences: int, samples: int, seed: int | np.random.SeedSequence = SEED, share: float = 1.0
) -> np.ndarray:
    """Draw test sets with replacement.

    Args:
        sentences: S, at least one.
        samples: number of draws.
        seed: equal seeds give equal draws.
        share: the size of a draw as a share of S, rounded down; a draw has at least one sentence.

    Returns:
        How often each sentence is in each draw, (samples, S) in float64, which counts exactly.
    """
    size = (samples, max(1, int(sentences * share)))
    drawn = np.random.default_rng(seed).choice(sentences, size=size, replace=True)
    return np.stack([np.bincount(row, minlength=sentences) for row in drawn]).astype(np.float64)


def scores(statistics: Statistics, drawn: np.ndarray) -> np.ndarray:
    """Return the score of each draw, (samples,)."""
    sums = (drawn @ statistics.counts.astype(np.float64)).astype(np.int64)
    return np.array([statistics.score_of(row) for row in sums])


def interval(statistics: Statistics, drawn: np.ndarray) -> Interval:
    """Return the spread of the scores of draws, (samples, S) from `draws`."""
    samples = len(drawn)
    ordered = sorted(scores(statistics, drawn).tolist())
    mean = math.fsum(ordered) / samples
    variance = math.fsum((score - mean) ** 2 for score in ordered) / (samples - 1)
    cut = samples // TAIL
    return Interval(ordered[cut], ordered[samples - cut - 1], math.sqrt(variance))

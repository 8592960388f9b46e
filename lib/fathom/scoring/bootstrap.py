"""Test sets drawn again with replacement: intervals of a score, and of a difference of two systems.

Two systems are scored on the same draws (Koehn 2004). A hard draw is hard for both, so the
differences scatter less than those of two systems that are drawn independently.

The interval and p of a difference come from the same draws. Both are centred: what counts is how
far a draw is from the mean of all draws, which is what chance alone does to the difference (Hall
and Wilson 1991). So the interval excludes 0 exactly where p < 0.05. An interval between percentiles
would not agree: where BLEU is low its draws are skewed, and their mean is not the difference of all
sentences.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fathom.scoring.metrics import Statistics

SEED = 12345  # sacreBLEU's: intervals are those that sacreBLEU prints
SAMPLES = 10_000  # draws of a sum or difference of scores
_BLOCK = 1000  # draws in memory at once: of 3,000 sentences 70 MB
_KEPT = 8  # test sets whose draws are kept for the next system: of 3,000 sentences 60 MB each
OUTSIDE = 20  # one draw in twenty is outside an interval: 95 % are inside

# What a system is scored on: for each test set the statistics of each of its trainings.
TestSets = Sequence[Sequence[Statistics]]


@dataclass(frozen=True)
class BootstrapInterval:
    """The spread of a score when the test set is drawn again; `low` to `high` holds 95 %."""

    low: float
    high: float
    stderr: float


def draws(
    sentences: int,
    samples: int,
    seed: int | np.random.SeedSequence | np.random.Generator = SEED,
    share: float = 1.0,
) -> np.ndarray:
    """Draw test sets of S sentences with replacement; equal seeds give equal draws.

    Return how often each sentence is in each draw, (samples, S) in float64, which counts exactly.
    `share` is the size of a draw as a share of S, rounded down; it has at least one sentence.
    """
    size = (samples, max(1, int(sentences * share)))
    drawn = np.random.default_rng(seed).choice(sentences, size=size, replace=True)
    drawn += sentences * np.arange(samples)[:, np.newaxis]
    counts = np.bincount(drawn.ravel(), minlength=samples * sentences)
    return counts.reshape(samples, sentences).astype(np.float64)


def _sums(statistics: Statistics, drawn: np.ndarray) -> np.ndarray:
    return (drawn @ statistics.counts.astype(np.float64)).astype(np.int64)


def interval(statistics: Statistics, drawn: np.ndarray) -> BootstrapInterval:
    """Return the spread of the scores of draws, (samples, S) from `draws`."""
    samples = len(drawn)
    ordered = sorted(map(statistics.metric.score, _sums(statistics, drawn)))
    mean = math.fsum(ordered) / samples
    variance = math.fsum((score - mean) ** 2 for score in ordered) / (samples - 1)
    cut = samples // (2 * OUTSIDE)
    return BootstrapInterval(ordered[cut], ordered[samples - cut - 1], math.sqrt(variance))


# Pairs


@dataclass(frozen=True)
class Paired:
    """What drawing test sets again says of a difference, in points of the metric."""

    value: float  # of all sentences, first system less second
    drawn: np.ndarray  # the difference in each draw, (samples,)

    @property
    def half(self) -> float:
        """Half of the centred 95 % interval: the 95th percentile of |draw - mean of draws|."""
        return self.half_at(1 / OUTSIDE)

    def half_at(self, outside: float) -> float:
        """Return half of the centred interval that a share of the draws is outside of."""
        # What rounding takes from 500 of 10,000 draws is not a draw.
        count = int(len(self.drawn) * outside + 1e-9)
        return float(np.sort(self._scatter)[-max(1, count)])

    @property
    def stderr(self) -> float:
        """The standard deviation of the draws."""
        return float(self.drawn.std(ddof=1))

    @property
    def p(self) -> float:
        """The share of draws that are at least as far from their mean as `value` is from 0."""
        return self._share(self._scatter >= abs(self.value))

    @property
    def p_sacrebleu(self) -> float:
        """The p of `sacrebleu --paired-bs`: lower than `p` where two systems are close."""
        # It subtracts the mean of |draw| from |draw|: of a system against itself p is the lowest.
        size = np.abs(self.drawn)
        return self._share(size - size.mean() > abs(self.value))

    @property
    def wins(self) -> float:
        """The share of draws in which the first system is better, as compare-mt counts it."""
        return float((self.drawn > 0).mean())

    @property
    def losses(self) -> float:
        """The share of draws in which the second system is better."""
        return float((self.drawn < 0).mean())

    @property
    def _scatter(self) -> np.ndarray:
        return np.abs(self.drawn - self.drawn.mean())

    def _share(self, counted: np.ndarray) -> float:
        """Return a share of draws to which the observed test set is added, so none is 0."""
        return (int(counted.sum()) + 1) / (len(counted) + 1)


def streams_of(sets: int, group: int = 0) -> list[np.random.SeedSequence]:
    """Return what draws some test sets; those of another group are drawn independently.

    One test set alone is drawn as sacreBLEU draws it.
    """
    root = np.random.SeedSequence(SEED, spawn_key=(group, group) if group else ())
    return [root] if sets == 1 else root.spawn(sets)


def drawn_scores(
    system: TestSets,
    samples: int | None = None,
    streams: Sequence[np.random.SeedSequence] | None = None,
    share: float = 1.0,
) -> np.ndarray:
    """Return a system's score in each draw, (samples,); None draws SAMPLES times.

    Systems on the same test sets are scored on the same draws, so that the draws of a sum of scores
    are the sum of their draws. `streams` draw the test sets; without, those of `streams_of`.
    """
    count, drawn = samples or SAMPLES, []
    for trainings, stream in zip(system, streams or streams_of(len(system)), strict=True):
        seed = stream.entropy, stream.spawn_key
        blocks = _blocks(len(trainings[0].counts), count, share, *seed)
        of_blocks = [_mean(trainings, picks.astype(np.float64)) for picks in blocks]
        drawn.append(np.concatenate(of_blocks))
    return np.mean(drawn, axis=0)


@lru_cache(maxsize=_KEPT)
def _blocks(
    sentences: int, samples: int, share: float, entropy: int, spawn_key: tuple[int, ...]
) -> list[np.ndarray]:
    """Return the draws of a test set in blocks, as small integers."""
    dice = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=spawn_key))
    sizes = (min(_BLOCK, samples - start) for start in range(0, samples, _BLOCK))
    return [draws(sentences, size, dice, share).astype(np.uint16) for size in sizes]


def _mean(trainings: Sequence[Statistics], picks: np.ndarray) -> np.ndarray:
    return np.mean([each.metric.scores(_sums(each, picks)) for each in trainings], axis=0)

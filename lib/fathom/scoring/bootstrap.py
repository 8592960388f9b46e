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
from statistics import fmean

import numpy as np

from fathom.scoring.metrics import Statistics

SEED, SAMPLES = 12345, 1000  # sacreBLEU's: intervals are those that sacreBLEU prints
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
    sentences: int, samples: int, seed: int | np.random.SeedSequence = SEED, share: float = 1.0
) -> np.ndarray:
    """Draw test sets of S sentences with replacement; equal seeds give equal draws.

    Return how often each sentence is in each draw, (samples, S) in float64, which counts exactly.
    `share` is the size of a draw as a share of S, rounded down; it has at least one sentence.
    """
    size = (samples, max(1, int(sentences * share)))
    drawn = np.random.default_rng(seed).choice(sentences, size=size, replace=True)
    return np.stack([np.bincount(row, minlength=sentences) for row in drawn]).astype(np.float64)


def scores(statistics: Statistics, drawn: np.ndarray) -> np.ndarray:
    """Return the score of each draw, (samples,)."""
    sums = (drawn @ statistics.counts.astype(np.float64)).astype(np.int64)
    return np.array([statistics.metric.score(row) for row in sums])


def interval(statistics: Statistics, drawn: np.ndarray) -> BootstrapInterval:
    """Return the spread of the scores of draws, (samples, S) from `draws`."""
    samples = len(drawn)
    ordered = sorted(scores(statistics, drawn).tolist())
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
        return float(np.sort(self._scatter)[-(len(self.drawn) // OUTSIDE)])

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
        """The p of `sacrebleu --paired-bs`, which subtracts the mean of |draw| from |draw|.

        It is close to `p` near 0.05, and lower where two systems are close: of a system against
        itself it is the lowest possible.
        """
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


def paired_bootstrap(
    first: TestSets,
    second: TestSets,
    samples: int = SAMPLES,
    seed: int = SEED,
    share: float = 1.0,
) -> Paired:
    """Draw the test sets of two systems again, in pairs, at least OUTSIDE times.

    A score is the mean over a system's trainings, and then over the test sets. All trainings are
    scored on the same draws; each test set is drawn by itself, and one alone as sacreBLEU draws it.
    With a `share` of the sentences below 1 only `wins` and `losses` have a meaning: smaller draws
    scatter more.
    """
    values, drawn = [], []
    streams = _streams(np.random.SeedSequence(seed), len(first))
    for trainings, others, stream in zip(first, second, streams, strict=True):
        picks = draws(len(trainings[0].counts), samples, stream, share)
        values.append(fmean(t.value for t in trainings) - fmean(t.value for t in others))
        drawn.append(_mean(trainings, picks) - _mean(others, picks))
    return Paired(fmean(values), np.mean(drawn, axis=0))


def streams_of(sets: int, group: int = 0) -> list[np.random.SeedSequence]:
    """Return what draws some test sets; those of another group are drawn independently.

    The draws of group 0 are those of `paired_bootstrap`.
    """
    return _streams(np.random.SeedSequence(SEED, spawn_key=(group, group) if group else ()), sets)


def drawn_scores(
    system: TestSets,
    samples: int = SAMPLES,
    streams: Sequence[np.random.SeedSequence] | None = None,
) -> np.ndarray:
    """Return a system's score in each draw, (samples,).

    Systems on the same test sets are scored on the same draws, so that the draws of a sum of scores
    are the sum of their draws. `streams` draw the test sets; without, those of `streams_of`.
    """
    sets = zip(system, streams or streams_of(len(system)), strict=True)
    return np.mean(
        [
            _mean(trainings, draws(len(trainings[0].counts), samples, stream))
            for trainings, stream in sets
        ],
        axis=0,
    )


def _streams(root: np.random.SeedSequence, sets: int) -> list[np.random.SeedSequence]:
    """Return the seed of each test set; one alone keeps the seed itself: sacreBLEU's draws."""
    return [root] if sets == 1 else root.spawn(sets)


def _mean(trainings: Sequence[Statistics], picks: np.ndarray) -> np.ndarray:
    return np.mean([scores(statistics, picks) for statistics in trainings], axis=0)

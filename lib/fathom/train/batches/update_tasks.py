"""Which tasks an update holds, and how many tokens of each: all tasks, or one that is drawn.

What a task gives to an update follows from how many updates before it held that task. So an update
is a pure function of the seed and its number, in both cases.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from fathom.config.schema.run import BatchSettings, Temperature

# The second word of the seed; others are in sampler.py, update_batches.py and held_out.py.
_TASKS = 4

Shares = Literal["equal", "proportional"] | Temperature


class AllTasks:
    """Every update holds all tasks.

    Attributes:
        tokens: (N,) a task's target tokens in an update that holds it.
        single: whether an update holds one task only.
    """

    single = False

    def __init__(self, tokens: Sequence[float]):
        self.tokens = list(tokens)
        self._every_task = tuple(range(len(self.tokens)))

    def at(self, update: int) -> tuple[tuple[int, ...], int]:
        """Return the tasks of an update, and how many updates before it held them."""
        return self._every_task, update - 1

    def times(self, task: int, updates: int) -> int:
        """Return how many of the first `updates` updates hold a task."""
        return updates

    def update_of(self, task: int, time: int) -> int:
        """Return the update that is a task's `time`-th; both count from 1."""
        return time


class OneTask(AllTasks):
    """Every update holds one task, drawn with the probability of its share.

    This is line 2 of lamgd's Alg. 1, whose gradients are those of methods/group_dropout. Shares are
    (N,), up to a common factor.
    """

    single = True

    def __init__(self, tokens: int, shares: Sequence[float], seed: int):
        super().__init__([tokens] * len(shares))
        bounds = np.cumsum(shares)
        self._bounds, self._seed = bounds / bounds[-1], seed
        self._drawn = np.zeros(0, dtype=np.int64)

    def at(self, update: int) -> tuple[tuple[int, ...], int]:
        """Return the task of an update, and how many updates before it held that task."""
        drawn = self._first(update)
        task = int(drawn[-1])
        return (task,), int(np.count_nonzero(drawn[:-1] == task))

    def times(self, task: int, updates: int) -> int:
        """Return how many of the first `updates` updates hold a task."""
        return int(np.count_nonzero(self._first(updates) == task))

    def update_of(self, task: int, time: int) -> int:
        """Return the update that is a task's `time`-th; both count from 1."""
        drawn = self._first(time)
        while np.count_nonzero(drawn == task) < time:
            drawn = self._first(2 * len(drawn))
        return int(np.flatnonzero(drawn == task)[time - 1]) + 1

    def _first(self, updates: int) -> np.ndarray:
        """Return the tasks of the first `updates` updates, (updates,)."""
        if updates > len(self._drawn):
            # A longer draw starts with the shorter one. Twice as many, so that few draws are made.
            stream = np.random.PCG64(np.random.SeedSequence((self._seed, _TASKS)))
            uniform = (stream.random_raw(2 * updates) >> 11) * 2.0**-53
            self._drawn = np.searchsorted(self._bounds, uniform, side="right")
        return self._drawn[:updates]


def tasks_of_updates(
    lines: Sequence[int], batch: BatchSettings, shares: Shares, seed: int, one_task: bool
) -> AllTasks:
    """Return which of N tasks each update of a run holds."""
    tokens = task_tokens(lines, batch, shares)
    return OneTask(batch.tokens, tokens, seed) if one_task else AllTasks(tokens)


def task_tokens(lines: Sequence[int], batch: BatchSettings, shares: Shares) -> list[float]:
    """Return the target tokens of each of N tasks in an update of all, by their training pairs."""
    total = batch.tokens * (len(lines) if batch.per == "task" else 1)
    if isinstance(shares, Temperature):
        return (total * temperature_shares(lines, shares.temperature)).tolist()
    weights = lines if shares == "proportional" else [1] * len(lines)
    return [total * weight / sum(weights) for weight in weights]


def temperature_shares(lines: Sequence[int], temperature: float) -> np.ndarray:
    """Return how often each of N tasks is drawn, (N,), in all 1: q_n ∝ (lines_n / Σ lines)^α.

    XLM-R's sampling (Lample and Conneau, 2019, §3.1): α = 1 draws tasks by their size, 0 equally.
    """
    counts = np.asarray(lines, dtype=np.float64)
    weights = (counts / counts.sum()) ** temperature
    return weights / weights.sum()

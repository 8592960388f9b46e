"""Which sentences an update holds: a pure function of the seed and the update's number.

Every task has an endless stream of sentences (stream.py). A block of P updates (`batch.pool`) takes
from each task's stream the next P × share target tokens. Where that stretch starts follows from the
number of the block, so no update has to be replayed to find another. Within a block each task's
sentences are sorted by length and cut into P chunks of equal target tokens. One chunk of each task,
all of the same rank, make an update, and the ranks are shuffled. So the sentences of an update have
similar lengths, every token is used once a pass, and each task has its share of tokens. With P = 1
sentences are used in the order of the stream.

A task's tokens in an update differ from its share by at most (1 + 1 / P) times its longest sentence
and half a token, because chunks and blocks end between sentences.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from fathom.batches.stream import Stream, permutation
from fathom.errors import FathomError
from fathom.runs.settings import Batch, Temperature, Training

# The second word of every seed: orders of sentences and orders of ranks are independent.
_SENTENCES, _RANKS = 0, 1

# (task, sentence), or (task, block) of text without pairs.
Member = tuple[int, int]
Shares = Literal["equal", "proportional"] | Temperature


class Sampler:
    """The order of data of one run."""

    def __init__(
        self,
        target_lengths: Sequence[np.ndarray],
        source_lengths: Sequence[np.ndarray],
        batch: Batch,
        shares: Shares,
        seed: int,
    ):
        """Measure the tasks and compute each one's share.

        Args:
            target_lengths: for each of N tasks (sentences,) target tokens, end symbol included.
            source_lengths: the same for the source.
            batch: the size of an update, and the pool.
            shares: each task's share of an update.
            seed: the run's seed, at least 0.

        Raises:
            FathomError: a task has no sentences.
        """
        self._target = [np.asarray(lengths, dtype=np.int64) for lengths in target_lengths]
        self._source = [np.asarray(lengths, dtype=np.int64) for lengths in source_lengths]
        for task, lengths in enumerate(self._target):
            if not len(lengths):
                raise FathomError(
                    f"task {task} has no training pairs",
                    "tensors",
                    "check the counts in corpus.json",
                )
        self.seed = seed
        self._target_tokens = sum(int(lengths.sum()) for lengths in self._target)
        self._source_tokens = sum(int(lengths.sum()) for lengths in self._source)
        self.pool = batch.pool
        lines = [len(lengths) for lengths in self._target]
        self.shares = task_tokens(lines, batch, shares)
        self._quotas = [_quota(share, self.pool) for share in self.shares]
        self._streams = [
            Stream(lengths, seed, _SENTENCES, task) for task, lengths in enumerate(self._target)
        ]
        self._largest = max(range(len(lines)), key=lines.__getitem__)
        self._latest: tuple[int, list[list[Member]]] = (-1, [])

    def update(self, n: int, parts: int = 1) -> list[list[Member]]:
        """Return the sentences of update n as (task, sentence), in `parts` micro-batches.

        The parts hold the same sentences for any number of parts. The sentences of a part have
        similar lengths, and all parts about equally many target tokens. If there are fewer
        sentences than parts, the last parts are empty.

        Args:
            n: the update of Θ, counted from 1.
            parts: number of micro-batches, over all devices.

        Raises:
            IndexError: n or parts is below 1.
            FathomError: the update has too few tokens for any sentence.
        """
        if n < 1 or parts < 1:
            raise IndexError(f"updates and parts count from 1, not {n} and {parts}")
        block, place = divmod(n - 1, self.pool)
        members = self._block(block)[place]
        if not members:
            raise FathomError(
                f"update {n} has no sentence",
                "training.batch.tokens",
                f"raise it; the longest sentence has {max(map(np.max, self._target))} tokens",
            )
        return [list(members)] if parts == 1 else self._split(members, parts)

    def passes(self, n: int) -> float:
        """Return the epochs of n updates: passes over the task with the most lines."""
        drawn = n * self._quotas[self._largest] / self.pool
        return drawn / self._streams[self._largest].tokens

    def _block(self, block: int) -> list[list[Member]]:
        """Return the updates of a block; the latest block is cached."""
        if self._latest[0] != block:
            ranks: list[list[Member]] = [[] for _ in range(self.pool)]
            for task, (stream, quota) in enumerate(zip(self._streams, self._quotas, strict=True)):
                drawn = stream.between(block * quota, (block + 1) * quota)
                source, target = self._source[task][drawn], self._target[task][drawn]
                order = np.argsort(self._length(source, target), kind="stable")
                chunks = equal_mass(target[order], self.pool)
                for rank, sentence in zip(chunks.tolist(), drawn[order].tolist(), strict=True):
                    ranks[rank].append((task, sentence))
            order = permutation(self.pool, self.seed, _RANKS, block)
            self._latest = (block, [ranks[rank] for rank in order.tolist()])
        return self._latest[1]

    def _length(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Return the length by which pairs are sorted, that of the longer side, (n,).

        Each side is measured in its mean length over all tasks. The numbers are integers, so that
        equal lengths compare as equal.
        """
        return np.maximum(source * self._target_tokens, target * self._source_tokens)

    def _split(self, members: list[Member], parts: int) -> list[list[Member]]:
        """Cut an update, sorted by length, into micro-batches of about equal target tokens."""
        source = np.array([self._source[task][sentence] for task, sentence in members])
        target = np.array([self._target[task][sentence] for task, sentence in members])
        order = np.argsort(self._length(source, target), kind="stable")
        filled = min(parts, len(members))
        group = equal_mass(target[order], filled)
        cuts = [0, *np.searchsorted(group, np.arange(1, filled)).tolist(), len(members)]
        for part in range(1, filled):
            cuts[part] = max(cuts[part], cuts[part - 1] + 1)
        for part in range(filled - 1, 0, -1):
            cuts[part] = min(cuts[part], cuts[part + 1] - 1)
        places = [order[cuts[part] : cuts[part + 1]] for part in range(filled)]
        split = [[members[place] for place in part.tolist()] for part in places]
        return split + [[] for _ in range(parts - filled)]


def task_tokens(lines: Sequence[int], batch: Batch, shares: Shares) -> list[float]:
    """Return the target tokens of each of N tasks in an update.

    Args:
        lines: training pairs of each task.
        batch: `tokens` are for each task or for the update.
        shares: equal, proportional to lines, or by a temperature.
    """
    total = batch.tokens * (len(lines) if batch.per == "task" else 1)
    if isinstance(shares, Temperature):
        return (total * temperature_shares(lines, shares.temperature)).tolist()
    weights = lines if shares == "proportional" else [1] * len(lines)
    return [total * weight / sum(weights) for weight in weights]


def temperature_shares(lines: Sequence[int], temperature: float) -> np.ndarray:
    """Return how often each of N tasks is drawn, (N,), in all 1: q_n ∝ (lines_n / Σ lines)^α.

    XLM-R's sampling (Lample and Conneau, 2019, §3.1): 1 draws tasks by their size, 0 equally.

    Args:
        lines: sentences of each task.
        temperature: the exponent α.
    """
    counts = np.asarray(lines, dtype=np.float64)
    weights = (counts / counts.sum()) ** temperature
    return weights / weights.sum()


def updates_of(training: Training, lines: Sequence[int], tokens: Sequence[int]) -> int:
    """Return the updates of a run, whose setting may be a number of epochs.

    An epoch is one pass over the task with the most lines, as `Sampler.passes` counts.

    Args:
        training: `updates` is a number, or "75 epochs".
        lines: training pairs of each task.
        tokens: target tokens of each task's training pairs.
    """
    largest = max(range(len(lines)), key=lines.__getitem__)
    share = task_tokens(lines, training.batch, training.shares)[largest]
    pool = training.batch.pool
    return updates_until(training.updates, tokens[largest], _quota(share, pool), pool)


def updates_until(updates: int | str, tokens: int, quota: int, pool: int) -> int:
    """Return a number of updates as it is, and "75 epochs" in updates, rounded up.

    Args:
        updates: the setting.
        tokens: of the task whose passes are counted.
        quota: how many of them a block of `pool` updates has.
        pool: updates of a block.
    """
    if isinstance(updates, int):
        return updates
    # In integers, so that an exact number of updates is not rounded up.
    return -(-int(updates.removesuffix(" epochs")) * tokens * pool // quota)


def _quota(share: float, pool: int) -> int:
    """Return a task's tokens in a block; a whole number, so that places in a stream are exact."""
    return max(1, round(pool * share))


def equal_mass(tokens: np.ndarray, parts: int) -> np.ndarray:
    """Return the part of each sentence, (n,), if a list is cut into parts of equal tokens.

    A sentence belongs to the part in which its middle is, so a part's tokens differ from the mean
    by at most the longest sentence.

    Args:
        tokens: (n,) tokens of each sentence, in the order of the list.
        parts: number of parts, at least 1.
    """
    middles = 2 * np.cumsum(tokens) - tokens
    return middles * parts // (2 * int(tokens.sum()) or 1)

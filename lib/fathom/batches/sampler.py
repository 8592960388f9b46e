"""Which sentences an update holds: a pure function of the seed and the update's number.

Every task has an endless stream of sentences (stream.py). A block of P updates takes from each
task's stream the next P × share target tokens; where that stretch begins follows from the number of
the block, so that no update need be replayed to find another. Within a block each task's sentences
are sorted by length and cut into P chunks of equal target tokens; the chunks of equal rank, one a
task, are an update, and the ranks are shuffled. So an update's sentences are of like length, every
token counts once a pass, and no task is drawn with more or fewer tokens than its share. Without a
pool, P is 1.

A task's tokens in an update differ from its share by at most its longest sentence (1 + 1 / P)
times, and half a token: chunks and blocks end between sentences.
"""

from collections.abc import Sequence

import numpy as np

from fathom.batches.stream import Stream, permutation
from fathom.errors import FathomError, nearest
from fathom.runs.spec import Batches

# The second word of every seed: orders of sentences and orders of ranks are strangers.
_SENTENCES, _RANKS = 0, 1

Member = tuple[int, int]


class Sampler:
    """The order of data of one run."""

    def __init__(
        self,
        target_lengths: Sequence[np.ndarray],
        source_lengths: Sequence[np.ndarray],
        batches: Batches,
        seed: int,
    ):
        """Measure the tasks and set each one's share.

        Args:
            target_lengths: for each of N tasks (sentences,) target tokens, end symbol included.
            source_lengths: the same for the source.
            batches: how an update is drawn.
            seed: the run's seed, at least 0.

        Raises:
            FathomError: a task has no sentences, or a setting has an unknown value.
        """
        self._target = [np.asarray(each, dtype=np.int64) for each in target_lengths]
        self._source = [np.asarray(each, dtype=np.int64) for each in source_lengths]
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
        self.pool = _pool(batches)
        lines = [len(lengths) for lengths in self._target]
        self.shares = shares(lines, batches)
        # Whole tokens, so that places in a stream are exact however long a run is.
        self._quotas = [max(1, round(self.pool * share)) for share in self.shares]
        self._streams = [
            Stream(lengths, seed, _SENTENCES, task) for task, lengths in enumerate(self._target)
        ]
        self._largest = max(range(len(lines)), key=lines.__getitem__)
        self._latest: tuple[int, list[list[Member]]] = (-1, [])

    def update(self, n: int, parts: int = 1) -> list[list[Member]]:
        """Return the sentences of update n as (task, sentence), in `parts` micro-batches.

        Whatever their number, the parts hold the same sentences: sentences of like length, about
        the same target tokens each. Where there are fewer sentences than parts, the last are empty.

        Args:
            n: the update of Θ, counted from 1.
            parts: micro-batches, over all devices.

        Raises:
            IndexError: n or parts is below 1.
            FathomError: the update's tokens are so few that no sentence falls into it.
        """
        if n < 1 or parts < 1:
            raise IndexError(f"updates and parts count from 1, not {n} and {parts}")
        block, place = divmod(n - 1, self.pool)
        members = self._block(block)[place]
        if not members:
            raise FathomError(
                f"update {n} holds no sentence",
                "training.batches.tokens",
                f"write more; the longest sentence has {max(map(np.max, self._target))} tokens",
            )
        return [list(members)] if parts == 1 else self._split(members, parts)

    def passes(self, n: int) -> float:
        """Return the epoch after n updates: passes over the task with the most lines."""
        drawn = n * self._quotas[self._largest] / self.pool
        return drawn / self._streams[self._largest].tokens

    def _block(self, block: int) -> list[list[Member]]:
        """Return the updates of a block; the latest block is kept."""
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
        """Return the length by which pairs are sorted: the longer side, (n,).

        The sides are measured in their own mean lengths (over all tasks, so that tasks agree), and
        in whole numbers, so that equal lengths are equal.
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
        inside = [order[cuts[part] : cuts[part + 1]] for part in range(filled)]
        split = [[members[i] for i in each.tolist()] for each in inside]
        return split + [[] for _ in range(parts - filled)]


def shares(lines: Sequence[int], batches: Batches) -> list[float]:
    """Return the target tokens that each of N tasks has in an update.

    Args:
        lines: training pairs of each task.
        batches: its `tokens` are for each task or in all, its `shares` equal or by lines.

    Raises:
        FathomError: a setting has an unknown value.
    """
    counts = {"task": len(lines), "update": 1}
    weights = {"equal": [1] * len(lines), "proportional": lines}
    if batches.tokens_are not in counts:
        raise _unknown("tokens_are", batches.tokens_are, counts)
    if batches.shares not in weights:
        raise _unknown("shares", batches.shares, weights)
    total, weight = batches.tokens * counts[batches.tokens_are], weights[batches.shares]
    return [total * each / sum(weight) for each in weight]


def equal_mass(tokens: np.ndarray, parts: int) -> np.ndarray:
    """Return the part of each sentence, (n,), when a list is cut into parts of equal tokens.

    A sentence belongs to the part in which its middle lies, so that a part has its share of tokens
    give or take the longest sentence.

    Args:
        tokens: (n,) tokens of each sentence, in the order of the list.
        parts: how many parts, at least 1.
    """
    middles = 2 * np.cumsum(tokens) - tokens
    return middles * parts // (2 * int(tokens.sum()) or 1)


def _pool(batches: Batches) -> int:
    """Return the updates of a block, P."""
    pools = {"pool": batches.pool_updates, "independent": 1}
    if batches.scheme not in pools:
        raise _unknown("scheme", batches.scheme, pools)
    return pools[batches.scheme]


def _unknown(key: str, value: str, known: dict) -> FathomError:
    return FathomError(f"no {key} '{value}'", f"training.batches.{key}", nearest(value, known))

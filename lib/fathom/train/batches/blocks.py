"""Text without pairs: blocks of complete sentences, and the blocks of each update.

A block is the input of a masked language model: the start symbol, and as many sentences of one task
as fit, each with its end symbol, in the order of the corpus (fairseq's break mode "complete").
Blocks have similar lengths, so that they are not sorted: each task's stream (stream.py) gives its
share of tokens, and where a stretch starts follows from the update.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fathom.data.subwords.vocabulary import BOS
from fathom.data.tensors import Tensors
from fathom.io.errors import FathomError
from fathom.train.batches.sampler import Member, equal_mass
from fathom.train.batches.stream import Stream
from fathom.train.batches.update_tasks import AllTasks

# The second word of the streams' seeds.
_BLOCKS = 0


def blocks(lengths: np.ndarray, longest: int) -> np.ndarray:
    """Return the blocks of a text as (first token, token after the last), (n, 2).

    A block ends where the next sentence does not fit. The blocks cover the text without gaps.

    Args:
        lengths: (sentences,) tokens of each sentence, end symbol included, at least 1.
        longest: the most tokens of a block.

    Raises:
        FathomError: a sentence is longer than a block.
    """
    if len(lengths) and lengths.max() > longest:
        raise FathomError(
            f"a sentence has {lengths.max()} tokens with its end symbol, a block at most {longest}",
            "data.max_pieces",
            f"write {longest - 1} or less, and encode again",
        )
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    # For each sentence: if a block starts with it, the sentence that starts the next block.
    following = np.searchsorted(bounds, bounds[:-1] + longest, side="right") - 1
    firsts = [0]
    while firsts[-1] < len(lengths):
        firsts.append(int(following[firsts[-1]]))
    return np.stack([bounds[firsts[:-1]], bounds[firsts[1:]]], axis=1)


@dataclass(frozen=True, eq=False)
class Text:
    """One split of one task's source, as blocks.

    Attributes:
        task: the index of the task.
        lines: number of sentences.
    """

    task: int
    lines: int
    _tokens: np.ndarray
    _blocks: np.ndarray

    def __len__(self) -> int:
        """Return the number of blocks."""
        return len(self._blocks)

    def block(self, number: int) -> np.ndarray:
        """Return a block's ids, (T,), the start symbol first."""
        first, end = self._blocks[number]
        return np.concatenate([[BOS], self._tokens[first:end]])

    @cached_property
    def lengths(self) -> np.ndarray:
        """Tokens of each block with the start symbol, (n,)."""
        return self._blocks[:, 1] - self._blocks[:, 0] + 1


def texts(tensors: Tensors, split: str, longest: int) -> list[Text]:
    """Return a split of every task's source, in the order of the tasks.

    Args:
        tensors: the encoded text.
        split: "train", "valid" or "test".
        longest: the most tokens of a block, start symbol included.

    Raises:
        FathomError: a sentence is longer than a block.
    """
    splits = []
    for pairs in tensors.splits(split):
        lines = pairs.sources
        cut = blocks(lines.lengths, longest - 1)
        splits.append(Text(pairs.task, len(lines), lines.ids, cut))
    return splits


class BlockOrder:
    """Which blocks an update holds: a pure function of the seed and the update's number."""

    def __init__(self, lengths: Sequence[np.ndarray], tasks: AllTasks, seed: int):
        """Start each task's stream.

        Args:
            lengths: for each of N tasks (n,) tokens of each block.
            tasks: which of them an update holds, and how many tokens of each.
            seed: the run's seed, at least 0.

        Raises:
            FathomError: the tasks have so few tokens that an update could be empty.
        """
        self._lengths, self._tasks = lengths, tasks
        self._tokens = [max(1, round(tokens)) for tokens in tasks.tokens]
        # A stretch as long as the longest block always contains the start of a block.
        longest = [int(of_task.max()) for of_task in lengths]
        certain = [own >= most for own, most in zip(self._tokens, longest, strict=True)]
        if not (all(certain) if tasks.single else any(certain)):
            needed = max(longest) if tasks.single else min(longest)
            raise FathomError(
                "an update could have no block",
                "training.batch.tokens",
                f"give a task {needed} tokens, the length of its longest block",
            )
        self._streams = [
            Stream(of_task, seed, _BLOCKS, task) for task, of_task in enumerate(lengths)
        ]
        self._largest = max(range(len(lengths)), key=lambda task: self._streams[task].tokens)

    def update(self, n: int) -> list[Member]:
        """Return the (task, block) pairs of update n, sorted by their tokens.

        A task whose share is smaller than a block is in some of the updates.

        Args:
            n: the update of Θ, counted from 1.

        Raises:
            IndexError: n is below 1.
        """
        if n < 1:
            raise IndexError(f"updates count from 1, not {n}")
        tasks, before = self._tasks.at(n)
        members = [
            (task, block) for task in tasks for block in self._stretch(task, before).tolist()
        ]
        return sorted(members, key=self.length)

    def _stretch(self, task: int, before: int) -> np.ndarray:
        """Return the blocks that a task gives to an update, after `before` updates with it."""
        tokens = self._tokens[task]
        return self._streams[task].between(before * tokens, (before + 1) * tokens)

    def updates_until(self, updates: int | str) -> int:
        """Return a number of updates as it is, and "75 epochs" in updates, rounded up."""
        task = self._largest
        tokens, quota = self._streams[task].tokens, self._tokens[task]
        return self._tasks.updates_until(updates, task, tokens, quota)

    def length(self, member: Member) -> int:
        """Return the tokens of a block."""
        task, block = member
        return int(self._lengths[task][block])

    def passes(self, n: int) -> float:
        """Return the epochs of n updates: passes over the task with the most tokens."""
        task = self._largest
        return self._tasks.times(task, n) * self._tokens[task] / self._streams[task].tokens


def split_evenly(lengths: Sequence[int], parts: int) -> list[list[int]]:
    """Return the places of a list in consecutive parts of about equal tokens, empty ones last.

    Args:
        lengths: tokens of each member of the list.
        parts: number of parts, at least 1.
    """
    part_of = equal_mass(np.asarray(lengths, dtype=np.int64), parts)
    places = [np.flatnonzero(part_of == part).tolist() for part in range(parts)]
    return sorted(places, key=lambda part: not part)

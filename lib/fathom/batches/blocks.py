"""Text without pairs: blocks of whole sentences, and which blocks an update holds.

A block is what a masked language model reads at once: the start symbol, and as many sentences of
one task as fit, each with its end symbol, in the order of the corpus (fairseq's break mode
"complete"). Blocks are of like length, so that an update needs no sorting by length: each task's
stream (stream.py) gives its share of tokens, and where a stretch begins follows from the update.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from fairseq.data.indexed_dataset import best_fitting_int_dtype, data_file_path

from fathom.batches.sampler import Member, equal_mass
from fathom.batches.stream import Stream
from fathom.batches.tensors import Tensors, prefix
from fathom.errors import FathomError

# Where fairseq's dictionary puts the start symbol, and the second word of the streams' seeds.
BOS, _BLOCKS = 0, 0


def blocks(lengths: np.ndarray, longest: int) -> np.ndarray:
    """Return the blocks of a text as (first token, token after the last), (n, 2).

    A block ends where the next sentence does not fit. The blocks cover the text, which is its
    sentences without a gap.

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
            f"write at most {longest - 1} and encode again",
        )
    ends = np.concatenate([[0], np.cumsum(lengths)])
    # The sentence that begins a new block, for each with which one may begin.
    following = np.searchsorted(ends, ends[:-1] + longest, side="right") - 1
    firsts = [0]
    while firsts[-1] < len(lengths):
        firsts.append(int(following[firsts[-1]]))
    return np.stack([ends[firsts[:-1]], ends[firsts[1:]]], axis=1)


def language_shares(lines: Sequence[int], alpha: float) -> np.ndarray:
    """Return how often each of N languages is drawn, (N,), in all 1: q_n ∝ (lines_n / Σ lines)^α.

    XLM-R's sampling (Lample and Conneau, 2019, §3.1): 1 leaves the languages as they are, 0 draws
    them equally.

    Args:
        lines: sentences of each language.
        alpha: the exponent.
    """
    counts = np.asarray(lines, dtype=np.float64)
    weights = (counts / counts.sum()) ** alpha
    return weights / weights.sum()


@dataclass(frozen=True, eq=False)
class Text:
    """One split of one task's source side, as blocks.

    Attributes:
        task: the index of the task.
        lines: its sentences.
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
    """Return a split of every task's source side, in the order of the tasks.

    Args:
        tensors: the encoded text.
        split: "train", "valid" or "test".
        longest: the most tokens of a block, start symbol included.

    Raises:
        FathomError: a sentence is longer than a block.
    """
    dtype = best_fitting_int_dtype(len(tensors.source_dictionary))
    found = []
    for task, name in enumerate(tensors.tasks):
        pairs = tensors.split(name, split)
        lengths = pairs.source_lengths
        # The sentences stand in this file without a gap.
        place = data_file_path(str(prefix(tensors.folder, name, split, "source")))
        tokens = np.memmap(place, dtype=dtype, mode="r")
        found.append(Text(task, len(lengths), tokens, blocks(lengths, longest - 1)))
    return found


class BlockOrder:
    """Which blocks an update holds: a pure function of the seed and the update's number."""

    def __init__(self, lengths: Sequence[np.ndarray], tokens: Sequence[float], seed: int):
        """Start each task's stream.

        Args:
            lengths: for each of N tasks (n,) tokens of each block.
            tokens: (N,) each task's tokens in an update.
            seed: the run's seed, at least 0.

        Raises:
            FathomError: every task's tokens are so few that an update may hold no block.
        """
        self._lengths = lengths
        self._tokens = [max(1, round(each)) for each in tokens]
        # A stretch as long as a block holds a block's middle, wherever it begins.
        longest = [int(each.max()) for each in lengths]
        if all(share < most for share, most in zip(self._tokens, longest, strict=True)):
            raise FathomError(
                "an update may hold no block",
                "training.batches.tokens",
                f"give some task {min(longest)} tokens, those of its longest block",
            )
        self._streams = [Stream(each, seed, _BLOCKS, task) for task, each in enumerate(lengths)]

    def update(self, n: int) -> list[Member]:
        """Return the (task, block) pairs of update n, sorted by their tokens.

        A task whose share is below a block is in some updates only.

        Args:
            n: the update of Θ, counted from 1.

        Raises:
            IndexError: n is below 1.
        """
        if n < 1:
            raise IndexError(f"updates count from 1, not {n}")
        members = [
            (task, block)
            for task, (stream, tokens) in enumerate(zip(self._streams, self._tokens, strict=True))
            for block in stream.between((n - 1) * tokens, n * tokens).tolist()
        ]
        return sorted(members, key=self.length)

    def length(self, member: Member) -> int:
        """Return the tokens of a block."""
        task, block = member
        return int(self._lengths[task][block])

    def passes(self, n: int) -> float:
        """Return the epoch after n updates: passes over the task with the most tokens."""
        largest = max(range(len(self._streams)), key=lambda task: self._streams[task].tokens)
        return n * self._tokens[largest] / self._streams[largest].tokens


def parted(lengths: Sequence[int], parts: int) -> list[list[int]]:
    """Return the places of a list in consecutive parts of about equal tokens, empty ones last.

    Args:
        lengths: tokens of each member of the list.
        parts: how many, at least 1.
    """
    part_of = equal_mass(np.asarray(lengths, dtype=np.int64), parts)
    found = [np.flatnonzero(part_of == part).tolist() for part in range(parts)]
    return sorted(found, key=lambda part: not part)

"""Text without pairs: blocks of complete sentences, and the pieces that are hidden in them.

A block is the input of a masked language model: the start symbol, and as many sentences of one task
as fit, each with its end symbol, in the order of the corpus (fairseq's break mode "complete").
Blocks have similar lengths and are not sorted: each task's stream (`sampler.Stream`) gives its
share of tokens, and where a stretch starts follows from the update.

As in BERT and fairseq, most of the chosen pieces become the mask symbol, some a random piece, and
some stay; only chosen pieces are predicted. fairseq may choose any position; here the dictionary's
symbols are never chosen, because nothing is learnt from them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from fathom.config.schema.run import Masking
from fathom.data.tensors import PAD, Tensors
from fathom.data.vocabulary import BOS, SPECIAL
from fathom.io.errors import FathomError
from fathom.nn.network import Batch
from fathom.train.batches.sampler import AllTasks, Member, Order, equal_mass

# Random numbers of 53 bits, as many as a float64 holds.
_BITS, _DROPPED = 53, 11

# The input and the target of a text with hidden pieces, (T,) each.
Masked = tuple[np.ndarray, np.ndarray]


def blocks(lengths: np.ndarray, longest: int) -> np.ndarray:
    """Return the blocks of a text as (first token, token after the last), (n, 2).

    A block ends where the next sentence does not fit. The blocks cover the text without gaps.
    Lengths include the end symbol; a sentence that is longer than a block raises FathomError.
    """
    if len(lengths) and (most := lengths.max()) > longest:
        what = f"a sentence has {most} tokens with its end symbol, a block at most {longest}"
        remedy = f"write {longest - 1} or less, and encode again"
        raise FathomError(what, "data.max_pieces", remedy)
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    # For each sentence: if a block starts with it, the sentence that starts the next block.
    following = np.searchsorted(bounds, bounds[:-1] + longest, side="right") - 1
    firsts = [0]
    while firsts[-1] < len(lengths):
        firsts.append(int(following[firsts[-1]]))
    return np.stack([bounds[firsts[:-1]], bounds[firsts[1:]]], axis=1)


@dataclass(frozen=True, eq=False)
class BlockedText:
    """One split of one task's source, as blocks."""

    task: int
    lines: int  # number of sentences
    _tokens: np.ndarray
    _blocks: np.ndarray

    def __len__(self) -> int:
        return len(self._blocks)

    def block(self, number: int) -> np.ndarray:
        """Return a block's ids, (T,), the start symbol first."""
        first, end = self._blocks[number]
        return np.concatenate([[BOS], self._tokens[first:end]])

    @cached_property
    def lengths(self) -> np.ndarray:
        """Tokens of each block with the start symbol, (n,)."""
        return self._blocks[:, 1] - self._blocks[:, 0] + 1


def texts(tensors: Tensors, split: str, longest: int) -> list[BlockedText]:
    """Return a split of every task's source, in blocks with at most `longest` tokens."""
    splits = []
    for pairs in tensors.splits(split):
        lines = pairs.sources
        cut = blocks(lines.lengths, longest - 1)
        splits.append(BlockedText(pairs.task, len(lines), lines.ids, cut))
    return splits


class BlockSampler(Order):
    """Which blocks an update holds: a pure function of the seed and the update's number."""

    def __init__(self, lengths: Sequence[np.ndarray], tasks: AllTasks, seed: int):
        totals = [int(of_task.sum()) for of_task in lengths]
        super().__init__(lengths, tasks, seed, [1] * len(lengths), totals.index(max(totals)))
        # A stretch as long as the longest block always contains the start of a block.
        longest = [int(of_task.max()) for of_task in lengths]
        certain = [tokens >= most for tokens, most in zip(self._quotas, longest, strict=True)]
        if not (all(certain) if tasks.drawn else any(certain)):
            needed = max(longest) if tasks.drawn else min(longest)
            remedy = f"give a task {needed} tokens, the length of its longest block"
            raise FathomError("an update could have no block", "training.batch.tokens", remedy)

    def update(self, n: int) -> list[Member]:
        """Return the (task, block) pairs of update n, sorted by their tokens.

        A task whose share is smaller than a block is in some of the updates. Updates count from 1.
        """
        members = [
            (task, block)
            for tasks, before in self._tasks.at(n)
            for task in tasks
            for block in self._stretch(task, before).tolist()
        ]
        return sorted(members, key=self.length)

    def split(self, members: list[Member], parts: int) -> list[list[Member]]:
        """Cut an update into consecutive parts of about equal tokens, empty ones last."""
        part_of = equal_mass(np.array([*map(self.length, members)], dtype=np.int64), parts)
        split: list[list[Member]] = [[] for _ in range(parts)]
        for member, part in zip(members, part_of.tolist(), strict=True):
            split[part].append(member)
        return sorted(split, key=lambda part: not part)


def mask(tokens: np.ndarray, entries: int, masking: Masking, *where: int) -> Masked:
    """Hide pieces of a text; a pure function of its arguments.

    The number of chosen pieces is rounded at random, so that short texts have their share on
    average. It returns the input, and the target with PAD where nothing is predicted. The mask
    symbol is the first id after the dictionary's entries, as in fairseq; `where` is the seed and
    the words that identify the draw, integers of at least 0.
    """
    stream = _stream(where)
    first = len(SPECIAL)
    pieces = np.flatnonzero(tokens >= first)
    keys = _uniform(stream, len(pieces) + 1)
    count = _rounded(masking, len(pieces), keys[-1])
    chosen = pieces[np.argsort(keys[:-1], kind="stable")[:count]]
    fate, choice = _uniform(stream, count), _uniform(stream, count)
    hidden, target = tokens.astype(np.int64), np.full(len(tokens), PAD)
    target[chosen] = tokens[chosen]
    changed = masking.masked + masking.random
    replaced = (fate >= masking.masked) & (fate < changed)
    hidden[chosen[fate < masking.masked]] = entries
    random = first + (choice * (entries - first)).astype(np.int64)
    hidden[chosen[replaced]] = random[replaced]
    return hidden, target


def count_predicted(tokens: np.ndarray, masking: Masking, *where: int) -> int:
    """Return how many tokens are predicted of a text that `mask` hides with the same arguments.

    It draws one random number, where `mask` draws one for each piece and more.
    """
    stream, pieces = _stream(where), int(np.count_nonzero(tokens >= len(SPECIAL)))
    stream.advance(pieces)
    return _rounded(masking, pieces, _uniform(stream, 1)[0])


def collate_masked(rows: Sequence[Masked], members: Sequence[Member]) -> Batch:
    """Return a batch of masked texts, at least one, with the (task, text) of each."""
    source, target = (  # (B, T)
        pad_sequence([*map(torch.from_numpy, side)], batch_first=True, padding_value=PAD)
        for side in zip(*rows, strict=True)
    )
    where = torch.tensor(members, dtype=torch.long)  # (B, 2)
    return Batch(
        source=source,
        previous_target=source.new_empty(len(rows), 0),
        target=target,
        tasks=where[:, 0].contiguous(),
        sentences=where[:, 1].contiguous(),
        tokens=sum(map(predicted, rows)),
        source_lengths=tuple(len(side) for side, _ in rows),
        task_of_each=tuple(task for task, _ in members),
    )


def predicted(row: Masked) -> int:
    """Return how many tokens of a masked text are predicted."""
    return int((row[1] != PAD).sum())


def _stream(where: Sequence[int]) -> np.random.PCG64:
    return np.random.PCG64(np.random.SeedSequence(where))


def _rounded(masking: Masking, pieces: int, draw: float) -> int:
    """Return how many of a text's pieces are chosen: the share, rounded by a draw from [0, 1)."""
    return int(masking.chosen * pieces + draw)


def _uniform(stream: np.random.PCG64, count: int) -> np.ndarray:
    """Return numbers in [0, 1), (count,), from raw bits, whose sequence numpy guarantees."""
    bits = stream.random_raw(count)
    return np.ldexp((bits >> np.uint64(_DROPPED)).astype(np.float64), -_BITS)

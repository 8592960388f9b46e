"""Real tokens of a padded batch (B, T) as rows, in blocks that attention reads without padding.

The sentences of a batch are divided into blocks of L rows each, and no sentence is in two blocks.
Row `l · blocks + b` is row l of block b, so blocks and heads are one dimension of attention's
products. Batches that attend to each other are packed together: a sentence is in the same block of
each. Attention between sentences of a block is masked, so a block costs the square of its rows. But
a few large products are faster than many small ones: on a CPU, sentences of 3 to 11 tokens take a
third of the time in blocks of 32 rows that they take as a padded batch.

Rows without a token are padding rows: those that a block has left, and those at the end that round
the number of rows up. They have no influence on real rows: `pack` fills them with zeros, `pad` and
`unpadded` drop them, no real token attends to them, and other operations work on single rows. So
their gradient is zero if a loss reads `pad` or `unpadded`, and they add nothing to the gradient of
a weight.
"""

from collections.abc import Sequence
from functools import cached_property
from operator import ge, sub
from typing import Any, Self

import torch
import torch.nn.functional as F
from torch import Tensor

from fathom.nn.device import to_device

# The sentences of each block, by their index in the batch.
Blocks = tuple[tuple[int, ...], ...]

# Rows of a block, if no sentence is longer.
BLOCK_ROWS = 32


def assigned(lengths: Sequence[tuple[int, ...]], in_blocks: bool = True) -> Blocks:
    """Return blocks that hold all sentences, each in one; without `in_blocks`, a single block.

    First fit, the longest sentence first: a sentence joins the first block that has rows left for
    each of its sides.
    """
    if not in_blocks:
        return (tuple(range(len(lengths))),)
    sides = list(zip(*lengths, strict=True))
    most, shortest = max(map(sum, sides)), tuple(map(min, sides))
    # Rows of a block on each side: fewer on a side that has fewer tokens.
    capacity = [max(*side, -(-BLOCK_ROWS * sum(side) // most)) for side in sides]
    blocks: list[list[int]] = []
    left: dict[int, list[int]] = {}  # rows that are left on each side, by the number of a block
    for sentence in sorted(range(len(lengths)), key=lambda sentence: -sum(lengths[sentence])):
        needed = lengths[sentence]
        fits = (number for number, rows in left.items() if all(map(ge, rows, needed)))
        if (block := next(fits, None)) is None:
            block = len(blocks)
            blocks.append([])
            left[block] = capacity
        blocks[block].append(sentence)
        left[block] = list(map(sub, left[block], needed))
        if not all(map(ge, left[block], shortest)):
            del left[block]
    return tuple(map(tuple, blocks))


class Packing:
    """Where the real tokens of a batch (B, T) are; padding is on the right.

    Rows are numbered on the host: the device is never asked how many there are.

    Attributes:
        lengths: real tokens of each sentence, B numbers of at least 1.
        width: T.
        multiple: numbers of rows are rounded up to a multiple of it.
        block_rows: L.
        rows: the number of rows, at least L per block.
        index: (tokens,) the place of each real token in the flat batch, (B·T,), in its order.
        places: (tokens,) the row of each of these tokens.
        sentences: (rows,) the sentence of each row; padding rows have sentence 0.
        positions: (rows,) the position of each row in its sentence, from 0; padding rows have 0.
        offsets: (B + 1,) int32, the token at which each sentence starts, and the number of tokens.
        tokens: the number of real tokens.
        longest: the length of the longest sentence.
        masks: what attention has derived from this packing, for its next layers.
    """

    def __init__(
        self,
        lengths: Sequence[int],
        width: int,
        multiple: int,
        blocks: Blocks,
        device: torch.device,
    ):
        self.lengths, self.width, self.multiple = tuple(lengths), width, multiple
        self.blocks = blocks
        self.masks: dict[Any, Tensor] = {}
        start, block, used = [0] * len(lengths), [0] * len(lengths), [0] * len(blocks)
        for number, members in enumerate(blocks):
            for sentence in members:
                start[sentence], block[sentence] = used[number], number
                used[number] += lengths[sentence]
        self.block_rows = max(used)
        self.rows = rounded_up(self.block_rows * len(blocks), multiple)
        counts, tokens = torch.tensor(lengths), sum(lengths)
        sentence = torch.repeat_interleave(counts, output_size=tokens)
        position = torch.arange(tokens) - (counts.cumsum(0) - counts)[sentence]
        first = torch.tensor(start) * len(blocks) + torch.tensor(block)
        places = first[sentence] + position * len(blocks)
        parts = (
            sentence * width + position,
            places,
            torch.zeros(self.rows, dtype=torch.long).index_copy_(0, places, sentence),
            torch.zeros(self.rows, dtype=torch.long).index_copy_(0, places, position),
            torch.tensor((0, *lengths)).cumsum(0),
        )
        # One copy for all of them.
        moved = to_device(torch.cat(parts), device).split([*map(len, parts)])
        self.index, self.places, self.sentences, self.positions, starts = moved
        self.offsets = starts.int()
        # Plain numbers, which a compiler reads as it reads arguments.
        self.tokens, self.longest = tokens, max(lengths)

    @classmethod
    def of(
        cls, padding_mask: Tensor, multiple: int = 1, lengths: Sequence[int] | None = None
    ) -> Self:
        """Return the packing of one batch; the arguments are those of `together`."""
        return cls.together([padding_mask], multiple, [lengths])[0]

    @classmethod
    def together(
        cls,
        padding_masks: Sequence[Tensor],
        multiple: int = 1,
        lengths: Sequence[Sequence[int] | None] | None = None,
    ) -> list[Self]:
        """Return the packings of batches whose sentences attend to each other.

        Masks, (B, T) of such as sources and targets, are true at padding, on the right of each
        sentence. Numbers of rows are rounded up to a multiple. `lengths` are the real tokens of the
        sentences where the host has them; without those of a batch the device is asked.
        """
        given = lengths or [None] * len(padding_masks)
        counts = [
            _lengths(mask) if count is None else count
            for mask, count in zip(padding_masks, given, strict=True)
        ]
        # Elsewhere attention takes sentences of any lengths one after the other.
        in_blocks = padding_masks[0].device.type == "cpu"
        blocks = assigned(list(zip(*counts, strict=True)), in_blocks)
        return [
            cls(side, mask.size(1), multiple, blocks, mask.device)
            for side, mask in zip(counts, padding_masks, strict=True)
        ]

    @cached_property
    def padding(self) -> Tensor:
        """(B, T) true at padding."""
        padding = self.index.new_ones(len(self.lengths) * self.width, dtype=torch.bool)
        return padding.index_fill_(0, self.index, False).view(len(self.lengths), self.width)

    @cached_property
    def is_padding_row(self) -> Tensor:
        """(rows,) true at padding rows."""
        padding = self.index.new_ones(self.rows, dtype=torch.bool)
        return padding.index_fill_(0, self.places, False)

    def pack(self, x: Tensor) -> Tensor:
        """Return the rows of a batch (B, T, D) as (1, rows, D), with zeros in padding rows."""
        rows = _Move.apply(x.reshape(-1, x.size(-1)), self.index, self.places, self.rows)
        return rows.unsqueeze(0)

    def pad(self, x: Tensor) -> Tensor:
        """Return rows (1, rows, D) as a batch (B, T, D), with zeros at padding."""
        size = len(self.lengths) * self.width
        padded = _Move.apply(x.squeeze(0), self.places, self.index, size)
        return padded.view(len(self.lengths), self.width, x.size(-1))

    def unpadded(self, x: Tensor) -> Tensor:
        """Return the real rows of (1, rows, D) in the order of the batch, with zeros after them.

        They are (1, n, D), with n the number of tokens, rounded up.
        """
        order = torch.arange(self.tokens, device=self.index.device)
        size = rounded_up(self.tokens, self.multiple)
        return _Move.apply(x.squeeze(0), self.places, order, size).unsqueeze(0)

    @staticmethod
    def head_rows(x: Tensor, rows: int) -> Tensor:
        """Return the first rows, (rows, D), of all, (1, all rows, D)."""
        # squeeze and no index: the gradient of x[0] is a copy into zeros.
        x = x.squeeze(0)
        return x if rows == len(x) else x[:rows]

    def pad_rows(self, x: Tensor) -> Tensor:
        """Return all rows, (1, rows, D), of the first ones, (n, D), with zeros after them."""
        missing = self.rows - len(x)
        return (F.pad(x, (0, 0, 0, missing)) if missing else x).unsqueeze(0)

    def unpadded_ids(self, ids: Tensor) -> Tensor:
        """Return the ids (B, T) at real tokens in the order of the batch, (tokens,)."""
        return ids.flatten().index_select(0, self.index)

    def of_ids(self, ids: Tensor, padding: int) -> Tensor:
        """Return the ids (B, T) by row, (rows,), with `padding` in padding rows."""
        rows = ids.new_full((self.rows,), padding)
        return rows.index_copy_(0, self.places, self.unpadded_ids(ids))

    def rows_by_task(self, tasks: Sequence[int] | None) -> dict[int, int] | None:
        """Return how many rows each task has, by the task of each sentence; None without it.

        Padding rows have the task of the first sentence.
        """
        if tasks is None:
            return None
        rows = {tasks[0]: self.rows - self.tokens}
        for task, length in zip(tasks, self.lengths, strict=True):
            rows[task] = rows.get(task, 0) + length
        return rows

    def of_tokens(self, per_sentence: Tensor) -> Tensor:
        """Return what each row's sentence has, (rows,) of (B,); padding rows have sentence 0's."""
        return per_sentence.index_select(0, self.sentences)


def rounded_up(count: int, multiple: int) -> int:
    """Return the smallest multiple that is at least `count`."""
    return -(-count // multiple) * multiple


def _lengths(padding_mask: Tensor) -> list[int]:
    """Return the real tokens of each sentence."""
    counts = padding_mask.logical_not().sum(1)
    expected = torch.arange(padding_mask.size(1), device=counts.device) >= counts.unsqueeze(1)
    if not padding_mask.equal(expected) or not counts.all():
        raise RuntimeError("padding is not on the right, or a sentence is empty")
    return counts.tolist()


class _Move(torch.autograd.Function):
    """Copy rows to other places, with zeros in all others; the gradient goes the same way back."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, given: Tensor, places: Tensor, rows: int) -> Tensor:
        ctx.save_for_backward(given, places)
        ctx.rows = len(x)
        return x.new_zeros(rows, x.size(1)).index_copy_(0, places, x.index_select(0, given))

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None, None]:
        given, places = ctx.saved_tensors
        return _Move.apply(upstream, places, given, ctx.rows), None, None, None

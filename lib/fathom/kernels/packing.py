"""Real tokens of a padded batch, one after the other.

A padded batch (B, T) is packed into rows, sentence after sentence. Their number may be rounded up:
a backend that makes code for each shape then meets few shapes. The surplus rows come last.
`pack` fills them with zeros and `pad` drops them, and each is the gradient of the other. So a loss
that reads what was padded, or the first `tokens` rows, gives surplus rows a gradient of zero, and
they add nothing to the gradient of a weight.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Packing:
    """Where the real tokens of a batch (B, T) are; padding is on the right.

    Attributes:
        lengths: real tokens of each sentence, B numbers of at least 1.
        width: T.
        rows: `tokens`, rounded up.
        sentences: (rows,) the sentence of each row; surplus rows have sentence 0.
        positions: (rows,) the position of each row in its sentence, from 0; surplus rows have 0.
        index: (tokens,) the place of each real token in the flat batch, (B·T,).
    """

    lengths: tuple[int, ...]
    width: int
    rows: int
    sentences: Tensor
    positions: Tensor
    index: Tensor

    @classmethod
    def of(
        cls, padding_mask: Tensor, multiple: int = 1, lengths: Sequence[int] | None = None
    ) -> Self:
        """Return the packing of a batch.

        Args:
            padding_mask: (B, T) true at padding, which is on the right of each sentence.
            multiple: the number of rows is rounded up to a multiple of it.
            lengths: real tokens of each sentence, where the host knows them; otherwise the device
                is asked once.

        Raises:
            ValueError: padding is not on the right, or a sentence is empty.
        """
        width = padding_mask.size(1)
        if lengths is None:
            lengths = _lengths(padding_mask)
        device = padding_mask.device
        tokens = sum(lengths)
        rows = -(-tokens // multiple) * multiple
        # Made on the host, so that the device is never asked how many there are.
        counts = torch.tensor(lengths)
        starts = counts.cumsum(0) - counts  # (B,)
        sentences = torch.zeros(rows, dtype=torch.long)
        positions = torch.zeros(rows, dtype=torch.long)
        sentences[:tokens] = torch.repeat_interleave(counts, output_size=tokens)
        positions[:tokens] = torch.arange(tokens) - starts[sentences[:tokens]]
        index = sentences[:tokens] * width + positions[:tokens]
        places = (part.to(device, non_blocking=True) for part in (sentences, positions, index))
        return cls(tuple(lengths), width, rows, *places)

    @property
    def tokens(self) -> int:
        """The number of real tokens."""
        return len(self.index)

    @property
    def full(self) -> bool:
        """Whether the batch has no padding."""
        return self.tokens == len(self.lengths) * self.width

    @cached_property
    def padding(self) -> Tensor:
        """(B, T) true at padding."""
        padding = torch.ones(len(self.lengths) * self.width, dtype=torch.bool, device=self.device)
        return padding.index_fill_(0, self.index, False).view(len(self.lengths), self.width)

    @cached_property
    def offsets(self) -> Tensor:
        """(B + 1,) int32, the row at which each sentence starts, and at which the last one ends."""
        ends = torch.tensor((0, *self.lengths)).cumsum(0)
        return ends.to(self.device, torch.int32, non_blocking=True)

    @property
    def longest(self) -> int:
        """The length of the longest sentence."""
        return max(self.lengths)

    @property
    def device(self) -> torch.device:
        """Where the indices are."""
        return self.index.device

    def pack(self, x: Tensor) -> Tensor:
        """Return the rows of real tokens, (1, rows, D), with zeros in surplus rows.

        Args:
            x: (B, T, D).
        """
        return _Pack.apply(x.reshape(-1, x.size(-1)), self).unsqueeze(0)

    def pad(self, x: Tensor) -> Tensor:
        """Return (B, T, D) with zeros at padding; surplus rows are dropped.

        Args:
            x: (1, rows, D).
        """
        return _Pad.apply(x.squeeze(0), self).view(len(self.lengths), self.width, x.size(-1))

    def of_ids(self, ids: Tensor, surplus: int) -> Tensor:
        """Return the ids of all rows, (rows,).

        Args:
            ids: (B, T).
            surplus: what surplus rows get, such as the index of padding.
        """
        packed = ids.new_full((self.rows,), surplus)
        packed[: self.tokens] = ids.flatten().index_select(0, self.index)
        return packed

    def of_tokens(self, per_sentence: Tensor) -> Tensor:
        """Return for each row what its sentence has, (rows,); surplus rows have sentence 0's.

        Args:
            per_sentence: (B,), such as the tasks.
        """
        return per_sentence.index_select(0, self.sentences)


class _Pack(torch.autograd.Function):
    """(B·T, D) → (rows, D)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, packing: Packing) -> Tensor:
        ctx.packing = packing
        packed = x.new_empty(packing.rows, x.size(1))
        torch.index_select(x, 0, packing.index, out=packed[: packing.tokens])
        packed[packing.tokens :].zero_()
        return packed

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None]:
        return _Pad.apply(upstream, ctx.packing), None


class _Pad(torch.autograd.Function):
    """(rows, D) → (B·T, D)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, packing: Packing) -> Tensor:
        ctx.packing = packing
        padded = x.new_zeros(len(packing.lengths) * packing.width, x.size(1))
        return padded.index_copy_(0, packing.index, x[: packing.tokens])

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None]:
        return _Pack.apply(upstream, ctx.packing), None


def _lengths(padding_mask: Tensor) -> list[int]:
    """Return the real tokens of each sentence."""
    counts = padding_mask.logical_not().sum(1)
    expected = torch.arange(padding_mask.size(1), device=counts.device) >= counts.unsqueeze(1)
    if not padding_mask.equal(expected) or not counts.all():
        raise ValueError("padding is not on the right, or a sentence is empty")
    return counts.tolist()

"""The operations that CUDA would get, on a machine without it.

Here packed layers take other ways: attention in blocks, and dropout from 16-bit words. While
operations are counted, they take those of a CUDA device. Dropout is one operation in each direction
there, for fairseq's layers too, and so is torch's attention of sentences of any lengths, whose
kernel exists on CUDA alone: a stand-in of the same shapes counts in its place.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import varlen

from fathom.nn import packing
from fathom.nn.attention import varlen_attention
from fathom.nn.packing import Blocks, assigned
from fathom.nn.transformer import layers


@contextmanager
def as_on_cuda() -> Iterator[None]:
    """Take the ways of a CUDA device in half precision, on a CPU; values are meaningless."""
    with ExitStack() as patches:
        for place, name, stand_in in (
            (varlen, "varlen_attn", _attention),
            (layers, "attend_packed", _attend_packed),
            (layers, "dropout", _dropout),
            (packing, "assigned", _one_block),
            (F, "dropout", _dropout),
        ):
            patches.enter_context(patch.object(place, name, stand_in))
        yield


def _attend_packed(*given: Any) -> Tensor:
    *others, p = given
    if p:
        raise ValueError("attention with dropout has another kernel on CUDA")
    return varlen_attention(*others)


def _attention(q: Tensor, k: Tensor, v: Tensor, *_: Any, **__: Any) -> Tensor:
    return _Attention.apply(q, k, v)


def _dropout(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    return torch.native_dropout(x, p, True)[0] if training and p else x


def _one_block(lengths: Any, in_blocks: bool = True) -> Blocks:
    return assigned(lengths, in_blocks=False)


class _Attention(torch.autograd.Function):
    """One operation forward and one backward, with the shapes of attention."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        ctx.shapes = [x.shape for x in (q, k, v)]
        return torch.empty_like(q)

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, ...]:
        sizes = [shape.numel() for shape in ctx.shapes]
        parts = upstream.new_zeros(sum(sizes)).split(sizes)
        return tuple(part.view(shape) for part, shape in zip(parts, ctx.shapes, strict=True))

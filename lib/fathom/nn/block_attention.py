"""Attention inside the blocks of a packing: batched products, a mask and a softmax."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from fathom.nn.dropout import keep_mask
from fathom.nn.packing import Packing


def in_blocks(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    heads: int,
    queries: Packing,
    keys: Packing,
    causal: bool = False,
    p: float = 0.0,
) -> Tensor:
    """Return softmax(q kᵀ / √d) v of each head and sentence, (1, rows of queries, D).

    Args:
        q: (1, rows of queries, D).
        k: (1, rows of keys, D).
        v: (1, rows of keys, D).
        heads: number of heads.
        queries: the packing of q.
        keys: the packing of k and v, with the same blocks.
        causal: position t attends to the positions up to t of its sentence alone.
        p: probability of dropout of the weights.
    """
    bias = block_bias(queries, keys, heads, causal, q.dtype)
    q = _of_blocks(q, queries, heads)  # (blocks · h, L, d)
    k, v = (_of_blocks(x, keys, heads) for x in (k, v))
    y = _Weighted.apply(q, k, v, bias, p)
    return queries.with_surplus(y.transpose(0, 1).reshape(-1, heads * y.size(-1)))


def block_bias(
    queries: Packing, keys: Packing, heads: int, causal: bool, dtype: torch.dtype
) -> Tensor:
    """Return −∞ at pairs of different sentences and at later keys, (blocks · h, L, L).

    It is made once for all layers. A surplus query attends to all rows of its block, since a row
    without any key would be NaN.

    Args:
        queries: the packing of the queries.
        keys: the packing of the keys, with the same blocks.
        heads: number of heads, h.
        causal: position t attends to the positions up to t alone.
        dtype: of the scores.
    """
    known = (None if keys is queries else keys, heads, causal, dtype)
    if known not in queries.masks:
        query, key = (_grid(packing.sentences, packing) for packing in (queries, keys))
        hidden = (query.unsqueeze(2) != key.unsqueeze(1)) | _grid(keys.surplus, keys).unsqueeze(1)
        if causal:
            place = _grid(queries.positions, queries)
            hidden |= place.unsqueeze(2) < place.unsqueeze(1)
        hidden &= _grid(queries.surplus, queries).logical_not().unsqueeze(2)
        bias = torch.zeros(hidden.shape, dtype=dtype).masked_fill_(hidden, -torch.inf)
        queries.masks[known] = bias.repeat_interleave(heads, 0)
    return queries.masks[known]


def _of_blocks(x: Tensor, packing: Packing, heads: int) -> Tensor:
    """Return rows (1, rows, D) as (blocks · h, L, d)."""
    rows = packing.block_rows * len(packing.blocks)
    return (
        packing.first(x, rows)
        .reshape(packing.block_rows, len(packing.blocks) * heads, -1)
        .transpose(0, 1)
    )


def _grid(per_row: Tensor, packing: Packing) -> Tensor:
    """Return what rows have, (rows,), as (blocks, L)."""
    rows = packing.block_rows * len(packing.blocks)
    return per_row[:rows].view(packing.block_rows, len(packing.blocks)).t()


class _Weighted(torch.autograd.Function):
    """softmax(q kᵀ / √d + bias) v of N blocks and heads: (N, T, d), (N, S, d) twice, (N, T, S)."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, bias: Tensor, p: float) -> Tensor:
        ctx.scale = q.size(-1) ** -0.5
        weights = torch.baddbmm(bias, q, k.mT, alpha=ctx.scale).softmax(-1)  # (N, T, S)
        mask = keep_mask(weights, p) if p else None
        ctx.save_for_backward(q, k, v, weights, mask)
        return torch.bmm(weights if mask is None else weights * mask, v)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        q, k, v, weights, mask = ctx.saved_tensors
        of_weights, dropped = torch.bmm(upstream, v.mT), weights
        if mask is not None:
            of_weights, dropped = of_weights.mul_(mask), weights * mask
        of_scores = torch.ops.aten._softmax_backward_data(of_weights, weights, -1, weights.dtype)
        of_q = _scaled(of_scores, k, ctx.scale)
        of_k = _scaled(of_scores.mT, q, ctx.scale)
        return of_q, of_k, torch.bmm(dropped.mT, upstream), None, None


def _scaled(left: Tensor, right: Tensor, scale: float) -> Tensor:
    """Return scale · left · right in one operation."""
    return torch.baddbmm(left.new_zeros(()), left, right, beta=0, alpha=scale)

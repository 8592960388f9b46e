"""Multi-head attention of queries to keys and values that are projected already."""

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from fathom.nn.cpu import keep_mask
from fathom.nn.packing import Packing

# In longer blocks torch's fused kernel on padded states is faster.
LONGEST_BLOCK = 128


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    heads: int,
    padding: Tensor | None = None,
    causal: bool = False,
    p: float = 0.0,
) -> Tensor:
    """Return softmax(q kᵀ / √d) v of each head, (B, T, D), with d = D / heads.

    q is (B, T, D), k and v (B, S, D). Keys at true `padding`, (B, S), are not attended to. Causal
    self-attention needs none: position t attends to the positions up to t alone, and padding on the
    right is in the future of every real token.
    """
    q, k, v = (x.unflatten(2, (heads, -1)).transpose(1, 2) for x in (q, k, v))  # (B, h, T, d)
    allowed = None if padding is None else padding.logical_not()[:, None, None]
    if causal and allowed is not None:
        allowed = allowed & allowed.new_ones(q.size(2), k.size(2)).tril()
    y = F.scaled_dot_product_attention(q, k, v, allowed, p, is_causal=causal and padding is None)
    return y.transpose(1, 2).flatten(2)


class PackedAttention(NamedTuple):
    """How queries attend to keys, both packed.

    The packing of the keys is that of the queries, or packed together with it. With `causal`,
    position t attends to the positions up to t of its sentence alone. The weights have dropout with
    probability p.
    """

    heads: int
    queries: Packing
    keys: Packing
    causal: bool = False
    p: float = 0.0


def attend_packed(q: Tensor, k: Tensor, v: Tensor, this: PackedAttention) -> Tensor:
    """Return softmax(q kᵀ / √d) v of each head and sentence, (1, rows of queries, D).

    Padding rows of the result are finite and have no influence on real ones. This is the one place
    that chooses a way for a device, a type and lengths. On a CPU it is differentiable once.

    q is (1, rows of queries, D), k and v (1, rows of keys, D).
    """
    if this.queries.blocks != this.keys.blocks:
        raise RuntimeError("pack queries and keys together")
    here, half = q.device.type, q.itemsize < 4
    exact = not half and not torch.is_autocast_enabled(here)
    if here == "cpu" and exact and this.keys.block_rows <= LONGEST_BLOCK:
        return block_attention(q, k, v, this)
    if here == "cuda":
        return varlen_attention(q, k, v, this)
    return padded_attention(q, k, v, this)


def padded_attention(q: Tensor, k: Tensor, v: Tensor, this: PackedAttention) -> Tensor:
    """Return the attention of `attend_packed`, by that of padded states."""
    heads, queries, keys, causal, p = this
    padding = None if causal else keys.padding
    padded = attend(queries.pad(q), keys.pad(k), keys.pad(v), heads, padding, causal, p)
    return queries.pack(padded)


def varlen_attention(q: Tensor, k: Tensor, v: Tensor, this: PackedAttention) -> Tensor:
    """Return the attention of `attend_packed`, by torch's kernels for sentences of any lengths.

    They exist on CUDA: flash attention in half precision, and memory-efficient attention in
    float32. torch's own functions call them for nested tensors. Both packings have one block, so
    sentences follow each other.
    """
    heads, queries, keys, causal, p = this
    q = queries.head_rows(q, queries.tokens).unflatten(1, (heads, -1))  # (tokens, h, d)
    k, v = (keys.head_rows(x, keys.tokens).unflatten(1, (heads, -1)) for x in (k, v))
    sides = queries.offsets, keys.offsets, queries.longest, keys.longest
    if q.itemsize < 4:
        y = torch.ops.aten._flash_attention_forward(q, k, v, *sides, p, causal, False)[0]
    else:
        # Masks are numbered: 1 hides later keys. The kernel wants a batch of one long sentence.
        mask, of_backward = int(causal), torch.is_grad_enabled()
        sides = (None, *sides, p, mask, of_backward)
        q, k, v = (x.unsqueeze(0) for x in (q, k, v))
        y = torch.ops.aten._efficient_attention_forward(q, k, v, *sides)[0].squeeze(0)
    return queries.pad_rows(y.flatten(1))


def block_attention(q: Tensor, k: Tensor, v: Tensor, this: PackedAttention) -> Tensor:
    """Return the attention of `attend_packed`, inside the blocks of the packings."""
    heads, queries, keys, causal, p = this
    bias = block_bias(queries, keys, heads, causal, q.dtype)
    q = _of_blocks(q, queries, heads)  # (blocks · h, L, d)
    k, v = (_of_blocks(x, keys, heads) for x in (k, v))
    y = _Weighted.apply(q, k, v, bias, p)
    return queries.pad_rows(y.transpose(0, 1).reshape(-1, heads * y.size(-1)))


def block_bias(
    queries: Packing, keys: Packing, heads: int, causal: bool, dtype: torch.dtype
) -> Tensor:
    """Return −∞ at pairs of different sentences and at later keys, (blocks · h, L, L).

    It is made once for all layers. A padding row attends to all rows of its block, since a row
    without any key would be NaN.
    """
    case = (None if keys is queries else keys, heads, causal, dtype)
    if case not in queries.masks:
        query, key = (_grid(packing.sentences, packing) for packing in (queries, keys))
        hidden = query.unsqueeze(2) != key.unsqueeze(1)
        hidden |= _grid(keys.is_padding_row, keys).unsqueeze(1)
        if causal:
            place = _grid(queries.positions, queries)
            hidden |= place.unsqueeze(2) < place.unsqueeze(1)
        hidden &= _grid(queries.is_padding_row, queries).logical_not().unsqueeze(2)
        bias = torch.zeros(hidden.shape, dtype=dtype).masked_fill_(hidden, -torch.inf)
        queries.masks[case] = bias.repeat_interleave(heads, 0)
    return queries.masks[case]


def _of_blocks(x: Tensor, packing: Packing, heads: int) -> Tensor:
    """Return rows (1, rows, D) as (blocks · h, L, d)."""
    rows, blocks = packing.block_rows, len(packing.blocks)
    by_head = packing.head_rows(x, rows * blocks).reshape(rows, blocks * heads, -1)
    return by_head.transpose(0, 1)


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

"""Multi-head attention of queries to keys and values that are projected already."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from fathom.kernels.dropout import keep_mask

# Keys from which on torch's fused kernel is faster on a CPU.
FUSED_KEYS = 128


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

    Args:
        q: (B, T, D).
        k: (B, S, D).
        v: (B, S, D).
        heads: number of heads.
        padding: (B, S) true at keys that are not attended to; None if there are none. Causal
            self-attention needs none: padding on the right is in the future of every real token.
        causal: position t attends to the positions up to t alone; S is T.
        p: probability of dropout of the weights.
    """
    q, k, v = (x.unflatten(2, (heads, -1)).transpose(1, 2) for x in (q, k, v))  # (B, h, T, d)
    if is_fused(q.device, q.dtype, k.size(2)):
        alone = causal and padding is None
        bias = None if alone else _bias(q, k, padding, causal)
        y = F.scaled_dot_product_attention(q, k, v, bias, p, is_causal=alone)
    else:
        bias = _bias(q, k, padding, causal)
        if bias is not None:
            bias = bias.expand(len(q), heads, -1, -1).flatten(0, 1)
        y = weighted(q.flatten(0, 1), k.flatten(0, 1), v.flatten(0, 1), bias, p)
        y = y.unflatten(0, (-1, heads))
    return y.transpose(1, 2).flatten(2)


def is_fused(device: torch.device, dtype: torch.dtype, keys: int) -> bool:
    """Return whether attention is torch's fused kernel rather than products and a softmax.

    Args:
        device: of the states.
        dtype: of the states.
        keys: how many a query may attend to, S.
    """
    return device.type != "cpu" or dtype.itemsize < 4 or keys >= FUSED_KEYS


def weighted(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, p: float = 0.0) -> Tensor:
    """Return softmax(q kᵀ / √d + bias) v, (N, T, d); it is differentiable once.

    Args:
        q: (N, T, d), for N pairs of a sentence (or a block) and a head.
        k: (N, S, d).
        v: (N, S, d).
        bias: what broadcasts to (N, T, S), without a gradient; None for none.
        p: probability of dropout of the weights.
    """
    return _Weighted.apply(q, k, v, bias, p)


class _Weighted(torch.autograd.Function):
    """Attention by batched products; the weights are saved."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, p: float) -> Tensor:
        ctx.scale = q.size(-1) ** -0.5
        weights = _scaled(q, k.mT, ctx.scale, bias).softmax(-1)  # (N, T, S)
        mask = keep_mask(weights, p) if p else None
        ctx.save_for_backward(q, k, v, weights, mask)
        return torch.bmm(weights if mask is None else weights * mask, v)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        q, k, v, weights, mask = ctx.saved_tensors
        of_weights = torch.bmm(upstream, v.mT)
        dropped = weights
        if mask is not None:
            of_weights, dropped = of_weights.mul_(mask), weights * mask
        of_scores = torch._softmax_backward_data(of_weights, weights, -1, weights.dtype)
        of_q, of_k = _scaled(of_scores, k, ctx.scale), _scaled(of_scores.mT, q, ctx.scale)
        return of_q, of_k, torch.bmm(dropped.mT, upstream), None, None


def _scaled(left: Tensor, right: Tensor, scale: float, bias: Tensor | None = None) -> Tensor:
    """Return scale · left · right + bias in one operation."""
    if bias is None:
        return torch.baddbmm(left.new_zeros(()), left, right, beta=0, alpha=scale)
    return torch.baddbmm(bias, left, right, alpha=scale)


def _bias(q: Tensor, k: Tensor, padding: Tensor | None, causal: bool) -> Tensor | None:
    """Return what is added to scores, −∞ at pairs that do not attend, (B or 1, 1, T or 1, S)."""
    bias = None
    if causal:
        bias = q.new_full((q.size(2), k.size(2)), -torch.inf).triu_(1)[None, None]
    if padding is not None:
        keys = q.new_zeros(padding.shape).masked_fill_(padding, -torch.inf)[:, None, None]
        bias = keys if bias is None else bias + keys
    return bias

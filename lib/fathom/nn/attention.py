"""Multi-head attention of queries to keys and values that are projected already."""

from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor

from fathom.nn.block_attention import in_blocks
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
    allowed = None if padding is None else padding.logical_not()[:, None, None]
    if causal and allowed is not None:
        allowed = allowed & allowed.new_ones(q.size(2), k.size(2)).tril()
    y = F.scaled_dot_product_attention(q, k, v, allowed, p, is_causal=causal and padding is None)
    return y.transpose(1, 2).flatten(2)


def attend_packed(
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

    Surplus rows of the result are finite and have no influence on real ones. This is the one place
    that chooses a way for a device, a type and lengths. On a CPU it is differentiable once.

    Args:
        q: (1, rows of queries, D).
        k: (1, rows of keys, D).
        v: (1, rows of keys, D).
        heads: number of heads.
        queries: the packing of q.
        keys: the packing of k and v: that of the queries, or one packed together with it.
        causal: position t attends to the positions up to t of its sentence alone.
        p: probability of dropout of the weights.

    Raises:
        RuntimeError: a sentence is not in the same block of both packings.
    """
    if queries.blocks != keys.blocks:
        raise RuntimeError("pack queries and keys together")
    here, half = q.device.type, q.itemsize < 4
    exact = not half and not torch.is_autocast_enabled(here)
    if here == "cpu" and exact and keys.block_rows <= LONGEST_BLOCK:
        return in_blocks(q, k, v, heads, queries, keys, causal, p)
    if here == "cuda" and half and p == 0:
        return by_length(q, k, v, heads, queries, keys, causal)
    return in_batches(q, k, v, heads, queries, keys, causal, p)


def in_batches(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    heads: int,
    queries: Packing,
    keys: Packing,
    causal: bool = False,
    p: float = 0.0,
) -> Tensor:
    """Return the attention of `attend_packed`, by that of padded states."""
    padding = None if causal else keys.padding
    padded = attend(queries.pad(q), keys.pad(k), keys.pad(v), heads, padding, causal, p)
    return queries.pack(padded)


def by_length(
    q: Tensor, k: Tensor, v: Tensor, heads: int, queries: Packing, keys: Packing, causal: bool
) -> Tensor:
    """Return the attention of `attend_packed`, by torch's kernel for sentences of any lengths.

    The kernel exists on CUDA in half precision, without dropout. Both packings have one block, so
    sentences follow each other.
    """
    # Importing it takes longer than importing torch.
    from torch.nn.attention.varlen import varlen_attn

    q = queries.first(q, queries.tokens).unflatten(1, (heads, -1))
    k, v = (keys.first(x, keys.tokens).unflatten(1, (heads, -1)) for x in (k, v))
    y = varlen_attn(
        q,
        k,
        v,
        queries.offsets,
        keys.offsets,
        queries.longest,
        keys.longest,
        window_size=(-1, 0) if causal else (-1, -1),
    )
    return queries.with_surplus(cast(Tensor, y).flatten(1))

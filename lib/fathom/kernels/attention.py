"""Multi-head attention of queries to keys and values that are projected already."""

import torch.nn.functional as F
from torch import Tensor

from fathom.kernels.packing import Packing


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
    q, k, v = (x.unflatten(2, (heads, -1)).transpose(1, 2) for x in (q, k, v))
    allowed = None if padding is None else padding.logical_not()[:, None, None]
    y = F.scaled_dot_product_attention(q, k, v, allowed, p, is_causal=causal)
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
    """Return the attention of packed states, (1, rows, D), each sentence to itself.

    Args:
        q: (1, rows of queries, D).
        k: (1, rows of keys, D).
        v: (1, rows of keys, D).
        heads: number of heads.
        queries: the packing of q.
        keys: the packing of k and v; in self-attention that of the queries.
        causal: as in `attend`.
        p: probability of dropout of the weights.
    """
    padding = None if causal or keys.full else keys.padding
    padded = attend(queries.pad(q), keys.pad(k), keys.pad(v), heads, padding, causal, p)
    return queries.pack(padded)

"""Attention of packed states: each sentence to itself, or to its own source."""

import torch
import torch.nn.functional as F
from torch import Tensor

from fathom.kernels.packing import Packing
from fathom.kernels.padded_attention import attend, is_fused, weighted


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

    Surplus rows of the result are finite and have no influence on anything else.

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
    if q.device.type == "cpu":
        return in_blocks(q, k, v, heads, queries, keys, causal, p)
    if q.itemsize == 2 and p == 0:
        return by_length(q, k, v, heads, queries, keys, causal)
    return in_batches(q, k, v, heads, queries, keys, causal, p)


def in_blocks(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    heads: int,
    queries: Packing,
    keys: Packing,
    causal: bool,
    p: float,
) -> Tensor:
    """Return the attention of `attend_packed` by masks inside blocks."""
    q = _of_blocks(q, queries, heads)  # (blocks · h, L, d)
    k, v = (_of_blocks(x, keys, heads) for x in (k, v))
    bias = _block_bias(queries, keys, heads, causal, q.dtype)
    if is_fused(q.device, q.dtype, keys.block_rows):
        y = F.scaled_dot_product_attention(q[None], k[None], v[None], bias, p).squeeze(0)
    else:
        y = weighted(q, k, v, bias, p)
    return _with_surplus(y.transpose(0, 1).reshape(-1, heads * y.size(-1)), queries)


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
    """Return the attention of `attend_packed` of padded states."""
    padding = None if causal else keys.padding
    padded = attend(queries.pad(q), keys.pad(k), keys.pad(v), heads, padding, causal, p)
    return queries.pack(padded)


def by_length(
    q: Tensor, k: Tensor, v: Tensor, heads: int, queries: Packing, keys: Packing, causal: bool
) -> Tensor:
    """Return the attention of `attend_packed` by torch's kernel for sentences of any lengths.

    It exists on CUDA in half precision, without dropout. The packings have one block, so sentences
    follow each other.
    """
    # Importing it takes longer than importing torch.
    from torch.nn.attention.varlen import varlen_attn

    q = q[0, : queries.tokens].unflatten(1, (heads, -1))
    k, v = (x[0, : keys.tokens].unflatten(1, (heads, -1)) for x in (k, v))
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
    return _with_surplus(y.flatten(1), queries)


def _with_surplus(y: Tensor, packing: Packing) -> Tensor:
    """Return the first rows (n, D) of a packing with zeros after them, (1, rows, D)."""
    surplus = packing.rows - len(y)
    return (F.pad(y, (0, 0, 0, surplus)) if surplus else y).unsqueeze(0)


def _of_blocks(x: Tensor, packing: Packing, heads: int) -> Tensor:
    """Return rows (1, rows, D) as (blocks · h, L, d)."""
    rows = packing.block_rows * len(packing.blocks)
    return x[0, :rows].reshape(packing.block_rows, len(packing.blocks) * heads, -1).transpose(0, 1)


def _block_bias(
    queries: Packing, keys: Packing, heads: int, causal: bool, dtype: torch.dtype
) -> Tensor:
    """Return −∞ at pairs of different sentences and at later keys, (blocks · h, L, L).

    It is made once for all layers. A surplus query attends to all rows of its block, since a row
    without any key would be NaN.
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


def _grid(per_row: Tensor, packing: Packing) -> Tensor:
    """Return what rows have, (rows,), as (blocks, L)."""
    rows = packing.block_rows * len(packing.blocks)
    return per_row[:rows].view(packing.block_rows, len(packing.blocks)).t()

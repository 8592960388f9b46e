"""Attention as its formula is written, and packed states that are held to it."""

import math
from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from fathom.nn.attention import PackedAttention
from fathom.nn.packing import Packing, assigned

D, HEADS = 8, 2
# From the packings of queries and keys, causality and dropout.
packed = partial(PackedAttention, HEADS)
# Types, and how far sums of them may be from the formula's.
EXACT = [(torch.float64, 1e-14), (torch.float32, 1e-6)]
# (lengths, width): ragged, one token, one sentence, equal lengths, equal lengths with padding.
CASES = (((5, 2, 7, 1), 7), ((1,), 1), ((6,), 6), ((4, 4, 4), 4), ((3, 3), 5), ((1, 1, 1), 1))


def padding_of(lengths: tuple[int, ...], width: int) -> Tensor:
    """Return (B, T), true at padding."""
    return torch.arange(width) >= torch.tensor(lengths).unsqueeze(1)


def formula(q: Tensor, k: Tensor, v: Tensor, hidden: Tensor) -> Tensor:
    """Return softmax(q kᵀ / √d) v, where `hidden` is true at pairs that do not attend."""
    parts = []
    for head in range(HEADS):
        columns = slice(head * D // HEADS, (head + 1) * D // HEADS)
        scores = q[..., columns] @ k[..., columns].mT / math.sqrt(D // HEADS)
        parts.append(scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v[..., columns])
    return torch.cat(parts, -1)


def gradients(y: Tensor, inputs: list[Tensor]) -> tuple[Tensor, ...]:
    """Return the gradients of a random sum of y, the same one at each call."""
    draws = torch.Generator().manual_seed(2)
    return torch.autograd.grad(y, inputs, torch.randn(y.shape, generator=draws).to(y.dtype))


def packings(
    lengths: Sequence[int], causal: bool, multiple: int = 1, in_blocks: bool = True
) -> tuple[Packing, Packing]:
    """Return the packings of queries and of keys of other lengths; if causal, the same one."""
    others = lengths if causal else [length % 4 + 2 for length in lengths]
    blocks = assigned(list(zip(lengths, others, strict=True)), in_blocks)
    rows, columns = (
        Packing(side, max(side) + 1, multiple, blocks, torch.device("cpu"))
        for side in (lengths, others)
    )
    return rows, rows if causal else columns


def drawn(rows: Packing, columns: Packing, dtype: torch.dtype) -> list[Tensor]:
    """Return queries, keys and values, which take gradients."""
    draws = torch.Generator().manual_seed(1)
    return [
        torch.randn(1, packing.rows, D, generator=draws, dtype=torch.float64)
        .to(dtype)
        .requires_grad_()
        for packing in (rows, columns, columns)
    ]


def real(x: Tensor, packing: Packing) -> Tensor:
    """Return the real rows."""
    return x[:, packing.places]


def apart(rows: Packing, columns: Packing, causal: bool) -> Tensor:
    """Return (tokens, tokens), true between different sentences and, if causal, at later ones."""
    row, column = (packing.sentences[packing.places] for packing in (rows, columns))
    hidden = row[:, None] != column
    if causal:
        place = rows.positions[rows.places]
        hidden |= place[:, None] < place
    return hidden


def check(
    attend: Callable[..., Tensor],
    rows: Packing,
    columns: Packing,
    causal: bool,
    exact: tuple[torch.dtype, float],
) -> None:
    """Hold the attention of packed states to the formula: values and gradients of real rows.

    Surplus rows of the gradients are zero, as in the formula, which does not read them.
    """
    dtype, atol = exact
    q, k, v = inputs = drawn(rows, columns, dtype)
    ours = attend(q, k, v, packed(rows, columns, causal))
    assert ours.shape == q.shape
    assert ours.isfinite().all()
    ours = real(ours, rows)
    theirs = (real(q, rows), real(k, columns), real(v, columns))
    theirs = formula(*theirs, apart(rows, columns, causal))
    torch.testing.assert_close(ours, theirs, rtol=0, atol=atol)
    torch.testing.assert_close(
        gradients(ours, inputs), gradients(theirs, inputs), rtol=0, atol=4 * atol
    )

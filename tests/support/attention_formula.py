"""Attention as its formula is written, head by head."""

import math

import torch
from torch import Tensor

D, HEADS = 8, 2
# Types, and how far sums of them may be from the formula's.
EXACT = [(torch.float64, 1e-14), (torch.float32, 1e-6)]


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

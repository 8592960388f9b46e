"""Batches with padding on the right, and their edge cases."""

import torch
from torch import Tensor

# (lengths, width): ragged, one token, one sentence, equal lengths, equal lengths with padding.
CASES = (((5, 2, 7, 1), 7), ((1,), 1), ((6,), 6), ((4, 4, 4), 4), ((3, 3), 5), ((1, 1, 1), 1))


def padding_of(lengths: tuple[int, ...], width: int) -> Tensor:
    """Return (B, T), true at padding."""
    return torch.arange(width) >= torch.tensor(lengths).unsqueeze(1)

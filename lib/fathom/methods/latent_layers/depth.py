"""How many layers of a stack with gates each task uses."""

import torch
from torch import Tensor

from fathom.models.hooks import UNDECIDED, Depth


def hard_gates(alpha: Tensor, threshold: float) -> Tensor:
    """Return 1 where q(z = 1) = σ(alpha) ≥ threshold and 0 elsewhere, (N, L)."""
    return (torch.sigmoid(alpha) >= threshold).to(alpha.dtype)


def depth_of(alpha: Tensor, threshold: float) -> Depth:
    """Return how many layers each task uses, by hard gates and by probability.

    Args:
        alpha: (N, L) the logits, without a gradient.
        threshold: the probability from which a hard gate is open.
    """
    alpha = alpha.cpu()
    counts = hard_gates(alpha, threshold).sum(dim=1).int().tolist()
    return Depth(
        effective_depth=sum(counts) / len(counts),
        by_task=tuple(counts),
        sum_p=torch.sigmoid(alpha).sum(dim=1).mean().item(),
        mean_abs_alpha=alpha.abs().mean().item(),
        undecided_share=(alpha.abs() < UNDECIDED).float().mean().item(),
        layers=alpha.size(1),
    )

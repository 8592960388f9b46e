"""How deep a stack is whose layers have gates with logits."""

import torch
from torch import Tensor

from fathom.models.hooks import Depth

# A gate with a smaller logit has p within 0.025 of ½, and its hard choice means little.
UNDECIDED = 0.1


def hard_gates(alpha: Tensor, threshold: float) -> Tensor:
    """Return 1 where q(z = 1) = σ(alpha) ≥ threshold, else 0; at ½, 1 where alpha is 0.

    Args:
        alpha: (N, L) the logits.
        threshold: a probability.
    """
    return (torch.sigmoid(alpha) >= threshold).to(alpha.dtype)


def depth_of(alpha: Tensor, threshold: float) -> Depth:
    """Return how deep the stack is for each task, by hard gates and by probability.

    Args:
        alpha: (N, L) the logits, without a gradient.
        threshold: of the hard gates, a probability.
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

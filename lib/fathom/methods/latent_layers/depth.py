"""How many layers of a stack with gates each task uses."""

import torch
from torch import Tensor

from fathom.nn.hooks import Depth


def hard_gates(alpha: Tensor, threshold: float, at_least: int = 0) -> Tensor:
    """Return 1 where q(z = 1) = σ(alpha) ≥ threshold and 0 elsewhere, (N, L).

    Args:
        alpha: (N, L) the logits.
        threshold: the probability from which a gate is open.
        at_least: gates of a task that are open in any case, the likeliest; of equals the lowest.
    """
    order = alpha.argsort(dim=1, descending=True, stable=True)
    likeliest = torch.zeros_like(alpha).scatter(1, order[:, :at_least], 1.0)
    return torch.maximum((torch.sigmoid(alpha) >= threshold).to(alpha.dtype), likeliest)


def depth_of(alpha: Tensor, threshold: float) -> Depth:
    """Return how many layers each task uses, by hard gates and by probability.

    Layers that a decoding keeps in any case (`decoding.hard_at_least`) do not count.

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
    )

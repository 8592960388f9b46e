"""The objective of an update: the label-smoothed NLL, and the methods' losses.

`(1/T) Σ NLL + Σ weight · loss`, with T the target tokens of the update over all micro-batches and
processes; NLL and losses are in nats.
"""

import torch
from torch import Tensor

from fathom.models.hooks import Loss
from fathom.models.nll import log_probabilities, summed


def token_losses(
    logits: Tensor, target: Tensor, padding: int, smoothing: float
) -> tuple[Tensor, Tensor]:
    """Return the sums over target tokens of the label-smoothed loss and of the NLL.

    As in fairseq, the target has the probability 1 − ε, and each of the other V − 1 pieces
    ε / (V − 1).

    Args:
        logits: (B, T, V).
        target: (B, T), padded.
        padding: the index that is left out.
        smoothing: ε.
    """
    log_probability, real = log_probabilities(logits, target, padding)
    nll = summed(log_probability, real)
    if smoothing == 0:
        return nll, nll
    spread = smoothing / (log_probability.size(-1) - 1)
    total = -log_probability.sum()
    return (1 - smoothing - spread) * nll + spread * total, nll


def total(smoothed: Tensor, update_tokens: int, extra: Tensor | None) -> Tensor:
    """Return a micro-batch's part of the update's objective.

    Args:
        smoothed: the sum of the micro-batch's token losses.
        update_tokens: target tokens of the update, T.
        extra: the weighted losses of the methods, for one micro-batch of the update only.
    """
    part = smoothed / update_tokens
    return part if extra is None else part + extra


def weighted(losses: dict[str, Loss]) -> Tensor | None:
    """Return the weighted sum of the methods' losses; None if there are none."""
    terms = [loss.weight * loss.value for loss in losses.values() if loss.weight != 0]
    return torch.stack(terms).sum() if terms else None

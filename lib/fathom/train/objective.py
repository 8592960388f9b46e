"""The objective of an update: the label-smoothed NLL, and the methods' losses.

`(1/T) Σ NLL + Σ weight · loss`, with T the target tokens of the update over all micro-batches and
processes; NLL and losses are in nats.
"""

import torch
from torch import Tensor

from fathom.nn.hooks import Loss


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

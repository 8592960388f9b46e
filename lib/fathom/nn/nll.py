"""Negative log-likelihood (NLL) in nats: of one batch, and of held-out text by task."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from fathom.nn.network import Examples, Network, Predicted


@dataclass(frozen=True, eq=False)
class Sums:
    """NLL and tokens of N tasks.

    Attributes:
        nats: (N,) summed NLL of each task's targets, float64.
        tokens: (N,) number of these targets, float64: the mean of a task without targets is NaN.
    """

    nats: Tensor
    tokens: Tensor


def token_nll(predicted: Predicted) -> Tensor:
    """Return the NLL of each target, (tokens,), in float32 at least."""
    logits, target, _ = predicted
    logits = logits[: len(target)]
    # Half precision is too coarse for a sum over the vocabulary.
    logits = logits.float() if logits.itemsize < 4 else logits
    return F.cross_entropy(logits, target, reduction="none")


@torch.no_grad()
def by_task(network: Network, batches: Iterable[Examples], tasks: int) -> Sums:
    """Return the NLL of texts by task, in evaluation mode and without label smoothing.

    Nothing random is drawn; afterwards the network is in the mode in which it was before.

    Args:
        network: its gates are set.
        batches: each text once.
        tasks: number of tasks, N.
    """
    training = network.training
    network.eval()
    device = next(network.parameters()).device
    nats = torch.zeros(tasks, dtype=torch.float64, device=device)
    tokens = torch.zeros_like(nats)
    for batch in batches:
        predicted = network.predict(batch.to(device))
        nats.index_add_(0, predicted.tasks, token_nll(predicted).double())
        tokens += predicted.tasks.bincount(minlength=tasks)
    network.train(training)
    return Sums(nats.cpu(), tokens.cpu())

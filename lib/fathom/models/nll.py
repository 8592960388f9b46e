"""Negative log-likelihood (NLL) in nats: of a batch's targets, and of whole texts by task."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, Self

import torch
import torch.nn.functional as F
from torch import Tensor

from fathom.models.network import Network


class Examples(Protocol):
    """B texts of any tasks: (B, …) input and targets, and the index of each text's task, (B,)."""

    source: Tensor
    previous_target: Tensor
    target: Tensor
    tasks: Tensor

    def to(self, device: torch.device | str) -> Self:
        """Return the texts on a device."""


@dataclass(frozen=True, eq=False)
class Sums:
    """NLL and tokens of N tasks.

    Attributes:
        nats: (N,) summed NLL of each task's targets, float64.
        tokens: (N,) how many they are, float64 too, so that a task without any has no mean.
    """

    nats: Tensor
    tokens: Tensor


def log_probabilities(logits: Tensor, target: Tensor, padding: int) -> tuple[Tensor, Tensor]:
    """Return log-probabilities at the targets that count, (tokens, V), and the targets, (tokens,).

    Args:
        logits: (B, T, V).
        target: (B, T), padded.
        padding: the index that does not count.
    """
    real = target.ne(padding)
    logits = logits[real]  # (tokens, V)
    # Half precision is too coarse for a sum over the vocabulary; float64 stays.
    logits = logits.float() if logits.itemsize < 4 else logits
    return F.log_softmax(logits, dim=-1), target[real]


def summed(log_probability: Tensor, target: Tensor) -> Tensor:
    """Return the summed NLL of targets, from `log_probabilities`."""
    return -log_probability.gather(1, target.unsqueeze(1)).sum()


@torch.no_grad()
def by_task(network: Network, batches: Iterable[Examples], tasks: int, padding: int) -> Sums:
    """Return the NLL of texts under a network in evaluation, without smoothing, by task.

    Nothing random is drawn; the network is left as it was, in training or in evaluation.

    Args:
        network: with the gates that it shall use.
        batches: each text once.
        tasks: N.
        padding: the index of a target that does not count.
    """
    training = network.training
    network.eval()
    device = next(network.parameters()).device
    nats = torch.zeros(tasks, dtype=torch.float64)
    tokens = torch.zeros(tasks, dtype=torch.float64)
    for batch in batches:
        here = batch.to(device)
        logits = network(here.source, here.previous_target, here.tasks)
        for task in batch.tasks.unique().tolist():
            mine = here.tasks == task
            found = log_probabilities(logits[mine], here.target[mine], padding)
            nats[task] += summed(*found).item()
            tokens[task] += len(found[1])
    network.train(training)
    return Sums(nats, tokens)

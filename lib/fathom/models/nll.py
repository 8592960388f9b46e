"""Negative log-likelihood (NLL) in nats: of one batch, and of held-out text by task."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, Self

import torch
import torch.nn.functional as F
from torch import Tensor

from fathom.models.network import Network


class Examples(Protocol):
    """B texts of any tasks, which nothing here changes."""

    @property
    def source(self) -> Tensor:
        """The input, (B, S)."""
        ...

    @property
    def previous_target(self) -> Tensor:
        """The target shifted by one, (B, T), where the network has a decoder."""
        ...

    @property
    def target(self) -> Tensor:
        """What is predicted, (B, T)."""
        ...

    @property
    def tasks(self) -> Tensor:
        """The index of each text's task, (B,)."""
        ...

    def to(self, device: torch.device | str) -> Self:
        """Return the texts on a device."""
        ...


@dataclass(frozen=True, eq=False)
class Sums:
    """NLL and tokens of N tasks.

    Attributes:
        nats: (N,) summed NLL of each task's targets, float64.
        tokens: (N,) number of these targets, float64: the mean of a task without targets is NaN.
    """

    nats: Tensor
    tokens: Tensor


def log_probabilities(logits: Tensor, target: Tensor, padding: int) -> tuple[Tensor, Tensor]:
    """Return the log-probabilities (tokens, V) at all targets but padding, and these (tokens,).

    Args:
        logits: (B, T, V).
        target: (B, T), padded.
        padding: the index that is left out.
    """
    real = target.ne(padding)
    logits = logits[real]  # (tokens, V)
    # Half precision is too coarse for a sum over the vocabulary.
    logits = logits.float() if logits.itemsize < 4 else logits
    return F.log_softmax(logits, dim=-1), target[real]


def summed(log_probability: Tensor, target: Tensor) -> Tensor:
    """Return the summed NLL of the targets; both arguments come from `log_probabilities`."""
    return -log_probability.gather(1, target.unsqueeze(1)).sum()


@torch.no_grad()
def by_task(network: Network, batches: Iterable[Examples], tasks: int, padding: int) -> Sums:
    """Return the NLL of texts by task, in evaluation mode and without label smoothing.

    Nothing random is drawn; afterwards the network is in the mode in which it was before.

    Args:
        network: its gates are set.
        batches: each text once.
        tasks: number of tasks, N.
        padding: the index that is left out of the targets.
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
            rows = here.tasks == task
            log_probability, target = log_probabilities(logits[rows], here.target[rows], padding)
            nats[task] += summed(log_probability, target).item()
            tokens[task] += len(target)
    network.train(training)
    return Sums(nats, tokens)

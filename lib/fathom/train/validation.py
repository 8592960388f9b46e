"""Validation: NLL in nats a token, without label smoothing."""

from dataclasses import dataclass

from fathom.nn import nll
from fathom.nn.network import Network
from fathom.train.batches.fused import Batch


@dataclass(frozen=True)
class Validation:
    """NLL in nats a token over all validation targets, and by task index."""

    nll: float
    by_task: tuple[float, ...]


def validate(network: Network, batches: list[Batch], tasks: int) -> Validation:
    """Return the validation NLL; nothing random is drawn.

    Args:
        network: with its gates for inference set.
        batches: every validation text once.
        tasks: number of tasks, N.
    """
    sums = nll.by_task(network, batches, tasks)
    by_task = (sums.nats / sums.tokens).tolist()
    return Validation(float(sums.nats.sum() / sums.tokens.sum()), tuple(by_task))

"""Validation: NLL in nats a token, without label smoothing, with noise-free gates."""

from dataclasses import dataclass

from fathom.batches.fused import Batch
from fathom.batches.tensors import PAD
from fathom.models import nll
from fathom.models.network import Network


@dataclass(frozen=True)
class Validation:
    """NLL in nats a token over all validation targets, and by task index."""

    nll: float
    by_task: tuple[float, ...]


def validate(network: Network, batches: list[Batch], tasks: int) -> Validation:
    """Return the validation NLL with the gates that the network uses; nothing random is drawn.

    Args:
        network: put into evaluation, and back into training.
        batches: every validation text once.
        tasks: N.
    """
    found = nll.by_task(network, batches, tasks, PAD)
    by_task = (found.nats / found.tokens).tolist()
    return Validation(float(found.nats.sum() / found.tokens.sum()), tuple(by_task))

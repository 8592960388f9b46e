"""Validation: NLL in nats a token, without label smoothing, with noise-free gates."""

from dataclasses import dataclass

import torch

from fathom.batches.fused import Batch
from fathom.batches.tensors import PAD
from fathom.models.network import Network
from fathom.training import objective


@dataclass(frozen=True)
class Validation:
    """NLL in nats a token over all validation targets, and by task index."""

    nll: float
    by_task: tuple[float, ...]


@torch.no_grad()
def validate(network: Network, batches: list[Batch], tasks: int) -> Validation:
    """Return the validation NLL; gates are soft, and nothing random is drawn.

    Args:
        network: put into evaluation, and back into training.
        batches: every validation sentence once.
        tasks: N.
    """
    network.eval()
    device = next(network.parameters()).device
    nll = torch.zeros(tasks, dtype=torch.float64)
    tokens = torch.zeros(tasks, dtype=torch.float64)
    for batch in batches:
        here = batch.to(device)
        logits = network(here.source, here.previous_target, here.tasks)
        for task in batch.tasks.unique().tolist():
            mine = here.tasks == task
            _, total = objective.token_losses(logits[mine], here.target[mine], PAD, 0.0)
            nll[task] += total.item()
            tokens[task] += int(here.target[mine].ne(PAD).sum())
    network.train()
    by_task = (nll / tokens).tolist()
    return Validation(float(nll.sum() / tokens.sum()), tuple(by_task))

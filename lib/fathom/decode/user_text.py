"""What a trained network says of a user's text beside translations: likelihoods and states."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from fathom.decode.trained_run import TrainedRun
from fathom.nn.loss import token_nll
from fathom.nn.network import Batch


class Nll(NamedTuple):
    """The negative log-likelihood of a target sentence, its end symbol included."""

    nats: float  # summed over its tokens
    tokens: int


@torch.no_grad()
def nll_of_pairs(
    run: TrainedRun,
    gates: str,
    task: str,
    pairs: Iterable[tuple[str, str]],
    report: Callable[[str], None],
) -> list[Nll]:
    """Return the NLL of each target of pairs; `report` is that of `TrainedRun.source_ids`."""
    run.require_translating(task, gates)
    pairs = [*pairs]
    sources = run.source_ids(task, (source for source, _ in pairs), report)
    targets = run.target_ids(task, (target for _, target in pairs))
    network, number = run.network(gates), run.task(task)
    tasks, start, found = torch.tensor([number]), run.tensors.starts[number], list[Nll]()
    # Pair by pair: the numbers do not depend on which pairs there are.
    for source, target in zip(sources, targets, strict=True):
        sides = [source], [[start, *target[:-1]]], [target]
        read, previous, predicted = map(torch.tensor, sides)
        batch = Batch(read, previous, predicted, tasks, tasks, len(target))
        nats = token_nll(network.predict(batch.to(run.device))).double().sum().item()
        found.append(Nll(nats, len(target)))
    return found


@torch.no_grad()
def encoder_states(
    run: TrainedRun, gates: str, task: str, lines: Iterable[str], report: Callable[[str], None]
) -> list[np.ndarray]:
    """Return what enters the encoder's first layer and each layer's output, sentence by sentence.

    They are (layers + 1, pieces, width) in float32, before the last norm. The pieces are those that
    the encoder reads: the token of the target language if it is there, and the end symbol too.
    """
    run.require_translating(task, gates)
    network, states = run.network(gates), list[np.ndarray]()
    tasks = torch.tensor([run.task(task)], device=run.device)

    def observe(outputs: Sequence[Tensor]) -> None:
        # (1, rows, D) packed, or (S, 1, D): of one sentence both are its pieces in order.
        states.append(torch.stack([x.flatten(0, 1) for x in outputs]).cpu().numpy())

    network.stacks["encoder"].observer = observe
    try:
        for ids in run.source_ids(task, lines, report):
            network.steps(torch.tensor([ids], device=run.device), tasks)
    finally:
        network.stacks["encoder"].observer = None
    return states

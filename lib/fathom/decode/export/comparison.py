"""The network in another program, compared with ours before it is used."""

from types import ModuleType
from typing import Protocol

import torch
from torch import Tensor

from fathom.data.tensors import Pairs
from fathom.io.errors import FathomError
from fathom.nn.loss import token_nll
from fathom.nn.network import Batch, Network

# Validation pairs of a task whose targets both score, and how far two scores may differ (nats).
CHECKED, TOLERANCE = 8, 1e-5


def require_package(package: str, program: str) -> ModuleType:
    """Return an optional package, or refuse where it is not installed or cannot be loaded."""
    try:
        return __import__(package)
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == package
        what = "not installed" if missing else f"it cannot be loaded ({error})"
        raise FathomError(what, program, f"run `make {package}`") from None


class Program(Protocol):
    """A program with the network of a task."""

    name: str  # in messages
    remedy: str  # what to do where it computes something else

    def log_probabilities(self, source: Tensor, target: Tensor, start: int) -> Tensor:
        """Return the log-probability of each piece of a target, (T,).

        Source (S,) and target (T,) have their end symbols; the decoder reads `start` first.
        """
        ...


def require_equal(program: Program, network: Network, task: int, pairs: Pairs, where: str) -> None:
    """Compare the log-probabilities of real targets, from the shortest to the longest.

    A difference above TOLERANCE is refused, and a text without a pair of two full sentences.
    """
    complete = (pairs.source_lengths > 1) & (pairs.target_lengths > 1)
    order = sorted(complete.nonzero()[0].tolist(), key=pairs.target_lengths.__getitem__)
    if not order:
        what = f"no validation text to check {program.name} with"
        raise FathomError(what, where, program.remedy)
    chosen = {order[place * (len(order) - 1) // (CHECKED - 1)] for place in range(CHECKED)}
    worst = 0.0
    for number in sorted(chosen):
        source, target = pairs.source(number), pairs.target(number)
        ours = _log_probabilities(network, task, source, target, pairs.start)
        theirs = program.log_probabilities(source, target, pairs.start)
        difference = (ours - theirs).abs().max()
        worst = max(worst, float(difference.nan_to_num(torch.inf)))
    if not worst <= TOLERANCE:
        what = f"the log-probabilities of {program.name} differ by {worst:.1g} nats"
        raise FathomError(f"{what}, more than {TOLERANCE}", where, program.remedy)


@torch.no_grad()
def _log_probabilities(
    network: Network, task: int, source: Tensor, target: Tensor, start: int
) -> Tensor:
    """Return what our network gives each piece of a target, (T,)."""
    previous = target.roll(1)
    previous[0] = start
    source, previous, rows = (side[None].long() for side in (source, previous, target))
    # The sentence's number in its split is not used.
    tasks, sentences = torch.tensor([task]), torch.zeros(1, dtype=torch.long)
    batch = Batch(source, previous, rows, tasks, sentences, len(target))
    predicted = network.predict(batch.to(next(network.parameters()).device))
    return -token_nll(predicted).cpu()

"""Who makes updates: ours, and fairseq's layers in three ways of passing a batch.

A contender returns a function that makes the update of a number, from 1. Its batches are made
before, so that no contender pays for data.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch

from benchmarks.peer.latent_example import LatentExample
from benchmarks.peer.stock import CUTS, Stock, cut_all, languages, transformer
from benchmarks.peer.workload import SEED, Shape, Workload
from fathom.config.spec import Spec
from fathom.methods.build import build
from fathom.train.update_batches import MicroBatches
from tests.reference.padded.networks import padded_predict

OURS, REFERENCE = "fathom", "fathom, fairseq's layers"
ONE_PASS, HALVES, LANGUAGES = (f"fairseq, {cut}" for cut in CUTS)
EXAMPLE = "fairseq's latent_depth example"
Update = Callable[[int], object]


@dataclass(frozen=True)
class Job:
    """What all contenders do: the same updates of the same batches.

    Attributes:
        workload: text and device.
        spec: the run.
        batches: of the updates, from the first.
    """

    workload: Workload
    spec: Spec
    batches: Sequence[MicroBatches]

    @property
    def tokens(self) -> list[int]:
        """Target tokens of each update."""
        return [batch.tokens for batch in self.batches]


def job(workload: Workload, shape: Shape, updates: int) -> Job:
    """Return the first updates of a shape's run."""
    spec = workload.spec(shape)
    return Job(workload, spec, workload.updates(workload.training(spec), updates))


def ours(job: Job) -> Update:
    """Return our update, as `fathom train` makes it."""
    two_level = job.workload.training(job.spec).two_level
    return lambda number: two_level.update(number, job.batches[number - 1])


def reference(job: Job) -> Update:
    """Return our update with fairseq's layers on padded states."""
    two_level = job.workload.training(job.spec).two_level
    two_level.network.predict = partial(padded_predict, two_level.network)
    return lambda number: two_level.update(number, job.batches[number - 1])


def stock_network(job: Job) -> Stock:
    """Return fairseq's network, which starts from the weights that ours starts from."""
    text = job.workload.tensors
    torch.manual_seed(SEED)
    dictionaries = text.source_dictionary, text.target_dictionary
    own = build(job.spec.model, job.spec.method, len(text.tasks), *dictionaries)
    network = transformer(job.spec.model, text, own.state_dict())
    return Stock(network.to(job.workload.device), job.spec)


def stock(job: Job, cut: str) -> Update:
    """Return fairseq's update.

    Args:
        job: the updates.
        cut: the name of its passes in `CUTS`.
    """
    peer, tokens = stock_network(job), job.tokens
    passes = [cut_all(batch, CUTS[cut]) for batch in job.batches]

    def update(number: int) -> None:
        torch.manual_seed(number)
        peer.update(number, passes[number - 1], tokens[number - 1])

    return update


def example(job: Job) -> Update:
    """Return the update of fairseq's own example of latent depth, a pass a language.

    It has latent layers in one stack: in the encoder many-to-one, in the decoder one-to-many.
    """
    text = job.workload.tensors
    peer = LatentExample(job.spec, text, job.workload.device)
    passes = [cut_all(batch, languages) for batch in job.batches]
    tokens = job.tokens

    def update(number: int) -> None:
        torch.manual_seed(number)
        peer.update(number, passes[number - 1], tokens[number - 1])

    return update


def named(job: Job, name: str) -> Update:
    """Return a contender of this process by its name in tables."""
    makers: dict[str, Callable[[Job], Update]] = {
        OURS: ours,
        REFERENCE: reference,
        EXAMPLE: example,
    }
    makers |= {f"fairseq, {cut}": lambda job, cut=cut: stock(job, cut) for cut in CUTS}
    return makers[name](job)

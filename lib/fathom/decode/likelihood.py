"""How well a training predicts held-out text: NLL in nats, perplexity, by task and over all tokens.

A network with a decoder predicts the target sentences of pairs, a masked language model the hidden
pieces of blocks. A task whose gates leave a stack without a layer predicts nothing. fairseq prints
bits and 2^bits, others nats and e^nats: the perplexity is the same. Over all tasks each token
counts once, so that it is not the mean of the tasks' perplexities.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from fathom.decode.trained_run import TrainedRun
from fathom.io.errors import FathomError
from fathom.nn.cpu import choose_matmul_precision
from fathom.nn.loss import nll_by_task
from fathom.results.measurements import NO_LAYER, Measurements, Number, Record
from fathom.train.batches.held_out import held_out


@dataclass(frozen=True)
class Likelihood:
    """What a training predicts of a split."""

    nats: dict[str, float]  # summed NLL of each task's predicted tokens
    tokens: dict[str, int]  # how many they are, by task
    no_layer: tuple[str, ...]  # the tasks without any layer, which are in neither


def likelihood(run: TrainedRun, split: str, gates: str) -> Likelihood:
    """Return what a finished training predicts of a split; every text is predicted once."""
    run.require_finished()
    batches = held_out(run.tensors, split, run.spec)
    no_layer = run.tasks_without_layers(gates)
    network = run.network(gates).set_matmul(choose_matmul_precision(run.device))
    sums = nll_by_task(network, batches, len(run.tasks))
    nats = dict(zip(run.tasks, sums.nats.tolist(), strict=True))
    tokens = dict(zip(run.tasks, map(int, sums.tokens.tolist()), strict=True))
    for task in no_layer:
        del nats[task], tokens[task]
    return Likelihood(nats, tokens, no_layer)


def records(likelihood: Likelihood, split: str, gates: str) -> dict[str, Record]:
    """Return the records of NLL (nats per token) and perplexity of a split by key.

    Both are by task and over all tokens. Where a task has no layer there is no number over all,
    since that of fewer tasks is another quantity.
    """
    nats, tokens, no_layer = likelihood.nats, likelihood.tokens, likelihood.no_layer
    means = {task: mean(nats[task], tokens[task], task) for task in nats}
    every = sum(tokens.values())
    overall = None if no_layer or not nats else mean(math.fsum(nats.values()), every, "all tasks")
    missing = {task: NO_LAYER.format(gates) for task in no_layer}
    records_by_key: dict[str, Record] = {}
    for name, unit, number in (("nll", "nats", float), ("perplexity", None, math.exp)):
        records_by_key[f"{name}.{split}.{gates}"] = Record(
            unit=unit,
            tasks={task: Number(value=number(means[task]), n=tokens[task]) for task in means},
            all=None if overall is None else Number(value=number(overall), n=every),
            missing=missing,
        )
    return records_by_key


def table(file: Measurements) -> Iterator[str]:
    """Yield NLL and perplexity as lines of a table, columns separated by tabs: tasks, then all."""
    for key, record in file.measurements.items():
        if key.startswith("nll."):
            every = {"all": record.all} if record.all else {}
            yield "\t".join(("task", "tokens", "nats", "bits", "perplexity"))
            for task, number in (record.tasks | every).items():
                nats = number.value
                values = (nats, bits(nats), math.exp(nats))
                yield "\t".join((task, str(number.n), *(f"{value:.4f}" for value in values)))


def mean(nats: float, tokens: int, where: str) -> float:
    """Return the NLL of some tokens in nats per token; one without a perplexity is refused."""
    if tokens < 1:
        raise FathomError("no token was predicted", where, "hold more text out")
    value = nats / tokens
    # e^709 is the largest that a float holds.
    if not value < 700:
        remedy = "check the weights: a finished training has a finite one"
        raise FathomError(f"the NLL of {value} nats per token has no perplexity", where, remedy)
    return value


def bits(nats: float) -> float:
    """Return nats in bits."""
    return nats / math.log(2)

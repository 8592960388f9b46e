"""Small networks and batches that tests of several rooms share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from fathom.config.schema import run as settings
from fathom.data.tensors import PAD
from fathom.decode import contracts
from fathom.decode.contracts import ENTRIES, ExampleNetwork, sentences, shape
from fathom.decode.contracts import EOS as EOS
from fathom.decode.contracts import gradients as gradients
from fathom.nn.hooks import Method, Stack
from fathom.nn.network import Entries, Network
from fathom.nn.rnmt_plus.network import RnmtPlus
from tests.support import specs
from tests.support.specs import ROOT as ROOT
from tests.support.specs import card as card

# Tensors this small are slower with more threads, by far on a busy machine.
torch.set_num_threads(1)


def stack(name: str = "encoder", layers: int = 3, tasks: int = 2, **changes: object) -> Stack:
    """Return what a method knows of a stack of a tiny model."""
    values = {"other_layers": 3, "tasks": tasks, "width": 16, "norm": "pre", "residuals": True}
    values |= {"sources": layers + 1, "memories": 3}
    return Stack(name, layers, **(values | changes))


def method(
    name: str, stacks: tuple[str, ...] = ("encoder", "decoder"), **values: object
) -> settings.MethodSettings:
    """Return a method on some stacks, with its card's defaults and some settings of its own."""
    return specs.method(name, stacks=stacks, **values)


def network(
    chosen: settings.MethodSettings, model: settings.Model | None = None, tasks: int = 2
) -> Network:
    """Return a network whose weights do not depend on its method."""
    return contracts.network(chosen, model or shape(), tasks)


def batch(lengths: Sequence[tuple[int, int]], seed: int = 3) -> tuple[Tensor, Tensor, Tensor]:
    """Return source, previous target and target of random sentences, right-padded."""
    whole = sentences(lengths, seed=seed)
    return whole.source, whole.previous_target, whole.target


def nll(logits: Tensor, target: Tensor) -> Tensor:
    """Return the summed negative log-likelihood of real target pieces (nats)."""
    return nn.functional.cross_entropy(
        logits.flatten(0, 1), target.flatten(), ignore_index=PAD, reduction="sum"
    )


@dataclass(frozen=True)
class Made(ExampleNetwork):
    """What contracts are checked on, with a network of a test."""

    make: Callable[[], Network] | None = None

    def network(self) -> Network:
        """Return a new network."""
        return self.make()


class Dictionary(Entries):
    """A dictionary of which fairseq's generator asks a little more."""

    def unk(self) -> int:
        """Return the index of the unknown symbol."""
        return 3


def recurrent(**changes: object) -> settings.Model:
    """Return a tiny RNMT+ without dropout, of four layers a side."""
    values = {"architecture": "rnmt_plus", "encoder_layers": 4, "decoder_layers": 4, "width": 8}
    values |= {"tie_embeddings": "none", "output_bias": True}
    return shape(**(values | changes))


def recurrent_network(kind: type[Method] = Method, **changes: object) -> RnmtPlus:
    """Return an RNMT+ with a method on both sides and weights large enough to matter."""
    model, dictionary = recurrent(**changes), Dictionary(ENTRIES)
    methods = {side: kind(stack) for side, stack in RnmtPlus.describe_stacks(model, 2).items()}
    torch.manual_seed(7)
    network = RnmtPlus(model, dictionary, dictionary, methods)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if ".method." not in name:
                parameter.add_(0.5 * torch.randn_like(parameter))
    return network

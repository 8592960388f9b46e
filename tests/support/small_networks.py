"""Small networks and batches that tests of several rooms share."""

import torch
from torch import Tensor, nn

from fathom.config.schema import run as settings
from fathom.methods.build import build
from fathom.nn.hooks import Method, Stack
from fathom.nn.network import Entries, Network
from fathom.nn.rnmt_plus.network import RnmtPlus
from fathom.train.batches.collate import Batch
from tests.support import specs
from tests.support.specs import ROOT as ROOT
from tests.support.specs import card as card

PAD, EOS = 1, 2
ENTRIES = 23

# Tensors this small are slower with more threads, by far on a busy machine.
torch.set_num_threads(1)


def shape(**changes: object) -> settings.Model:
    """Return a tiny model without dropout."""
    values = {
        "architecture": "transformer",
        "encoder_layers": 3,
        "decoder_layers": 3,
        "width": 16,
        "ffn": 24,
        "heads": 4,
        "norm": "pre",
        "residuals": ("encoder", "decoder"),
        "activation": "relu",
        "dropout": 0.0,
        "attention_dropout": 0.0,
        "activation_dropout": 0.0,
        "tie_embeddings": "decoder",
    }
    return settings.Model.model_validate(values | changes)


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
    torch.manual_seed(7)
    return build(model or shape(), chosen, tasks, Entries(ENTRIES), Entries(ENTRIES))


def batch(lengths: list[tuple[int, int]], seed: int = 3) -> tuple[Tensor, Tensor, Tensor]:
    """Return source, previous target and target of random sentences, right-padded.

    `lengths` are source and target pieces of each sentence, with the end symbol.
    """
    stream = torch.Generator().manual_seed(seed)

    def side(index: int) -> Tensor:
        longest = max(pair[index] for pair in lengths)
        rows = torch.full((len(lengths), longest), PAD)
        for row, pair in zip(rows, lengths, strict=True):
            row[: pair[index] - 1] = torch.randint(4, ENTRIES, (pair[index] - 1,), generator=stream)
            row[pair[index] - 1] = EOS
        return rows

    source, target = side(0), side(1)
    previous = torch.full_like(target, PAD)
    for row, shifted, pair in zip(target, previous, lengths, strict=True):
        shifted[0] = EOS
        shifted[1 : pair[1]] = row[: pair[1] - 1]
    return source, previous, target


def sentences(lengths: list[tuple[int, int]]) -> Batch:
    """Return random sentences as training gives them, of two tasks in turns."""
    sides = batch(lengths)
    tasks = [number % 2 for number in range(len(lengths))]
    both = torch.tensor(tasks), torch.arange(len(lengths))
    tokens = sum(target for _, target in lengths)
    source_lengths, target_lengths = zip(*lengths, strict=True)
    return Batch(*sides, *both, tokens, source_lengths, target_lengths, tuple(tasks))


def nll(logits: Tensor, target: Tensor) -> Tensor:
    """Return the summed negative log-likelihood of real target pieces (nats)."""
    return nn.functional.cross_entropy(
        logits.flatten(0, 1), target.flatten(), ignore_index=PAD, reduction="sum"
    )


def gradients(module: nn.Module) -> dict[str, Tensor | None]:
    """Return each parameter's gradient by name."""
    return {name: each.grad for name, each in module.named_parameters()}


class Dictionary(Entries):
    """A dictionary of which fairseq's generator asks a little more."""

    def unk(self) -> int:
        """Return the index of the unknown symbol."""
        return 3

    def eos(self) -> int:
        """Return the index of the end symbol."""
        return EOS


def recurrent(**changes: object) -> settings.Model:
    """Return a tiny RNMT+ without dropout, of four layers a side."""
    values = {
        "architecture": "rnmt_plus",
        "encoder_layers": 4,
        "decoder_layers": 4,
        "width": 8,
        "tie_embeddings": "none",
        "output_bias": True,
    }
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

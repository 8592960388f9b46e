"""What every kind of network offers to training and decoding."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import torch
from torch import Tensor, nn

from fathom.config.schema.run import Model
from fathom.config.schema.section import STACKS
from fathom.nn.cpu import MatmulPrecision
from fathom.nn.hooks import Method, Stack
from fathom.nn.packing import Packing
from fathom.nn.stack import Observer, Steps

HIGHEST = MatmulPrecision("highest", {})


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

    @property
    def source_lengths(self) -> Sequence[int] | None:
        """Tokens of each input, B numbers; None if only the tensors know them."""

    @property
    def target_lengths(self) -> Sequence[int] | None:
        """Tokens of each target, B numbers; None if only the tensors know them."""

    @property
    def task_of_each(self) -> Sequence[int] | None:
        """The task of each text, B numbers; None if only the tensors know them."""

    @property
    def tokens(self) -> int:
        """How many targets are predicted."""
        ...

    def to(self, device: torch.device | str) -> Self:
        """Return the texts on a device."""
        ...


class Predicted(NamedTuple):
    """The logits of a batch's targets, without padding."""

    # (rows, V): first those of the targets, sentence after sentence, then padding rows.
    logits: Tensor
    target: Tensor  # (tokens,) what is predicted
    tasks: Tensor  # (tokens,) the task of each target

    @classmethod
    def of(cls, logits: Tensor, batch: Examples, packing: Packing) -> Self:
        """Return logits (rows, V) with the targets that they predict, and their tasks."""
        tasks = batch.tasks.unsqueeze(1).expand_as(batch.target)
        return cls(logits, packing.unpadded_ids(batch.target), packing.unpadded_ids(tasks))


class LayerStack(Protocol):
    """An encoder or a decoder."""

    method: Method
    layers: nn.ModuleList  # from the bottom up
    observer: Observer | None  # called with the embeddings and each layer's output

    def parameters(self) -> Iterator[nn.Parameter]:
        """Return the parameters of the layers and the method."""
        ...


class Network(nn.Module, ABC):
    """The part of a network that does not depend on its layers.

    A kind of network is a folder of nn/; the class in its network.py derives from this one. It is
    built from a `Model`, the dictionaries of source and target, and the methods by stack.
    """

    encoder: nn.Module
    decoder: nn.Module  # only where the network has one
    matmul = HIGHEST  # the precision of `predict`
    can_compile = False  # whether a compiler takes the layers

    @staticmethod
    @abstractmethod
    def describe_stacks(model: Model, tasks: int) -> dict[str, Stack]:
        """Return what a method knows of each stack, by the stack's name."""

    def steps(self, source: Tensor, tasks: Tensor) -> Steps:
        """Encode a batch; return its decoder, which a search calls position by position."""
        raise RuntimeError("a network without a decoder has no positions to decode")

    @abstractmethod
    def predict(self, batch: Examples) -> Predicted:
        """Return the logits of a batch's targets."""

    @property
    def padding(self) -> int:
        """The index of padding, the same in all dictionaries."""
        encoder: Any = self.encoder
        return encoder.dictionary.pad()

    @property
    def stacks(self) -> dict[str, LayerStack]:
        """The network's stacks by name, the encoder first."""
        children: dict[str, Any] = dict(self.named_children())
        return {name: children[name] for name in STACKS if name in children}

    @property
    def methods(self) -> dict[str, Method]:
        """The method of each stack, by the stack's name."""
        return {name: stack.method for name, stack in self.stacks.items()}

    def start_update(self, seed: int, update: int) -> None:
        """Draw everything random of an update in all methods; updates count from 1."""
        for method in self.methods.values():
            method.start_update(seed, update)

    def set_matmul(self, matmul: MatmulPrecision) -> Self:
        """Set the precision of `predict`, and return the network."""
        self.matmul = matmul
        return self

    def compile_layers(self, backend: str = "inductor") -> bool:
        """Compile what `predict` runs of each layer; return whether this kind of network can."""
        for stack in self.stacks.values() if self.can_compile else ():
            for layer in stack.layers:
                layer.forward = torch.compile(layer.forward, backend=backend)
        return self.can_compile

    def use_gates(self, gates: str, hard_at_least: int = 0) -> Self:
        """Set plain, soft or hard gates for inference, and return the network."""
        for method in self.methods.values():
            method.inference, method.hard_at_least = gates, hard_at_least
        return self


@dataclass(frozen=True)
class Entries:
    """A dictionary of V entries that has nothing but its size."""

    size: int

    def __len__(self) -> int:
        return self.size

    def pad(self) -> int:
        """Return fairseq's index of the padding symbol."""
        return 1


def count_parameters(network: nn.Module) -> dict[str, int]:
    """Return the number of parameters by part; a tensor in two places counts once.

    "total" and "trainable"; and the total's parts: "encoder" and "decoder", with the parameters of
    their methods, and "embeddings", with an output projection that is not tied.
    """
    parts = ("total", "trainable", "encoder", "decoder", "embeddings")
    counts: dict[str, int] = dict.fromkeys(parts, 0)
    for name, parameter in network.named_parameters():
        stack, part = name.split(".")[:2]
        lexical = part in ("embed_tokens", "output_projection")
        counts["embeddings" if lexical else stack] += parameter.numel()
        counts["total"] += parameter.numel()
        counts["trainable"] += parameter.numel() * parameter.requires_grad
    return counts

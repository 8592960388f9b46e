"""What every kind of network offers to training and decoding."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Protocol, Self

from torch import Tensor, nn

from fathom.models.hooks import Method, Stack
from fathom.models.stack import Observer
from fathom.models.steps import Steps
from fathom.runs.settings import Model

STACKS = ("encoder", "decoder")


class LayerStack(Protocol):
    """An encoder or a decoder.

    Attributes:
        method: what changes the layers.
        layers: the layers, from the bottom up.
        task: the task of every sentence if a call gives none.
        observer: if set, called with the embeddings and each layer's output.
    """

    method: Method
    layers: nn.ModuleList
    task: int | None
    observer: Observer | None

    def parameters(self) -> Iterator[nn.Parameter]:
        """Return the parameters of the layers and the method."""
        ...


class Network(nn.Module, ABC):
    """The part of a network that does not depend on its layers.

    A kind of network is a folder of models/; the class in its network.py derives from this one and
    from a model class of fairseq. It is built from a `Model`, the dictionaries of source and target
    and the methods by stack. Called with (source, previous_target, tasks), it returns logits,
    (B, T, V).
    """

    # fairseq's model classes set these.
    encoder: nn.Module
    decoder: nn.Module

    @staticmethod
    @abstractmethod
    def describe_stacks(model: Model, tasks: int) -> dict[str, Stack]:
        """Return what a method knows of each stack, by the stack's name.

        Args:
            model: the network's shape.
            tasks: number of tasks of the run, N.
        """

    def forward(self, source: Tensor, previous_target: Tensor, tasks: Tensor) -> Tensor:
        """Return the logits of every target position, (B, T, V).

        A network without a decoder overrides this.

        Args:
            source: (B, S) right-padded.
            previous_target: (B, T) the target shifted by one, right-padded.
            tasks: (B,) the task of each sentence.
        """
        memory = self.encoder(source, tasks=tasks)
        return self.decoder(previous_target, encoder_out=memory, tasks=tasks)[0]

    def steps(self, source: Tensor, tasks: Tensor) -> Steps:
        """Encode a batch; return its decoder, which a search calls position by position.

        A network without a decoder has none.

        Args:
            source: (B, S) right-padded.
            tasks: (B,) the task of each sentence.
        """
        raise RuntimeError("a network without a decoder has no positions to decode")

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

    def for_task(self, task: int) -> Self:
        """Set the task of all sentences whose caller gives none, and return the network.

        fairseq's generator passes no tasks, so that it translates one task at a time.
        """
        for stack in self.stacks.values():
            stack.task = task
        return self

    def use_gates(self, gates: str, hard_at_least: int = 0) -> Self:
        """Set the gates for inference, and return the network.

        Args:
            gates: "plain", "soft" or "hard".
            hard_at_least: layers that hard gates keep at least for a task, the likeliest first.
        """
        for method in self.methods.values():
            method.inference, method.hard_at_least = gates, hard_at_least
        return self

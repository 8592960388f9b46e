"""What every kind of network offers to training and decoding, whatever its layers are."""

from abc import ABC, abstractmethod
from typing import Protocol, Self

from torch import Tensor

from fathom.models.hooks import Method, Stack
from fathom.runs.spec import Model


class TaskStack(Protocol):
    """A stack of layers with its method.

    Attributes:
        method: what is done to the layers.
        task: the task of every sentence, where a call does not say.
    """

    method: Method
    task: int | None


class Network(ABC):
    """The part of a network that does not depend on its layers.

    A kind of network is the class in models/<architecture>.py that derives from this one and from
    a model class of fairseq. It is built from a `Model`, the dictionary of each side, and the
    method of each stack by side; called with (source, previous_target, tasks), it returns logits,
    (B, T, V).
    """

    @staticmethod
    @abstractmethod
    def stacks(model: Model, tasks: int) -> dict[str, Stack]:
        """Return what a method is told of each stack, by side.

        Args:
            model: the network's shape.
            tasks: tasks of the run, N.
        """

    @property
    def sides(self) -> dict[str, TaskStack]:
        """The stacks that there are, by side."""
        named = dict(self.named_children())
        return {side: named[side] for side in ("encoder", "decoder") if side in named}

    @property
    def methods(self) -> dict[str, Method]:
        """The method of each side."""
        return {side: stack.method for side, stack in self.sides.items()}

    def start_update(self, seed: int, update: int) -> None:
        """Draw what is random in an update's gates, on all sides; updates count from 1."""
        for method in self.methods.values():
            method.start_update(seed, update)

    def for_task(self, task: int) -> Self:
        """Make `task` the task of every sentence whose caller does not say, and return the network.

        fairseq's generator does not pass tasks on, so it translates one task at a time.
        """
        for stack in self.sides.values():
            stack.task = task
        return self

    def use_gates(self, gates: str) -> Self:
        """Choose "plain", "soft" or "hard" gates for inference, and return the network."""
        for method in self.methods.values():
            method.inference = gates
        return self


def tasks_of(tokens: Tensor, tasks: Tensor | None, task: int | None) -> Tensor:
    """Return the task of each sentence, (B,).

    Args:
        tokens: (B, T) the batch.
        tasks: (B,) where the caller knows.
        task: the one task of all sentences, where it does not.

    Raises:
        RuntimeError: neither was given.
    """
    if tasks is not None:
        return tasks
    if task is None:
        raise RuntimeError("give the tasks of the sentences, or call for_task first")
    return tokens.new_full((tokens.size(0),), task)

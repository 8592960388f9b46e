"""What the stacks of all networks share: the loop over layers, and the decoder step by step."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Protocol

import torch
from torch import Tensor, nn

from fathom.config.schema.run import Model
from fathom.nn.hooks import Method

# Adds a sub-layer's output to its input: (part, x, fx) → x + fx, or what a method makes of it.
Residual = Callable[[str, Tensor, Tensor], Tensor]
Observer = Callable[[Sequence[Tensor]], None]


class DictionaryLike(Protocol):
    """What a stack needs of a dictionary; fairseq's has it."""

    def __len__(self) -> int: ...

    def pad(self) -> int:
        """Return the padding symbol's index."""
        ...


def run_layers(
    method: Method,
    layers: Iterable[nn.Module],
    outputs: list[Tensor],
    call: Callable[[int, nn.Module, Tensor], Tensor],
    always: Collection[int] = (),
) -> None:
    """Run the layers of a stack from the bottom up, with the hooks of its method.

    A method that overrides none of the four hooks of this loop costs nothing: the layers run
    straight through. Outputs begin with the embeddings, (T, B, D). `call` is from number, layer and
    input to the layer's output. `always` run even where the method skips them, because the layers
    above need more of them than their output.
    """
    if not method.overrides("source", "keep", "block", "after"):
        for number, layer in enumerate(layers):
            outputs.append(call(number, layer, outputs[-1]))
        return
    for number, layer in enumerate(layers):
        x = method.source(number, outputs)
        keep = method.keep(number)
        if keep or number in always:
            y = call(number, layer, x)
        if keep:
            x = method.after(number, method.block(number, x, y))
        outputs.append(x)


def residual(model: Model, method: Method, layer: int) -> Residual:
    """Return how a layer adds its sub-layers' outputs; in a stack without residuals, to 0."""
    if method.stack.name not in model.residuals:
        return lambda part, x, fx: method.residual(layer, part, x.new_zeros(()), fx)
    # One function for all layers: a compiler makes code for each number that it meets.
    return partial(method.residual, layer) if method.overrides("residual") else _plain


def _plain(part: str, x: Tensor, fx: Tensor) -> Tensor:
    return x + fx


def apply_once(function: Callable[[Tensor], Tensor], tensors: list[Tensor]) -> list[Tensor]:
    """Apply a function to each tensor of a list; a tensor that occurs twice is computed once."""
    distinct = {id(tensor): tensor for tensor in tensors}
    results = {key: function(tensor) for key, tensor in distinct.items()}
    return [results[id(tensor)] for tensor in tensors]


class Steps(ABC):
    """The decoder of a batch of sentences, which has read their hypotheses up to some position.

    B sentences have K hypotheses each, one at first. The rows of a sentence follow each other:
    hypothesis k of sentence b is row b · K + k. `output` projects the rows that `advance` returns
    to the vocabulary; `tasks` is (B,).
    """

    def __init__(self, method: Method, output: nn.Linear, tasks: Tensor):
        self.method, self.output, self.tasks, self.hypotheses = method, output, tasks, 1
        method.begin(tasks)

    @abstractmethod
    def advance(self, pieces: Tensor) -> Tensor:
        """Read a piece of each hypothesis, (B · K,); return rows for `output`, (B · K, units)."""

    def select(self, sentences: Tensor, parents: Tensor) -> None:
        """Keep some sentences, and continue some of their hypotheses.

        The method is prepared again only when the number of rows changes, not at every position.
        `sentences`, (B',), are which of the B ones is at each place from now on, in the order of
        `compaction_order`; `parents`, (B', K'), its hypotheses that each new one continues.
        """
        self.reorder(sentences, parents)
        if parents.shape != (len(self.tasks), self.hypotheses):
            self.tasks, self.hypotheses = self.tasks[sentences], parents.size(1)
            self.method.begin(self.tasks.repeat_interleave(self.hypotheses))

    @abstractmethod
    def reorder(self, sentences: Tensor, parents: Tensor) -> None:
        """Do what `select` says with the state of earlier positions."""


def compaction_order(dropped: Tensor) -> Tensor:
    """Return which sentence is at each place when some are dropped, of (B,) truth values.

    The last sentences fill the gaps, so what is stored by place moves for few of them.
    """
    left = int((~dropped).sum())
    order = torch.arange(left, device=dropped.device)
    order[dropped[:left]] = (~dropped[left:]).nonzero().squeeze(1) + left
    return order


def moved_slots(sentences: Tensor) -> tuple[Tensor, Tensor]:
    """Return the places that get another sentence of (B,), and where it was, (moved,) each."""
    places = torch.arange(len(sentences), device=sentences.device)
    new = (sentences != places).nonzero().squeeze(1)
    return new, sentences[new]

"""What the stacks of all networks share: the one loop over layers, and what goes in and out."""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Protocol

from torch import Tensor, nn

from fathom.config.schema.run import Model
from fathom.nn.hooks import Method

# Adds a sub-layer's output to its input: (part, x, fx) → x + fx, or what a method makes of it.
Residual = Callable[[str, Tensor, Tensor], Tensor]
# What an encoder returns: "encoder_out" and "encoder_padding_mask".
Memory = dict[str, list[Tensor]]
# What fairseq keeps between two steps of decoding.
State = dict[str, dict[str, Tensor | None]]
Observer = Callable[[Sequence[Tensor]], None]


class Vocabulary(Protocol):
    """What a stack needs of a dictionary; fairseq's has it."""

    def __len__(self) -> int:
        """Return the number of entries, V."""
        ...

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
    straight through.

    Args:
        method: decides what each layer reads, whether it runs, and what becomes of its output.
        layers: the stack's layers, L.
        outputs: the embeddings, (T, B, D); each layer's output is appended.
        call: (number, layer, x) → the layer's own output for the input x, (T, B, D).
        always: numbers of layers that run even where the method skips them, because the layers
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
    """Return how a layer adds its sub-layers' outputs; in a stack without residuals, to 0.

    Args:
        model: the network's shape.
        method: the method of the layer's stack.
        layer: from 0.
    """
    if method.stack.name in model.residuals:
        return partial(method.residual, layer)
    return lambda part, x, fx: method.residual(layer, part, x.new_zeros(()), fx)


def tasks_of(tokens: Tensor, tasks: Tensor | None, task: int | None) -> Tensor:
    """Return the task of each sentence, (B,).

    Args:
        tokens: (B, T) the batch.
        tasks: (B,) if the caller knows them.
        task: otherwise the one task of all sentences.

    Raises:
        RuntimeError: neither was given.
    """
    if tasks is not None:
        return tasks
    if task is None:
        raise RuntimeError("give the tasks of the sentences, or call for_task first")
    return tokens.new_full((tokens.size(0),), task)


def reordered(encoder_out: Memory, new_order: Tensor) -> Memory:
    """Return the sentences of an encoded batch whose indices are in `new_order`."""
    memories, paddings = encoder_out["encoder_out"], encoder_out["encoder_padding_mask"]
    return {
        "encoder_out": apply_once(lambda memory: memory.index_select(1, new_order), memories),
        "encoder_padding_mask": [padding.index_select(0, new_order) for padding in paddings],
    }


def apply_once(function: Callable[[Tensor], Tensor], tensors: list[Tensor]) -> list[Tensor]:
    """Apply a function to each tensor of a list; a tensor that occurs twice is computed once."""
    distinct = {id(tensor): tensor for tensor in tensors}
    results = {key: function(tensor) for key, tensor in distinct.items()}
    return [results[id(tensor)] for tensor in tensors]

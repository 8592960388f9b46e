"""The hooks through which a method changes a stack of layers; the base class changes nothing.

`nn/stack.py` has the one loop over layers and calls the hooks. Hidden states are of one of two
shapes, (T, B, D) in the docstrings of hooks and methods:

- (S, B, D) or (T, B, D), time-first, as the layers of RNMT+ need them;
- packed, (1, rows, D): the real tokens of a batch one after the other (nn/packing.py). A row
  is then a sentence of one token: B is the number of rows, and `begin` gets the task of each row.

What a method multiplies hidden states with has the shape (1, B, 1) or (1, B, D), so hooks need not
know which of the two they have. Whatever sums over positions must not count on padding: packed
states have none. They may end in padding rows, which have the task of the first sentence and a
gradient of zero.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

# The sub-layers of a Transformer's layers, in their order.
PARTS: Mapping[str, tuple[str, ...]] = {
    "encoder": ("self_attention", "ffn"),
    "decoder": ("self_attention", "cross_attention", "ffn"),
}


@dataclass(frozen=True)
class Stack:
    """What a method knows of the layers that it changes."""

    name: str  # "encoder" or "decoder"
    layers: int  # number of layers, L
    other_layers: int  # of the network's other stack; 0 if it has one stack
    tasks: int  # number of tasks of the run, N
    width: int  # units of the hidden states between layers, D
    norm: str  # where the layers normalise: "pre", "post", "lingvo" or "none"
    # Hidden states that a memory can mix: L + 1 with the embeddings, L if these have another width.
    sources: int
    memories: int  # how many memories the decoder attends to, M
    residuals: bool  # whether every sub-layer's input is added to its output


@dataclass(frozen=True)
class Loss:
    """A term of the objective, `weight` × `value`; the value alone is logged, in nats or layers."""

    value: Tensor
    weight: float


@dataclass(frozen=True)
class ParameterGroup:
    """Parameters with their own optimiser; all other parameters are Θ."""

    name: str  # in metrics and checkpoints
    parameters: tuple[nn.Parameter, ...]
    learning_rate_multiplier: float  # its learning rate divided by Θ's
    every: int  # moves at every n-th update of Θ, with the gradient of that update
    clip: float  # the norm to which its gradients are clipped, apart from Θ's; 0 does not clip
    # Whether row n of each tensor belongs to task n. The row and its optimiser state then stay
    # unchanged in updates without that task.
    rows_are_tasks: bool
    learning_rate: float | None = None  # a constant rate, instead of Θ's times the multiplier
    betas: tuple[float, float] | None = None  # Adam's decay rates; None takes Θ's
    clip_each: bool = False  # clip each vector along the last dimension by itself


@dataclass(frozen=True)
class DiagnosticArray:
    """An array that is recorded in diagnostics/."""

    axes: tuple[str, ...]  # of "task", "layer", "group", "source" and "memory"
    values: Tensor  # without a gradient


@dataclass(frozen=True)
class Depth:
    """How many layers of a stack each task uses."""

    effective_depth: float  # mean of `by_task` over tasks, E[L]
    by_task: tuple[int, ...]  # layers that hard gates keep for each task
    sum_p: float  # sum over layers of the probabilities, mean over tasks


class Method(nn.Module):
    """Changes the layers of one stack. This class changes nothing: it is the static model.

    Attributes:
        stack: the layers.
        inference: the gates used outside training: "plain", "soft" or "hard".
        hard_at_least: layers that hard gates keep at least for a task.
    """

    def __init__(self, stack: Stack):
        super().__init__()
        self.stack = stack
        self.inference, self.hard_at_least = "plain", 0

    def overrides(self, *hooks: str) -> bool:
        """Return whether the method overrides any of the hooks named."""
        found = {hook: getattr(getattr(self, hook), "__func__", None) for hook in hooks}
        return any(function is not getattr(Method, hook) for hook, function in found.items())

    def initialise(self, layer: int, modules: Mapping[str, nn.Module]) -> None:
        """Change a layer's first weights, before a training begins or other weights are loaded.

        Draw from torch's default generator: the network is complete, so nothing else moves. RNMT+
        does not have this hook.

        Args:
            layer: from 0; −1 is the stack's embeddings.
            modules: "embeddings", or by sub-layer "self_attention.query", ".key", ".value",
                ".output" and ".norm", in a decoder "cross_attention.…", and "ffn.first", ".second"
                and ".norm".
        """

    def start_update(self, seed: int, update: int) -> None:
        """Draw everything random of an update, for all tasks and layers at once.

        Called before the first micro-batch; all micro-batches and processes see the same draw.
        Updates of Θ count from 1.
        """

    def begin(self, tasks: Tensor, counts: Mapping[int, int] | None = None) -> None:
        """Prepare a forward pass; called before the first layer.

        `tasks` are those of the sentences, (B,), or of packed states those of the rows, (rows,).
        `counts` is how many each present task has, or None if only the device knows: to ask makes
        the host wait, so training gives them.
        """

    def source(self, layer: int, outputs: Sequence[Tensor]) -> Tensor:
        """Return what a layer reads; layer L is the stack's output.

        `outputs` are the embeddings and the outputs of all layers so far, (T, B, D) each.
        """
        return outputs[-1]

    def keep(self, layer: int) -> bool:
        """Return whether a layer is computed; the output of a skipped layer is its input."""
        return True

    def residual(self, layer: int, part: str, x: Tensor, fx: Tensor) -> Tensor:
        """Add a sub-layer's output to its input: x + SubLayer(Norm(x)).

        [latent_depth Eq. 1]

        Args:
            layer: from 0.
            part: "self_attention", "cross_attention", "ffn" or "recurrence".
            x: (T, B, D) the sub-layer's input before any norm; in the attention of lingvo's layers
                after the norm.
            fx: (T, B, D) the sub-layer's output, after dropout.
        """
        return x + fx

    def block(self, layer: int, x: Tensor, y: Tensor) -> Tensor:
        """Combine a layer's input x with its output y, (T, B, D) each; F_l(x) is y − x."""
        return y

    def after(self, layer: int, y: Tensor) -> Tensor:
        """Return a layer's final output, (T, B, D), from what `block` returned."""
        return y

    def memory(self, outputs: Sequence[Tensor], count: int) -> list[Tensor]:
        """Return the `count` memories that the decoder attends to, before the encoder's final norm.

        The outputs are the embeddings and those of all encoder layers, (S, B, D) each. The last
        `stack.sources` of them can be mixed.
        """
        return [self.source(self.stack.layers, outputs)] * count

    def losses(self, target_tokens: int, tasks: Tensor) -> dict[str, Loss]:
        """Return the method's terms of the objective; called once per update.

        Target tokens are those of the update over all processes, T; it has each task once.
        """
        return {}

    def parameter_groups(self) -> list[ParameterGroup]:
        """Return the parameters that do not belong to Θ."""
        return []

    def diagnostics(self) -> dict[str, DiagnosticArray]:
        """Return the arrays of this update that diagnostics/ records, by name."""
        return {}

    def depth(self) -> Depth | None:
        """Return how many layers each task uses; None if the method selects no layers."""
        return None


def stream_seed(*where: object) -> int:
    """Return the seed of a random stream, 32 bits, from the words that identify the stream.

    The words are hashed, because neighbouring seeds of a generator may be correlated. torch's CPU
    generator uses only the lowest 32 bits of a seed.
    """
    digest = hashlib.sha256(" ".join(map(str, where)).encode()).digest()
    return int.from_bytes(digest[:4], "big")


def generator(seed: int, update: int, stack: str, task: int | None = None) -> torch.Generator:
    """Return a random stream on the CPU, of a run's seed, an update, a stack and a task or all."""
    return torch.Generator().manual_seed(stream_seed(seed, update, stack, task))

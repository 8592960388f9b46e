"""The seven places at which a method enters a stack of layers; the base class is the static model.

A stack owns the only loop over its layers and asks its method at each place. Inside the stacks
hidden states are time-first, (S, B, D) or (T, B, D), as fairseq's layers want them; what a method
multiplies with them has the shape (1, B, 1).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Stack:
    """What a method knows of the layers on which it acts.

    Attributes:
        side: "encoder" or "decoder".
        layers: its layers, L.
        tasks: tasks of the run, N.
        width: of the hidden states between layers, D.
        norm: where its layers normalise: "pre", "post", "lingvo" or "none".
        sources: hidden states that its memory may mix: L + 1 with the embeddings, L where those
            have another width.
        readers: memories that the decoder attends to, M.
        residuals: whether every sub-layer's input is added to its output.
    """

    side: str
    layers: int
    tasks: int
    width: int
    norm: str
    sources: int
    readers: int
    residuals: bool


@dataclass(frozen=True)
class Loss:
    """A term of the objective, `weight` × `value`; the value is logged alone, in nats or layers."""

    value: Tensor
    weight: float


@dataclass(frozen=True)
class ParameterGroup:
    """Parameters that an optimiser of their own updates; all others are Θ.

    Attributes:
        name: what the group is called in metrics and checkpoints.
        parameters: its tensors.
        learning_rate_multiplier: its learning rate over Θ's.
        every: updates of Θ for one of this group, taken with the last one's gradient.
        clip: its gradients are scaled down to this norm, apart from Θ's; 0 leaves them.
        rows_are_tasks: whether row n of each tensor belongs to task n, so that the row and its
            optimiser state rest in updates without that task.
        learning_rate: a constant rate of its own, instead of Θ's times the multiplier.
        betas: Adam's decay rates, where they are not Θ's.
        clip_each: whether `clip` holds for each vector along the last dimension alone, and not
            for the group as a whole.
    """

    name: str
    parameters: tuple[nn.Parameter, ...]
    learning_rate_multiplier: float
    every: int
    clip: float
    rows_are_tasks: bool
    learning_rate: float | None = None
    betas: tuple[float, float] | None = None
    clip_each: bool = False


@dataclass(frozen=True)
class Reading:
    """An array worth keeping from an update.

    Attributes:
        axes: what each dimension counts: "task", "layer", "group", "source" or "reader".
        values: the array, without a gradient.
    """

    axes: tuple[str, ...]
    values: Tensor


@dataclass(frozen=True)
class Depth:
    """How deep one stack is for each task.

    Attributes:
        effective_depth: mean over tasks of `by_task`, E[L].
        by_task: layers that hard gates keep for each task.
        sum_p: mean over tasks of the probabilities' sum.
        mean_abs_alpha: mean of |alpha|.
        undecided_share: share of gates with |alpha| < 0.1, whose hard choice means little.
        layers: layers of the stack.
    """

    effective_depth: float
    by_task: tuple[int, ...]
    sum_p: float
    mean_abs_alpha: float
    undecided_share: float
    layers: int


class Method(nn.Module):
    """What is done to the layers of one stack. This class does nothing: it is the static model.

    Attributes:
        inference: "plain", "soft" or "hard"; which gates are used outside training.
    """

    def __init__(self, stack: Stack):
        """Remember the stack."""
        super().__init__()
        self.stack = stack
        self.inference = "plain"

    def start_update(self, seed: int, update: int) -> None:
        """Draw what is random in an update, for all tasks and layers at once.

        Called before the first micro-batch; every micro-batch and rank sees the same draw.

        Args:
            seed: the run's seed.
            update: the update of Θ that begins, counted from 1.
        """

    def begin(self, tasks: Tensor) -> None:
        """Prepare one forward pass, before the loop.

        Args:
            tasks: (B,) the task of each sentence.
        """

    def source(self, layer: int, outputs: Sequence[Tensor]) -> Tensor:
        """Return what a layer reads.

        Args:
            layer: the layer, from 0; L asks for what leaves the stack.
            outputs: the embeddings, then the output of each layer so far; each (T, B, D).
        """
        return outputs[-1]

    def keep(self, layer: int) -> bool:
        """Return whether a layer is computed; one that is not passes on what it reads."""
        return True

    def residual(self, layer: int, part: str, x: Tensor, fx: Tensor) -> Tensor:
        """Join a sub-layer's output to its input: x + SubLayer(Norm(x)).

        [latent_depth Eq. 1]

        Args:
            layer: the layer, from 0.
            part: "self_attention", "cross_attention", "ffn" or "recurrence".
            x: (T, B, D) what the skip path carries: the sub-layer's input before any norm, or,
                in the attention of lingvo's layers, after it.
            fx: (T, B, D) the sub-layer's output, after dropout.
        """
        return x + fx

    def block(self, layer: int, x: Tensor, y: Tensor) -> Tensor:
        """Join a whole layer's output to its input.

        Args:
            layer: the layer, from 0.
            x: (T, B, D) what the layer read.
            y: (T, B, D) what it computed; F_l(x) is y − x.
        """
        return y

    def after(self, layer: int, y: Tensor) -> Tensor:
        """Return a layer's final output, given the one so far, (T, B, D)."""
        return y

    def memory(self, outputs: Sequence[Tensor], count: int) -> list[Tensor]:
        """Return what each decoder layer attends to, before the encoder's final norm.

        Args:
            outputs: the embeddings, then the output of each encoder layer; each (S, B, D). The last
                `stack.sources` of them may be mixed.
            count: memories that the decoder attends to, M.
        """
        return [self.source(self.stack.layers, outputs)] * count

    def losses(self, target_tokens: int, tasks: Tensor) -> dict[str, Loss]:
        """Return the method's own terms of the objective, once for an update.

        Args:
            target_tokens: target tokens of the whole update without padding, T.
            tasks: the tasks that the update holds, each once.
        """
        return {}

    def parameter_groups(self) -> list[ParameterGroup]:
        """Return the parameters that are not Θ."""
        return []

    def diagnostics(self) -> dict[str, Reading]:
        """Return arrays of this update worth keeping, by name."""
        return {}

    def depth(self) -> Depth | None:
        """Return how deep the stack is for each task, or None where nothing is chosen."""
        return None


def stream_seed(*where: object) -> int:
    """Return the seed of a random stream, 32 bits, from what tells it from all others.

    It is hashed, since neighbouring seeds of one generator may be correlated. torch's generator on
    the CPU leaves all bits of a seed but the lowest 32 out, so that no place may be kept in them.
    """
    digest = hashlib.sha256(" ".join(map(str, where)).encode()).digest()
    return int.from_bytes(digest[:4], "big")


def generator(seed: int, update: int, side: str, task: int | None = None) -> torch.Generator:
    """Return a private random stream on the CPU, another one for other arguments.

    Args:
        seed: the run's seed.
        update: the update of Θ, counted from 1.
        side: "encoder" or "decoder".
        task: the task; None for what all tasks share.
    """
    return torch.Generator().manual_seed(stream_seed(seed, update, side, task))

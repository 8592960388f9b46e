"""What every kind of network offers to training and decoding."""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import pad

from fathom.config.schema.run import Model
from fathom.config.schema.section import STACKS
from fathom.nn.cpu import MatmulPrecision, linear
from fathom.nn.device import to_device
from fathom.nn.hooks import Method, Stack
from fathom.nn.packing import Packing
from fathom.nn.stack import Observer, Steps

HIGHEST = MatmulPrecision("highest", {})
# What the number of logits is rounded up to a multiple of; tensor cores are slow with other sizes.
ENTRIES_MULTIPLE = {"cpu": 1, "cuda": 64}


@dataclass(frozen=True, eq=False)
class Batch:
    """B texts of any tasks, batch-first and padded on the right."""

    source: Tensor  # (B, S) ids with end symbols
    previous_target: Tensor  # (B, T) ids, each task's start first
    target: Tensor  # (B, T) ids with end symbols
    tasks: Tensor  # (B,) index of each sentence's task
    sentences: Tensor  # (B,) index of each sentence in its task's split
    tokens: int  # target tokens without padding
    # Tokens of each source and each target, B numbers; None if only the tensors tell.
    source_lengths: tuple[int, ...] | None = None
    target_lengths: tuple[int, ...] | None = None
    task_of_each: tuple[int, ...] | None = None  # what `tasks` has, for the host

    def to(self, device: torch.device | str) -> "Batch":
        """Return the batch with its tensors on a device; the host does not wait for the copies."""
        names = ("source", "previous_target", "target", "tasks", "sentences")
        return replace(self, **{name: to_device(getattr(self, name), device) for name in names})


class Predicted(NamedTuple):
    """The logits of a batch's targets, without padding."""

    # (rows, V'): first those of the targets, sentence after sentence, then padding rows. V' is at
    # least V; entries from V on have no probability.
    logits: Tensor
    target: Tensor  # (tokens,) what is predicted
    tasks: Tensor  # (tokens,) the task of each target

    @classmethod
    def of(cls, logits: Tensor, batch: Batch, packing: Packing) -> Self:
        """Return logits (rows, V') with the targets that they predict, and their tasks."""
        tasks = batch.tasks.unsqueeze(1).expand_as(batch.target)
        return cls(logits, packing.unpadded_ids(batch.target), packing.unpadded_ids(tasks))


def project(projection: nn.Linear, x: Tensor, precision: str = "highest") -> Tensor:
    """Return the logits (…, V') of rows (…, units) by a projection to V entries.

    V' is V rounded up to ENTRIES_MULTIPLE; the logits of entries from V on are −∞.
    """
    weight, bias = projection.weight, projection.bias
    if surplus := -len(weight) % ENTRIES_MULTIPLE[x.device.type]:
        bias = weight.new_zeros(len(weight)) if bias is None else bias
        # Added by the product itself; a mask afterwards would copy the gradient of all logits.
        bias = pad(bias, (0, surplus), value=-torch.inf)
        weight = torch.cat([weight, weight.new_zeros(surplus, weight.size(1))])
    return linear(x, weight, bias, precision)


class LayerStack(Protocol):
    """An encoder or a decoder."""

    embed_tokens: nn.Embedding
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

    @staticmethod
    def describe_stacks(model: Model, tasks: int) -> dict[str, Stack]:
        """Return what a method knows of each stack, by the stack's name; `tasks` is N."""
        layers = {"encoder": model.encoder_layers, "decoder": model.decoder_layers}
        return {
            name: Stack(
                name=name,
                layers=count,
                other_layers=sum(layers.values()) - count,
                tasks=tasks,
                width=model.width,
                norm=model.norm,
                sources=count + 1,
                memories=model.decoder_layers or 1,
                residuals=name in model.residuals,
            )
            for name, count in layers.items()
            if count
        }

    def steps(self, source: Tensor, tasks: Tensor) -> Steps:
        """Encode a batch; return its decoder, which a search calls position by position."""
        raise RuntimeError("a network without a decoder has no positions to decode")

    @abstractmethod
    def predict(self, batch: Batch) -> Predicted:
        """Return the logits of a batch's targets."""

    def forward(self, batch: Batch) -> Predicted:
        """Return what `predict` does."""
        return self.predict(batch)

    @property
    def padding(self) -> int:
        """The index of padding, the same in all dictionaries."""
        encoder: Any = self.encoder
        return encoder.dictionary.pad()

    @property
    def entries(self) -> int:
        """The entries of the dictionary that is predicted, V."""
        *_, last = self.stacks.values()
        return last.embed_tokens.num_embeddings

    @property
    def stacks(self) -> dict[str, LayerStack]:
        """The network's stacks by name, the encoder first."""
        children: dict[str, Any] = dict(self.named_children())
        return {name: children[name] for name in STACKS if name in children}

    @property
    def methods(self) -> dict[str, Method]:
        """The method of each stack, by the stack's name."""
        return {name: stack.method for name, stack in self.stacks.items()}

    @torch.no_grad()
    def initialise(self) -> None:
        """Let the methods change first weights."""
        for stack in self.stacks.values():
            method: Method = stack.method
            if not method.overrides("initialise"):
                continue
            method.initialise(-1, {"embeddings": stack.embed_tokens})
            layers: Any = stack.layers
            for number, layer in enumerate(layers):
                method.initialise(number, layer.modules_by_name())

    def start_update(self, seed: int, update: int) -> None:
        """Draw everything random of an update in all methods; updates count from 1."""
        for method in self.methods.values():
            method.start_update(seed, update)

    def set_matmul(self, matmul: MatmulPrecision) -> Self:
        """Set the precision of `predict`, and return the network."""
        self.matmul = matmul
        return self

    def compile_layers(self, backend: str = "inductor") -> None:
        """Compile what `predict` runs of each layer."""
        for stack in self.stacks.values():
            for layer in stack.layers:
                layer.forward = torch.compile(layer.forward, backend=backend)

    def use_gates(self, gates: str, hard_at_least: int = 0) -> Self:
        """Set plain, soft or hard gates for inference, and return the network."""
        for method in self.methods.values():
            method.inference, method.hard_at_least = gates, hard_at_least
        return self


class LowPrecision:
    """A network with its linear layers in half precision; their weights stay in float32.

    Autocast alone would cast each weight, bias and gradient in every layer and pass. It still casts
    what sub-layers read; norms, residual sums and methods are in float32.
    """

    def __init__(self, network: Network, dtype: torch.dtype = torch.bfloat16):
        self.network, self.dtype = network, dtype
        layers: dict[str, dict[str, nn.Parameter]] = defaultdict(dict)
        for place, module in network.named_modules():
            if isinstance(module, nn.Linear):
                layer = ".".join(place.split(".")[:3])  # as "encoder.layers.0"
                layers[layer] |= module.named_parameters(place)
        self._layers = [
            (weights, [torch.empty_like(each, dtype=dtype) for each in weights.values()])
            for weights in layers.values()
        ]

    @torch.no_grad()
    def start_update(self) -> None:
        """Copy the weights as they are now, for all predictions of an update."""
        copies = [copy for _, of_layer in self._layers for copy in of_layer]
        weights: list[Tensor] = [
            weight for of_layer, _ in self._layers for weight in of_layer.values()
        ]
        torch._foreach_copy_(copies, weights)  # pyright: ignore[reportPrivateImportUsage]

    def predict(self, batch: Batch) -> Predicted:
        """Return the logits of a batch's targets; gradients are those of the network's weights."""
        used: dict[str, Tensor] = {}
        for weights, copies in self._layers:
            # By layer, so that gradients are complete long before the pass ends.
            used |= zip(weights, _Copied.apply(copies, *weights.values()), strict=True)
        with torch.autocast(batch.source.device.type, self.dtype):
            # Embeddings stay in float32 also if the last projection is tied to them.
            return functional_call(self.network, used, (batch,), tie_weights=False)


class _Copied(torch.autograd.Function):
    """Copies that were made before, whose gradients go to their originals in float32."""

    @staticmethod
    def forward(ctx: Any, copies: Sequence[Tensor], *originals: Tensor) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        return tuple(copy.detach() for copy in copies)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor | None) -> tuple[Tensor | None, ...]:
        given = [gradient for gradient in upstream if gradient is not None]
        exact = [torch.empty_like(gradient, dtype=torch.float32) for gradient in given]
        torch._foreach_copy_(exact, given)  # pyright: ignore[reportPrivateImportUsage]
        left = iter(exact)
        return None, *(None if gradient is None else next(left) for gradient in upstream)


@dataclass(frozen=True)
class Entries:
    """A dictionary of V entries that has nothing but its size."""

    size: int

    def __len__(self) -> int:
        return self.size

    def pad(self) -> int:
        """Return fairseq's index of the padding symbol."""
        return 1

    def eos(self) -> int:
        """Return fairseq's index of the end symbol."""
        return 2


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

"""Residual adapters (Bapna and Firat, EMNLP 2019: Simple, Scalable Adaptation for Neural MT).

After each layer a small network of the sentence's task is applied to the layer's output:
x + W_up relu(W_down LN(x) + b_down) + b_up. W_up and b_up start at 0, so that a network with new
adapters equals the one without, to the bit.

Each layer has one adapter for each task. The adapters of tasks that are not in an update have no
gradient, so their tensors and their optimiser's state stay unchanged.

A loop over tasks starts kernels for each of them. On CUDA the rows of three or more are cut into
chunks of one size, each with its task's weights, and a layer's adapters are two batched products.
What pads the chunks is at most half of the rows. Adapters wider than their layer stay in the loop,
as on a CPU: there the products of padding take longer than the kernels that chunks save.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm, linear, relu

from fathom.nn.device import to_device
from fathom.nn.hooks import Method, Stack, generator

# On each device, the chunks per task that the rows of a batch fill; 0 for the loop.
CHUNKS = {"cpu": 0, "cuda": 2}


class Adapter(nn.Module):
    """The adapter of one task after one layer: W_up relu(W_down LN(x) + b_down) + b_up.

    Xavier's rule initialises W_down, (bottleneck, width), from a stream; the rest starts at 0.
    """

    def __init__(self, width: int, bottleneck: int, stream: torch.Generator):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.down = nn.Parameter(torch.empty(bottleneck, width))
        self.down_bias = nn.Parameter(torch.zeros(bottleneck))
        self.up = nn.Parameter(torch.zeros(width, bottleneck))
        self.up_bias = nn.Parameter(torch.zeros(width))
        nn.init.xavier_uniform_(self.down, generator=stream)

    def forward(self, x: Tensor) -> Tensor:
        """Return what is added to x, (T, B, D)."""
        return linear(relu(linear(self.norm(x), self.down, self.down_bias)), self.up, self.up_bias)


class Adapters(Method):
    """Each task has a small network after each layer."""

    def __init__(self, stack: Stack, *, bottleneck: int):
        super().__init__(stack)
        self.narrow = bottleneck <= stack.width
        # Separate streams: the network's weights are those without adapters, and a task's adapters
        # do not depend on the number of tasks.
        streams = [
            generator(torch.initial_seed(), 0, stack.name, task) for task in range(stack.tasks)
        ]
        self.adapters = nn.ModuleList(
            nn.ModuleList(Adapter(stack.width, bottleneck, stream) for stream in streams)
            for _ in range(stack.layers)
        )

    def begin(self, tasks: Tensor, counts: Mapping[int, int] | None = None) -> None:
        """Find the rows of each task in the batch, and how to restore their order."""
        if counts is None:
            present, numbers = tasks.unique(return_counts=True)
            counts = dict(zip(present.tolist(), numbers.tolist(), strict=True))
        self.counts = dict(sorted(counts.items()))
        self.rows = tasks.argsort(stable=True)  # (B,)
        self.back = self.rows.argsort()  # (B,)
        chunks = CHUNKS[tasks.device.type] * len(counts) if len(counts) > 2 and self.narrow else 0
        self.chunk_rows = -(-len(tasks) // chunks) if chunks else 0
        if chunks:
            self._cut()

    def _cut(self) -> None:
        """Give each chunk its rows, and row 0 in the place of those that a last chunk lacks."""
        places, owners = [], []
        for number, count in enumerate(self.counts.values()):
            places.append(torch.arange(count) + len(owners) * self.chunk_rows)
            owners += [number] * -(-count // self.chunk_rows)
        there = to_device(torch.cat(places), self.rows.device)  # (B,)
        self.owners = to_device(torch.tensor(owners), self.rows.device)  # (chunks,)
        padded = self.rows.new_zeros(len(owners) * self.chunk_rows)
        self.rows = padded.index_copy_(0, there, self.rows)
        self.back = there.index_select(0, self.back)

    def after(self, layer: int, y: Tensor) -> Tensor:
        """Return a layer's output, (T, B, D), plus that of each sentence's adapter."""
        x = y.index_select(1, self.rows)
        # torch's lists do not know the type of their modules.
        of_layer: Any = self.adapters[layer]
        adapters = [of_layer[task] for task in self.counts]
        if self.chunk_rows:
            added = self._of_chunks(adapters, x)
        else:
            parts = zip(adapters, x.split([*self.counts.values()], dim=1), strict=True)
            added = torch.cat([adapter(part) for adapter, part in parts], dim=1)
        return y + added.index_select(1, self.back)

    def _of_chunks(self, adapters: list[Adapter], x: Tensor) -> Tensor:
        """Return what the present tasks' adapters add to all chunks, (T, chunks · rows, D)."""
        weights = [[*adapter.parameters()] for adapter in adapters]
        # One tensor, so that one kernel gathers all weights, and gradients are its parts.
        flat = torch.cat([each.flatten() for of_task in weights for each in of_task])
        flat = flat.view(len(weights), -1).index_select(0, self.owners)
        parts = flat.split([each.numel() for each in weights[0]], dim=1)
        down, down_bias, up, up_bias, scale, shift = (
            part.view(len(part), -1, each.size(-1))
            for part, each in zip(parts, weights[0], strict=True)
        )
        # The norm's scale and shift go into the first map, which has fewer values than the rows.
        bias = torch.baddbmm(down_bias, shift, down.mT)
        x = layer_norm(x, x.shape[-1:]).unflatten(1, (-1, self.chunk_rows)).transpose(0, 1)
        inner = relu(torch.baddbmm(bias, x.flatten(1, 2), (down * scale).mT))
        return torch.baddbmm(up_bias, inner, up.mT).view_as(x).transpose(0, 1).flatten(1, 2)

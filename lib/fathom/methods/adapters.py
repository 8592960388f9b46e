"""Residual adapters (Bapna and Firat, EMNLP 2019: Simple, Scalable Adaptation for Neural MT).

After each layer a small network of the sentence's task is applied to the layer's output:
x + W_up relu(W_down LN(x) + b_down) + b_up. W_up and b_up start at 0, so that a network with new
adapters equals the one without, to the bit.

Each layer has one adapter for each task. The adapters of tasks that are not in an update have no
gradient, so their tensors and their optimiser's state stay unchanged.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, relu

from fathom.nn.hooks import Method, Stack, generator


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
        """Find the sentences of each task in the batch, and how to restore their order."""
        if counts is None:
            present, numbers = tasks.unique(return_counts=True)
            counts = dict(zip(present.tolist(), numbers.tolist(), strict=True))
        present = sorted(counts)
        order = tasks.argsort(stable=True)  # (B,)
        rows = order.split([counts[task] for task in present])
        self.sentences = list(zip(present, rows, strict=True))
        self.back = order.argsort()  # (B,)

    def after(self, layer: int, y: Tensor) -> Tensor:
        """Return a layer's output, (T, B, D), plus that of each sentence's adapter."""
        # torch's lists do not know the type of their modules.
        added = [
            self.adapters[layer][task](y.index_select(1, rows))  # pyright: ignore[reportIndexIssue]
            for task, rows in self.sentences
        ]
        return y + torch.cat(added, dim=1).index_select(1, self.back)

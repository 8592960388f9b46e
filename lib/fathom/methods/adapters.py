"""Residual adapters (Bapna and Firat, EMNLP 2019: Simple, Scalable Adaptation for Neural MT).

After each layer a small network of the sentence's task adds to the layer's output:
x + W_up relu(W_down LN(x) + b_down) + b_up. W_up and b_up are 0 at first, so that a network with
new adapters is to the bit the one without.

Each layer has a module for each task, and none is shared. What a task's sentences do not reach has
no gradient, so that its tensors and their optimiser's state rest.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, relu

from fathom.models.hooks import Method, Stack, generator


class Adapter(nn.Module):
    """What one task adds after one layer: W_up relu(W_down LN(x) + b_down) + b_up."""

    def __init__(self, width: int, bottleneck: int, stream: torch.Generator):
        """Start with W_down by Xavier's rule, the rest of both maps 0.

        Args:
            width: of the hidden states, D.
            bottleneck: of the relu, H.
            stream: that W_down is drawn from.
        """
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
    """Each task has small networks of its own after the layers."""

    def __init__(self, stack: Stack, *, bottleneck: int):
        """Build an adapter for each layer and task.

        Args:
            stack: the layers.
            bottleneck: width of the adapters' relu.
        """
        super().__init__(stack)
        # The run's seed without its stream: the network's own weights stay what they are without
        # adapters, and a task's adapters do not depend on how many tasks there are.
        streams = [
            generator(torch.initial_seed(), 0, stack.side, task) for task in range(stack.tasks)
        ]
        self.adapters = nn.ModuleList(
            nn.ModuleList(Adapter(stack.width, bottleneck, stream) for stream in streams)
            for _ in range(stack.layers)
        )

    def begin(self, tasks: Tensor) -> None:
        """Find the sentences of each task in the batch, and the way back to its order."""
        present = tasks.unique().tolist()
        self.sentences = [(task, (tasks == task).nonzero().squeeze(1)) for task in present]
        self.back = torch.cat([rows for _, rows in self.sentences]).argsort()  # (B,)

    def after(self, layer: int, y: Tensor) -> Tensor:
        """Return a layer's output, (T, B, D), with what each sentence's adapter adds."""
        parts = [
            self.adapters[layer][task](y.index_select(1, rows)) for task, rows in self.sentences
        ]
        return y + torch.cat(parts, dim=1).index_select(1, self.back)

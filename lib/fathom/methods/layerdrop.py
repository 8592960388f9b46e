"""LayerDrop (Fan, Grave and Joulin, 2020: Reducing Transformer Depth on Demand).

In training each layer is skipped with probability p; the other layers are not rescaled. At
inference every layer is computed.

fairseq draws in each forward pass on each device. Here a draw holds for an update with all of its
micro-batches and devices, so that the result does not depend on how an update is split: one draw
for all tasks, or one for each task.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from fathom.nn.device import to_device
from fathom.nn.hooks import Method, Stack, generator


class LayerDrop(Method):
    """Skips random layers in training."""

    def __init__(self, stack: Stack, *, p: float, draw: str):
        super().__init__(stack)
        self.p, self.draw = p, draw
        rows = stack.tasks if draw == "task" else 1
        self.open = torch.ones(rows, stack.layers, dtype=torch.bool, device="cpu")
        self.active_layers = [True] * stack.layers

    def start_update(self, seed: int, update: int) -> None:
        """Draw the layers of this update; `update` counts from 1."""
        name, layers = self.stack.name, self.stack.layers
        tasks = range(self.stack.tasks) if self.draw == "task" else [None]
        streams = [generator(seed, update, name, task) for task in tasks]
        uniform = torch.stack([torch.rand(layers, generator=stream) for stream in streams])
        self.open = uniform >= self.p  # (N or 1, L)
        self.active_layers = self.open.any(dim=0).tolist()

    def begin(self, tasks: Tensor, counts: Mapping[int, int] | None = None) -> None:
        """Select the layers of each sentence, and those that any sentence uses."""
        if self.draw == "task" and self.training:
            present = tasks.unique().tolist() if counts is None else [*counts]
            self.active_layers = self.open[present].any(dim=0).tolist()
            rows = to_device(self.open, tasks.device).index_select(0, tasks)  # (B, L)
            self.sentences = rows.t()[:, None, :, None]  # (L, 1, B, 1)

    def keep(self, layer: int) -> bool:
        """Return whether any sentence uses the layer; at inference all do."""
        return self.active_layers[layer] or not self.training

    def block(self, layer: int, x: Tensor, y: Tensor) -> Tensor:
        """Return the layer's output, and its input for sentences that skip it; (T, B, D)."""
        if self.draw == "update" or not self.training:
            return y
        return torch.where(self.sentences[layer], y, x)

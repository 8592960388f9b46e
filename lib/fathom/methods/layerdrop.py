"""LayerDrop (Fan, Grave and Joulin, 2020: Reducing Transformer Depth on Demand).

In training each layer is skipped with probability p; the other layers are not rescaled. At
inference every layer is computed.

fairseq draws in each forward pass and on each device. Here one draw holds for an update with all of
its tasks, micro-batches and devices, so that the result does not depend on how an update is split.
"""

import torch

from fathom.models.hooks import Method, Stack, generator


class LayerDrop(Method):
    """Skips random layers in training."""

    def __init__(self, stack: Stack, *, p: float):
        """Keep every layer until the first update.

        Args:
            stack: the layers.
            p: the probability of skipping a layer.
        """
        super().__init__(stack)
        self.p = p
        self.active_layers = [True] * stack.layers

    def start_update(self, seed: int, update: int) -> None:
        """Draw the layers of this update; `update` counts from 1."""
        stream = generator(seed, update, self.stack.name)
        uniform = torch.rand(self.stack.layers, generator=stream)
        self.active_layers = (uniform >= self.p).tolist()

    def keep(self, layer: int) -> bool:
        """Return whether the layer is computed; at inference all are."""
        return self.active_layers[layer] or not self.training

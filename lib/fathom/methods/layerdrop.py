"""LayerDrop (Fan, Grave and Joulin, 2020: Reducing Transformer Depth on Demand).

In training each layer is left out with probability p, in an update as a whole; the layers that stay
are not rescaled. At inference every layer is computed.

fairseq draws anew in each forward pass and on each device. Here one draw holds for an update, all
of its tasks, micro-batches and devices, so that an update does not depend on how it is cut up.
"""

import torch

from fathom.models.hooks import Method, Stack, generator


class LayerDrop(Method):
    """Random layers are left out in training."""

    def __init__(self, stack: Stack, *, p: float):
        """Keep every layer until the first update.

        Args:
            stack: the layers.
            p: probability with which a layer is left out.
        """
        super().__init__(stack)
        self.p = p
        self.kept = [True] * stack.layers

    def start_update(self, seed: int, update: int) -> None:
        """Draw the layers of this update; `update` counts from 1."""
        stream = generator(seed, update, self.stack.side)
        uniform = torch.rand(self.stack.layers, generator=stream)
        self.kept = (uniform >= self.p).tolist()

    def keep(self, layer: int) -> bool:
        """Return whether the layer is computed: at inference always."""
        return self.kept[layer] or not self.training

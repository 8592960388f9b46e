"""LayerDrop (Fan, Grave and Joulin, 2020: Reducing Transformer Depth on Demand).

In training each layer is left out with probability p, in an update as a whole; the layers that stay
are not rescaled. At inference every layer is computed.

fairseq draws anew in each forward pass and on each device. Here one draw holds for an update, all
of its tasks, micro-batches and devices, so that an update does not depend on how it is cut up.
"""

import torch

from fathom.models.hooks import Method, generator


class LayerDrop(Method):
    """Random layers are left out in training."""

    def __init__(self, layers: int, tasks: int, side: str, *, p: float):
        """Remember the stack.

        Args:
            layers: its layers, L.
            tasks: tasks of the run, N.
            side: "encoder" or "decoder".
            p: probability with which a layer is left out.
        """
        super().__init__(layers, tasks, side)
        self.p = p
        self.kept = [True] * layers

    def start_update(self, seed: int, update: int) -> None:
        """Draw the layers of this update; `update` counts from 1."""
        uniform = torch.rand(self.layers, generator=generator(seed, update, self.side))
        self.kept = (uniform >= self.p).tolist()

    def keep(self, layer: int) -> bool:
        """Return whether the layer is computed: at inference always."""
        return self.kept[layer] or not self.training

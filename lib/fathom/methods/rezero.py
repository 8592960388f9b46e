"""ReZero (Bachlechner et al., UAI 2021: ReZero is All You Need: Fast Convergence at Large Depth).

Every sub-layer's output is scaled by a learnt scalar before it is added, x + a_l F(x). One scalar
serves all sub-layers of a layer; it starts at 0, so that the stack starts as the identity. There is
no layer norm anywhere in the stack. A layer without a joint, as the first two of RNMT+, stays what
it is without the method.
"""

import torch
from torch import Tensor, nn

from fathom.models.hooks import Method, Stack


class ReZero(Method):
    """Layers are added to the identity as they learn to be of use."""

    def __init__(self, stack: Stack):
        """Start with a = 0, (L,)."""
        super().__init__(stack)
        self.a = nn.Parameter(torch.zeros(stack.layers))

    def residual(self, layer: int, part: str, x: Tensor, fx: Tensor) -> Tensor:
        """Return x + a_l fx; both are (T, B, D), and `fx` is after dropout."""
        return x + self.a[layer] * fx

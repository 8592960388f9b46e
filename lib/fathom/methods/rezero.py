"""ReZero (Bachlechner et al., UAI 2021: ReZero is All You Need: Fast Convergence at Large Depth).

Every sub-layer's output is scaled by a learnt scalar before it is added: x + a_l F(x). All
sub-layers of a layer share one scalar, which starts at 0, so that the stack starts as the identity.
The stack has no layer norms. The method does not change layers without a residual connection, such
as the first two of RNMT+.
"""

import torch
from torch import Tensor, nn

from fathom.nn.hooks import Method, Stack


class ReZero(Method):
    """Scales each residual branch by a learnt scalar."""

    def __init__(self, stack: Stack):
        super().__init__(stack)
        self.a = nn.Parameter(torch.zeros(stack.layers))

    def residual(self, layer: int, part: str, x: Tensor, fx: Tensor) -> Tensor:
        """Return x + a_l fx; both are (T, B, D), and `fx` is after dropout."""
        return x + self.a[layer] * fx

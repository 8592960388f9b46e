"""DLCL (Wang et al., ACL 2019: Learning Deep Transformer Models for Machine Translation).

A dynamic linear combination of layers: each layer reads a weighted sum of the embeddings and of all
outputs below it, and so does whoever reads the stack. The weights are learnt, scalars without bound
or softmax; row l starts as 1 / (l + 1), so that each layer first reads the running average.

    paper   here            shape
    W       weights         (L + 1, L + 1), of which the lower triangle is used; row l is what
                            layer l reads, from 0, and the last row is what leaves the stack
    y_k     outputs[k]      (T, B, D); y_0 is the embeddings, y_k the output of the k-th layer
    LN_k    norms[k - 1]    L layer norms beside those inside the layers; y_0 has none

Where the layers normalise before (pre-norm), each output is normalised before the sum; where they
normalise after (post-norm), the sum is, but for the first layer's.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from fathom.models.hooks import Method, Stack


def running_average(layers: int) -> Tensor:
    """Return the weights at the start, (L + 1, L + 1): row l is 1 / (l + 1) up to column l."""
    counts = torch.arange(1, layers + 2)
    return torch.ones(layers + 1, layers + 1).tril() / counts[:, None]


def combination(weights: Tensor, outputs: Sequence[Tensor]) -> Tensor:
    """Return Σ_k W_k y_k.

    A loop, since a stack of all outputs would be kept for the backward pass once for each layer.

    Args:
        weights: (l + 1,) one row of W.
        outputs: l + 1 tensors (T, B, D).
    """
    return sum(weight * output for weight, output in zip(weights, outputs, strict=True))


class LayerCombination(Method):
    """Each layer reads a learnt sum of everything below it."""

    def __init__(self, stack: Stack):
        """Start as the running average of the outputs."""
        super().__init__(stack)
        self.weights = nn.Parameter(running_average(stack.layers))
        self.norms = nn.ModuleList(nn.LayerNorm(stack.width) for _ in range(stack.layers))
        self.normalised: list[Tensor] = []

    def begin(self, tasks: Tensor) -> None:
        """Forget the outputs of the pass before."""
        self.normalised = []

    def source(self, layer: int, outputs: Sequence[Tensor]) -> Tensor:
        """Return what a layer reads, or for L what leaves the stack, (T, B, D)."""
        weights = self.weights[layer, : layer + 1]
        if self.stack.norm == "post":
            total = combination(weights, outputs)
            return self.norms[layer - 1](total) if layer else total
        # Each output is normalised once, by the first layer that reads it.
        for number in range(len(self.normalised), len(outputs)):
            output = outputs[number]
            self.normalised.append(self.norms[number - 1](output) if number else output)
        total = combination(weights, self.normalised)
        if layer == self.stack.layers:
            # Else they would hold the pass's memory until the next one.
            self.normalised = []
        return total

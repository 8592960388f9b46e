"""DLCL (Wang et al., ACL 2019: Learning Deep Transformer Models for Machine Translation).

A dynamic linear combination of layers: the input of each layer, and the stack's output, is a
weighted sum of the embeddings and all outputs below. The weights are learnt scalars, without bounds
or softmax; row l starts at 1 / (l + 1), so that each layer first reads the running average.

    paper   here            shape
    W       weights         (L + 1, L + 1), lower triangle; row l is for the input of layer l,
                            from 0, and the last row for the stack's output
    y_k     outputs[k]      (T, B, D); y_0 is the embeddings, y_k the output of the k-th layer
    LN_k    norms[k - 1]    L layer norms in addition to those of the layers; y_0 has none

With pre-norm layers each output is normalised before the sum; with post-norm layers the sum is
normalised, except the first layer's.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from fathom.nn.hooks import Method, Stack


def running_average(layers: int) -> Tensor:
    """Return the initial weights, (L + 1, L + 1): row l is 1 / (l + 1) up to column l."""
    counts = torch.arange(1, layers + 2)
    return torch.ones(layers + 1, layers + 1).tril() / counts[:, None]


def combination(weights: Tensor, outputs: Sequence[Tensor]) -> Tensor:
    """Return Σ_k W_k y_k.

    `weights` is one row of W, (l + 1,). A loop, because a stacked tensor of all outputs would be
    saved for the backward pass by each layer.
    """
    # The type of a sum has the 0 of an empty one.
    return sum(weight * output for weight, output in zip(weights, outputs, strict=True))  # pyright: ignore[reportReturnType]


class LayerCombination(Method):
    """Each layer reads a learnt sum of all outputs below."""

    def __init__(self, stack: Stack):
        super().__init__(stack)
        self.weights = nn.Parameter(running_average(stack.layers))
        self.norms = nn.ModuleList(nn.LayerNorm(stack.width) for _ in range(stack.layers))
        self.normalised: list[Tensor] = []

    def begin(self, tasks: Tensor, counts: Mapping[int, int] | None = None) -> None:
        """Drop the outputs of the previous pass."""
        self.normalised = []

    def source(self, layer: int, outputs: Sequence[Tensor]) -> Tensor:
        """Return a layer's input, or for L the stack's output, (T, B, D)."""
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
            # They would occupy memory until the next pass.
            self.normalised = []
        return total

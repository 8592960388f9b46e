"""Transparent attention (Bapna, Chen, Firat, Cao and Wu, EMNLP 2018).

Each attention module of the decoder attends to its own mixture of all encoder layers and the
embeddings, instead of the top layer. The weights of the mixtures are learnt; they give every
encoder layer a short path to the loss.

    paper   here        shape
    N, M                encoder layers; attention modules of the decoder, which are its layers, or 1
    W       weights     (sources, memories), (N + 1, M) if the embeddings can be mixed, 0 at first
    s       s           (sources, memories), each column a distribution
    h       outputs     (S, B, D) each; h^0 is the embeddings, h^N the top layer's output
    z       mixtures    (S, B, D) each, one memory for each attention module

The method is for the encoder; the inputs of the encoder's layers do not change.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from fathom.nn.device import to_device
from fathom.nn.hooks import DiagnosticArray, Method, Stack, generator


def dropped(weights: Tensor, mask: Tensor, rate: float) -> Tensor:
    """Return the weights with dropout, as they enter the softmax [transparent_attention dropout].

    The constant 1 / sources is added first, because dropout does not change weights of 0; in a
    softmax without dropout it would cancel. An entry that is dropped, where the mask is false,
    becomes 0, not −∞: its source stays in the mixture. The others are scaled up.
    """
    return (weights + 1 / weights.size(0)) * mask / (1 - rate)


def mixture_weights(weights: Tensor) -> Tensor:
    """Return s, the softmax over sources for each memory, (sources, memories).

    [transparent_attention Eq. 1]
    """
    return torch.softmax(weights, dim=0)


def mixtures(s: Tensor, outputs: Sequence[Tensor]) -> list[Tensor]:
    """Return z^j = Σ_i s_ij h^i for each memory j, (S, B, D) each.

    [transparent_attention Eq. 2]

    The paper prints i = 1 … N + 1, but its Eq. 1 counts the sources from 0.
    """
    sources = torch.stack(tuple(outputs))  # (sources, S, B, D)
    return list(torch.einsum("ij,i...->j...", s.to(sources.dtype), sources).unbind())


class Transparent(Method):
    """The decoder attends to learnt mixtures of all encoder layers."""

    def __init__(self, stack: Stack, *, weight_dropout: float):
        super().__init__(stack)
        self.weight_dropout = weight_dropout
        self.weights = nn.Parameter(torch.zeros(stack.sources, stack.memories))
        self.mask: Tensor | None = None

    def start_update(self, seed: int, update: int) -> None:
        """Draw which entries of W are dropped in this update, for all sentences."""
        stream = generator(seed, update, self.stack.name)
        uniform = torch.rand(self.weights.shape, generator=stream)
        self.mask = to_device(uniform >= self.weight_dropout, self.weights.device)

    def memory(self, outputs: Sequence[Tensor], count: int) -> list[Tensor]:
        """Return the mixture for each attention module, (S, B, D) each; W is 0 at first."""
        weights = self.weights
        if self.training:
            if self.mask is None:
                raise RuntimeError("call start_update before the first forward pass of an update")
            weights = dropped(weights, self.mask, self.weight_dropout)
        return mixtures(mixture_weights(weights), outputs[-self.stack.sources :])

    def diagnostics(self) -> dict[str, DiagnosticArray]:
        """Return s without dropout, by source and memory."""
        s = mixture_weights(self.weights).detach()
        return {"weights": DiagnosticArray(("source", "memory"), s)}

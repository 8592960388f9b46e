"""Transparent attention (Bapna, Chen, Firat, Cao and Wu, EMNLP 2018).

Each attention of the decoder reads a mixture of its own of all encoder layers, embeddings included,
instead of the top layer. The mixtures' weights are learnt; through them every encoder layer has a
short path from the loss.

    paper   here        shape
    N, M                encoder layers; attention modules of the decoder, which are its layers, or 1
    W       weights     (sources, readers), (N + 1, M) where the embeddings can be mixed, 0 at first
    s       s           (sources, readers), each column a distribution
    h       outputs     (S, B, D) each; h^0 is the embeddings, h^N the top layer's output
    z       mixtures    (S, B, D) each, one for each reader

Only the encoder has a method of this kind; its own layers read one another as they stand.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from fathom.models.hooks import Method, Reading, Stack, generator


def dropped(weights: Tensor, kept: Tensor, rate: float) -> Tensor:
    """Return the weights with dropout, as they enter the softmax.

    The constant 1 / sources would cancel in a softmax without dropout. It is added first, since
    dropout would do nothing to weights of 0. An entry that is dropped becomes 0, not −∞: its
    source stays in the mixture.

    Args:
        weights: (sources, readers) W.
        kept: (sources, readers) true where dropout leaves the entry, which is then scaled up.
        rate: probability of being dropped, less than 1.
    """
    return (weights + 1 / weights.size(0)) * kept / (1 - rate)


def mixture_weights(weights: Tensor) -> Tensor:
    """Return s, the softmax over sources for each reader, (sources, readers).

    [transparent_attention Eq. 1]

    Args:
        weights: (sources, readers) W, with dropout or without.
    """
    return torch.softmax(weights, dim=0)


def mixtures(s: Tensor, outputs: Sequence[Tensor]) -> list[Tensor]:
    """Return z^j = Σ_i s_ij h^i for each reader j, (S, B, D) each.

    [transparent_attention Eq. 2]

    The paper prints i = 1 … N + 1, but its Eq. 1 counts the sources from 0.

    Args:
        s: (sources, readers) the weights.
        outputs: a tensor (S, B, D) for each source.
    """
    sources = torch.stack(tuple(outputs))  # (sources, S, B, D)
    return list(torch.einsum("ij,i...->j...", s.to(sources.dtype), sources).unbind())


class Transparent(Method):
    """The decoder's layers attend to mixtures of all encoder layers."""

    def __init__(self, stack: Stack, *, weight_dropout: float):
        """Start with W = 0, the plain mean.

        Args:
            stack: the encoder's layers; it says how many sources and readers there are.
            weight_dropout: probability with which an entry of W is dropped in an update.
        """
        super().__init__(stack)
        self.weight_dropout = weight_dropout
        self.weights = nn.Parameter(torch.zeros(stack.sources, stack.readers))
        self.kept: Tensor | None = None

    def start_update(self, seed: int, update: int) -> None:
        """Draw which entries of W this update drops, for all of its sentences at once."""
        stream = generator(seed, update, self.stack.side)
        uniform = torch.rand(self.weights.shape, generator=stream)
        self.kept = (uniform >= self.weight_dropout).to(self.weights.device)

    def memory(self, outputs: Sequence[Tensor], count: int) -> list[Tensor]:
        """Return the mixture of each reader, (S, B, D), of the last outputs that can be mixed."""
        weights = self.weights
        if self.training:
            if self.kept is None:
                raise RuntimeError("call start_update before the first forward pass of an update")
            weights = dropped(weights, self.kept, self.weight_dropout)
        return mixtures(mixture_weights(weights), outputs[-self.stack.sources :])

    def diagnostics(self) -> dict[str, Reading]:
        """Return s without dropout, by source and reader."""
        return {"weights": Reading(("source", "reader"), mixture_weights(self.weights).detach())}

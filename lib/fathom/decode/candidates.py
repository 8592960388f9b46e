"""The likeliest ways to continue the hypotheses of each sentence by one piece."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from fathom.nn.network import ENTRIES_MULTIPLE

# Entries of the vocabulary that are compared as one.
CHUNK = 32


class Candidates(NamedTuple):
    """C ways to continue the hypotheses of each of B sentences, the likeliest first."""

    scores: Tensor  # (B, C) the sum of all log-probabilities
    pieces: Tensor  # (B, C) the next piece
    parents: Tensor  # (B, C) the hypothesis that it continues


class Output:
    """The projection to the vocabulary, with padding entries that have no probability.

    With them each row of logits is a multiple of CHUNK entries: the product is faster, and the
    largest entries are found chunk by chunk.
    """

    def __init__(self, projection: nn.Linear):
        self.entries = projection.out_features
        multiple = ENTRIES_MULTIPLE[projection.weight.device.type]
        surplus = -self.entries % math.lcm(CHUNK, multiple)
        self.weight = pad(projection.weight, (0, 0, 0, surplus))
        self.bias = None if projection.bias is None else pad(projection.bias, (0, surplus))

    def __call__(self, rows: Tensor) -> Tensor:
        """Return the logits (rows, V') of rows (rows, units), V' ≥ V."""
        logits = linear(rows, self.weight, self.bias)
        logits[:, self.entries :] = -torch.inf
        return logits


def candidates(
    logits: Tensor, scores: Tensor, count: int, never: Sequence[int], end: int, last: Tensor
) -> Candidates:
    """Return the likeliest candidates of each sentence.

    Args:
        logits: (B, K, V) of the next piece of K hypotheses.
        scores: (B, K) of the hypotheses.
        never: pieces that do not follow; they have their share of the probabilities all the same.
        last: (B,) true for sentences whose hypotheses all end here.
    """
    entries = logits.size(2)
    total = logits.log_softmax(dim=2, dtype=torch.float32).add_(scores.unsqueeze(2))
    for piece in never:
        total[:, :, piece] = -torch.inf
    best, places = likeliest(total.flatten(1), min(count, total[0].numel() - 1))
    # What has no probability, or NaN, may be a padding entry, which has no embedding.
    pieces = (places % entries).masked_fill_(~(best > -torch.inf), end)
    chosen = Candidates(best, pieces, places // entries)
    return ended(chosen, total[:, :, end], end, last) if last.any() else chosen


def greedy(logits: Tensor, never: Sequence[int], end: int, last: Tensor) -> Candidates:
    """Return the likeliest continuation of the one hypothesis of each sentence, with the score 0.

    Only one hypothesis of a sentence ever ends, so no two scores are compared. NaN stays NaN. The
    arguments are those of `candidates`, with K = 1.
    """
    for piece in never:
        logits[:, :, piece] = -torch.inf
    best, pieces = logits.max(dim=2)
    pieces = pieces.masked_fill(last.unsqueeze(1), end)
    return Candidates(best - best, pieces, torch.zeros_like(pieces))


def ended(chosen: Candidates, scores: Tensor, end: int, last: Tensor) -> Candidates:
    """Return candidates in which all hypotheses of the `last` sentences, (B,), end, the best first.

    `scores` are those of the hypotheses with the end symbol, (B, K).
    """
    best, parents = scores[last].sort(dim=1, descending=True)
    hypotheses = parents.size(1)
    for part, values in zip(chosen, (best, end, parents), strict=True):
        part[last, :hypotheses] = values
    return chosen


def likeliest(total: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the largest values of each row (B, n · CHUNK) and their places, (B, C), largest first.

    They are in the chunks with the C largest maxima. Sorting what these hold is several times as
    fast as looking for the largest values among all, which torch does value by value.
    """
    chunks = total.unflatten(1, (-1, CHUNK))
    if chunks.size(1) <= count:
        return total.topk(count, dim=1)
    numbers = chunks.amax(dim=2).topk(count, dim=1).indices
    first = torch.arange(len(total), device=total.device).unsqueeze(1) * chunks.size(1)
    values = chunks.flatten(0, 1).index_select(0, (first + numbers).flatten())
    best, places = values.view(len(total), -1).topk(count, dim=1)
    return best, numbers.gather(1, places // CHUNK) * CHUNK + places % CHUNK

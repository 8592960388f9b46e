"""The likeliest ways to continue the hypotheses of each sentence by one piece."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class Candidates(NamedTuple):
    """C ways to continue the hypotheses of each of B sentences, the likeliest first.

    Attributes:
        scores: (B, C) the sum of all log-probabilities.
        pieces: (B, C) the next piece.
        parents: (B, C) the hypothesis that it continues.
    """

    scores: Tensor
    pieces: Tensor
    parents: Tensor


def candidates(
    logits: Tensor, scores: Tensor, count: int, never: Sequence[int], end: int, last: Tensor
) -> Candidates:
    """Return the likeliest candidates of each sentence.

    Args:
        logits: (B, K, V) of the next piece of K hypotheses.
        scores: (B, K) of the hypotheses.
        count: how many candidates, C; of one hypothesis 1 is enough for greedy search.
        never: pieces that do not follow; they have their share of the probabilities all the same.
        end: the end symbol.
        last: (B,) true for sentences whose hypotheses all end here.
    """
    entries = logits.size(2)
    total = logits.log_softmax(dim=2, dtype=torch.float32) + scores.unsqueeze(2)
    for piece in never:
        total[:, :, piece] = -torch.inf
    best, places = likeliest(total.flatten(1), min(count, total[0].numel() - 1))
    chosen = Candidates(best, places % entries, places // entries)
    return ended(chosen, total[:, :, end], end, last) if last.any() else chosen


def greedy(logits: Tensor, never: Sequence[int], end: int, last: Tensor) -> Candidates:
    """Return the likeliest continuation of the one hypothesis of each sentence, with the score 0.

    Only one hypothesis of a sentence ever ends, so no two scores are compared. NaN stays NaN.

    Args:
        logits: (B, 1, V) of the next piece.
        never: pieces that do not follow.
        end: the end symbol.
        last: (B,) true for sentences whose hypothesis ends here.
    """
    for piece in never:
        logits[:, :, piece] = -torch.inf
    best, pieces = logits.max(dim=2)
    pieces = pieces.masked_fill(last.unsqueeze(1), end)
    return Candidates(best - best, pieces, torch.zeros_like(pieces))


def ended(chosen: Candidates, scores: Tensor, end: int, last: Tensor) -> Candidates:
    """Return candidates in which all hypotheses of some sentences end, the best first.

    Args:
        chosen: candidates of all sentences, (B, C) each.
        scores: (B, K) of the hypotheses with the end symbol.
        end: the end symbol.
        last: (B,) true for these sentences.
    """
    best, parents = scores[last].sort(dim=1, descending=True)
    hypotheses = parents.size(1)
    for part, values in zip(chosen, (best, end, parents), strict=True):
        part[last, :hypotheses] = values
    return chosen


def likeliest(total: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the largest values of each row and their places, (B, C) each, the largest first."""
    return total.topk(count, dim=1)

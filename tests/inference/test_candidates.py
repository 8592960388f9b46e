"""Candidates: the likeliest continuations, what never follows, and sentences that must end."""

import pytest
import torch
from torch import nn
from torch.nn.functional import pad

from fathom.decode.candidates import CHUNK, Output, candidates, greedy, likeliest

END = 2
NEVER = [1]
GOING = torch.zeros(3, dtype=torch.bool)


def numbers(*size: int) -> torch.Tensor:
    return torch.randn(*size, generator=torch.Generator().manual_seed(3))


def widened(logits: torch.Tensor) -> torch.Tensor:
    """Return logits with surplus entries, as `Output` gives them."""
    return pad(logits, (0, -logits.size(2) % CHUNK), value=-torch.inf)


@pytest.mark.parametrize("bias", [True, False])
def test_the_output_is_the_projection_with_entries_that_have_no_probability(bias):
    projection, rows = nn.Linear(5, 45, bias=bias), numbers(6, 5)
    logits = Output(projection)(rows)
    assert logits.shape == (6, 2 * CHUNK)
    assert torch.allclose(logits[:, :45], projection(rows), atol=1e-6)
    assert logits[:, 45:].eq(-torch.inf).all()


def test_scores_are_sums_of_log_probabilities_the_largest_first():
    logits, scores = numbers(3, 2, 7), numbers(3, 2)
    chosen = candidates(widened(logits), scores, 4, NEVER, END, GOING)
    total = widened(logits).log_softmax(2) + scores[:, :, None]
    for row in range(3):
        every = sorted(
            ((total[row, k, v].item(), v, k) for k in range(2) for v in range(7) if v not in NEVER),
            reverse=True,
        )
        rows = zip(*(part[row].tolist() for part in chosen), strict=True)
        assert list(rows) == every[:4]


def test_a_sentence_at_its_cap_has_only_hypotheses_that_end_the_best_first():
    logits, scores = numbers(3, 2, 7), numbers(3, 2)
    last = torch.tensor([False, True, False])
    chosen = candidates(widened(logits), scores, 4, NEVER, END, last)
    going = candidates(widened(logits), scores, 4, NEVER, END, GOING)
    total = (widened(logits).log_softmax(2) + scores[:, :, None])[1, :, END]
    assert chosen.pieces[1, :2].tolist() == [END, END]
    assert torch.equal(chosen.scores[1, :2], total.sort(descending=True).values)
    assert chosen.parents[1, :2].tolist() == total.argsort(descending=True).tolist()
    for part, other in zip(chosen, going, strict=True):
        assert torch.equal(part[[0, 2]], other[[0, 2]])


def test_greedy_takes_the_likeliest_piece_and_ends_at_the_cap():
    logits = numbers(3, 1, 7)
    logits[0, 0, 1] = 9.0
    chosen = greedy(widened(logits), NEVER, END, torch.tensor([False, False, True]))
    best = [max((logits[row, 0, v].item(), v) for v in range(7) if v != 1)[1] for row in (0, 1)]
    assert chosen.pieces.flatten().tolist() == [*best, END]
    assert chosen.parents.tolist() == [[0], [0], [0]]


@pytest.mark.parametrize("entries", [32, 64, 992, 2016, 10080])
@pytest.mark.parametrize("count", [1, 4, 10])
def test_the_likeliest_are_those_of_a_sort(entries, count):
    total = numbers(5, entries)
    total[:, ::3] = -torch.inf
    values, places = likeliest(total, count)
    order = total.sort(dim=1, descending=True, stable=True)
    finite = order.values[:, :count] > -torch.inf
    assert torch.equal(values, order.values[:, :count])
    assert torch.equal(places[finite], order.indices[:, :count][finite])

"""Decoding position by position gives the logits of the forward pass, whatever is selected."""

import pytest
import torch

from tests.support.small_networks import ENTRIES, batch
from tests.support.small_rnmt import recurrent_network

TASKS = torch.tensor([0, 1, 1, 0])
LENGTHS = [(5, 9), (3, 9), (7, 9), (1, 9)]
TOLERANCE = 1e-5


@pytest.mark.parametrize("layers", [1, 4])
@torch.no_grad()
def test_logits_are_those_of_the_forward_pass_for_any_selection(layers):
    model = recurrent_network(decoder_layers=layers).eval()
    stream = torch.Generator().manual_seed(1)
    source, _, _ = batch(LENGTHS)
    steps, tasks = model.steps(source, TASKS), TASKS
    rows = torch.full((4, 1, 1), 2)
    for sentences, width, before in (
        ([0, 1, 2, 3], 3, 1),
        ([0, 3, 2], 3, 3),
        ([0, 1, 2], 2, 3),
        ([2], 3, 2),
    ):
        logits = steps.output(steps.advance(rows[:, :, -1].flatten()))
        spread = [part.repeat_interleave(before, dim=0) for part in (source, tasks)]
        everything = model(spread[0], rows.flatten(0, 1), spread[1])
        assert torch.allclose(logits, everything[:, -1], atol=TOLERANCE)
        order = torch.tensor(sentences)
        parents = torch.randint(before, (len(sentences), width), generator=stream)
        steps.select(order, parents)
        source, tasks = source[order], tasks[order]
        old = rows[order].gather(1, parents[:, :, None].expand(-1, -1, rows.size(2)))
        pieces = torch.randint(4, ENTRIES, (len(sentences), width, 1), generator=stream)
        rows = torch.cat([old, pieces], dim=2)


@torch.no_grad()
def test_the_source_is_prepared_once_a_sentence():
    model, calls = recurrent_network().eval(), []
    attention = model.decoder.layers[0].attention
    honest = attention.prepare
    attention.prepare = lambda *given: calls.append(1) or honest(*given)
    source, _, _ = batch(LENGTHS)
    steps = model.steps(source, TASKS)
    for hypotheses in (3, 3):
        steps.advance(torch.full((len(steps.tasks) * steps.hypotheses,), 5))
        steps.select(torch.arange(4), torch.zeros(4, hypotheses, dtype=torch.long))
    assert calls == [1]
    assert len(steps.shared.source.keys) == 4

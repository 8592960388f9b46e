"""Decoding position by position gives the logits of the forward pass, whatever is selected."""

from functools import partial

import pytest
import torch

from fathom.nn.stack import compaction_order, moved_slots
from tests.reference.padded.networks import padded_logits
from tests.support.layer_hooks import deep_norm
from tests.support.small_networks import ENTRIES, batch, method, network, recurrent_network, shape

TASKS = torch.tensor([0, 1, 1, 0])
LENGTHS = [(5, 9), (3, 9), (7, 9), (1, 9)]
# Sums of the same terms in another order, in float32.
TOLERANCE = 1e-5


def transformer(name, norm):
    settings = {"groups": 4, "active": 2} if name == "group_dropout" else {}
    return network(method(name, **settings), shape(norm=norm))


MODELS = (
    {
        f"{name}-{norm}": partial(transformer, name, norm)
        for name in ("static", "latent_layers", "dlcl", "adapters", "group_dropout")
        for norm in ("pre", "post", "lingvo", "none")
    }
    | {"deep_norm": deep_norm}
    | {
        f"rnmt_plus-{layers}": partial(recurrent_network, decoder_layers=layers)
        for layers in (1, 4)
    }
)


def expected(model, source, rows, tasks):
    """Return the logits after the last piece of each row (n, T) of sentences (n, S)."""
    return padded_logits(model, source, rows, tasks)[:, -1]


@pytest.mark.parametrize("made", MODELS.values(), ids=MODELS)
@torch.no_grad()
def test_logits_are_those_of_the_forward_pass_for_any_selection(made):
    """Six positions, at which hypotheses split and sentences leave the batch."""
    model = made().eval()
    stream = torch.Generator().manual_seed(1)
    source, _, _ = batch(LENGTHS)
    steps, tasks = model.steps(source, TASKS), TASKS
    rows = torch.full((4, 1, 1), 2)
    selections = [
        ([0, 1, 2, 3], 3, 1),
        ([0, 1, 2, 3], 3, 3),
        ([0, 3, 2], 3, 3),
        ([0, 1, 2], 2, 3),
        ([2], 3, 2),
    ]
    for sentences, width, before in selections:
        logits = steps.output(steps.advance(rows[:, :, -1].flatten()))
        beams = source.repeat_interleave(before, dim=0), rows.flatten(0, 1)
        wanted_logits = expected(model, *beams, tasks.repeat_interleave(before))
        assert torch.allclose(logits, wanted_logits, atol=TOLERANCE)
        # The forward pass has begun the method for rows of its own.
        steps.method.begin(tasks.repeat_interleave(before))
        order = torch.tensor(sentences)
        parents = torch.randint(before, (len(sentences), width), generator=stream)
        steps.select(order, parents)
        source, tasks = source[order], tasks[order]
        old = rows[order].gather(1, parents[:, :, None].expand(-1, -1, rows.size(2)))
        pieces = torch.randint(4, ENTRIES, (len(sentences), width, 1), generator=stream)
        rows = torch.cat([old, pieces], dim=2)


@torch.no_grad()
def test_there_is_room_for_many_positions():
    model = network(method("static", ())).eval()
    source, _, _ = batch(LENGTHS[:1])
    steps, rows = model.steps(source, TASKS[:1]), torch.full((1, 1), 2)
    for _ in range(40):
        logits = steps.output(steps.advance(rows[:, -1]))
        steps.select(torch.tensor([0]), torch.tensor([[0]]))
        assert torch.allclose(logits, expected(model, source, rows, TASKS[:1]), atol=TOLERANCE)
        rows = torch.cat([rows, logits[:, 4:].argmax(dim=1, keepdim=True) + 4], dim=1)


@torch.no_grad()
def test_the_method_begins_when_rows_change_and_at_no_other_position():
    model, begun = network(method("latent_layers")).eval(), []
    source, _, _ = batch(LENGTHS)
    steps, honest = model.steps(source, TASKS), model.decoder.method.begin
    model.decoder.method.begin = lambda tasks: begun.append(tasks.tolist()) or honest(tasks)
    every, pairs = torch.arange(4), torch.zeros(4, 2, dtype=torch.long)
    for sentences, parents in ((every, pairs), (every, pairs), (every[:3], pairs[:3])):
        steps.advance(torch.full((len(steps.tasks) * steps.hypotheses,), 5))
        steps.select(sentences, parents)
    assert begun == [[0, 0, 1, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 1]]


@torch.no_grad()
def test_layers_that_no_sentence_keeps_are_not_computed():
    model, calls = network(method("latent_layers")).eval().use_gates("hard"), []
    alpha = model.decoder.method.alpha
    alpha.copy_(torch.tensor([[1.0, -1.0, 1.0], [-1.0, -1.0, 1.0]]))
    for number, layer in enumerate(model.decoder.layers):
        layer.final_layer_norm.register_forward_hook(lambda *_, n=number: calls.append(n))
    source, _, _ = batch(LENGTHS)
    steps = model.steps(source, TASKS)
    steps.advance(torch.full((4,), 2))
    assert calls == [0, 2]
    calls.clear()
    steps.select(torch.tensor([2, 1]), torch.zeros(2, 1, dtype=torch.long))
    steps.advance(torch.full((2,), 5))
    assert calls == [2]


@pytest.mark.parametrize(
    ("dropped", "order"),
    [
        ([0, 1, 0, 1, 1, 0, 0], [0, 5, 2, 6]),
        ([0, 0, 1, 1], [0, 1]),
        ([1, 1], []),
        ([0, 0], [0, 1]),
    ],
)
def test_the_last_sentences_fill_the_gaps_of_those_that_are_dropped(dropped, order):
    assert compaction_order(torch.tensor(dropped, dtype=torch.bool)).tolist() == order


def test_only_what_changes_its_place_is_moved():
    places, sentences = moved_slots(torch.tensor([0, 5, 2, 6]))
    assert places.tolist() == [1, 3]
    assert sentences.tolist() == [5, 6]


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

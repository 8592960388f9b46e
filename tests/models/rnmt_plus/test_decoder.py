"""The recurrent decoder: one position at a time, its residuals, and a first layer that is away."""

import pytest
import torch

from fathom.nn.hooks import Method
from fathom.nn.rnmt_plus.cells import step
from tests.support.small_networks import batch
from tests.support.small_rnmt import recurrent_network, silence

LENGTHS = [(5, 6), (3, 6), (7, 6)]
SOURCE, PREVIOUS, _ = batch(LENGTHS)
TASKS = torch.tensor([0, 1, 1])


class FirstAway(Method):
    """Leaves the first layer out."""

    def keep(self, layer):
        return layer != 0


class SecondAway(Method):
    """Leaves the second layer out."""

    def keep(self, layer):
        return layer != 1


def steps(model, memory, state, previous, start=1):
    """Return the logits of each position from `start` on, one after another."""
    return [
        model.decoder(previous[:, :length], memory, incremental_state=state)[0]
        for length in range(start, previous.size(1) + 1)
    ]


@pytest.mark.parametrize(
    ("kind", "layers"),
    [(Method, 1), (Method, 4), (FirstAway, 1), (FirstAway, 3), (SecondAway, 2), (SecondAway, 4)],
)
def test_incremental_decoding_equals_the_whole_pass(kind, layers):
    model = recurrent_network(kind, decoder_layers=layers).eval().for_task(1)
    with torch.no_grad():
        whole = model(SOURCE, PREVIOUS, TASKS)
        found = steps(model, model.encoder(SOURCE), {}, PREVIOUS)
    assert torch.allclose(torch.cat(found, dim=1), whole, atol=1e-5)


@pytest.mark.parametrize("order", [[2, 0, 1], [1, 1, 1, 0, 2], [2]])
def test_what_was_kept_can_be_reordered_between_steps(order):
    model, rows, state = recurrent_network().eval().for_task(1), torch.tensor(order), {}
    with torch.no_grad():
        memory = model.encoder(SOURCE)
        steps(model, memory, state, PREVIOUS[:, :3])
        model.decoder.reorder_incremental_state_scripting(state, rows)
        chosen = model.encoder.reorder_encoder_out(memory, rows)
        found = steps(model, chosen, state, PREVIOUS[rows], start=4)
        whole = model(SOURCE, PREVIOUS, TASKS)
    assert torch.allclose(torch.cat(found, dim=1), whole[rows, 3:], atol=1e-5)


def test_the_source_is_prepared_once(monkeypatch):
    model, calls = recurrent_network().eval().for_task(1), []
    attention = model.decoder.layers[0].attention
    prepare = attention.prepare
    monkeypatch.setattr(attention, "prepare", lambda *given: calls.append(1) or prepare(*given))
    steps(model, model.encoder(SOURCE), {}, PREVIOUS)
    assert len(calls) == 1


def test_reordering_before_the_first_step_is_nothing():
    state = {}
    recurrent_network().decoder.reorder_incremental_state(state, torch.tensor([0]))
    assert state == {}


def test_the_first_layer_reads_the_context_of_the_step_before_and_queries_its_own():
    model = recurrent_network(decoder_layers=2).eval()
    layer, memory = model.decoder.layers[0], model.encoder(SOURCE, tasks=TASKS)
    attention, lstm = layer.attention, layer.lstm
    source = attention.prepare(memory["encoder_out"][0], memory["encoder_padding_mask"][0])
    m = c = torch.zeros(3, 8)
    context, outputs, contexts = attention(m, source), [], []
    for x in model.decoder.embed_tokens(PREVIOUS).unbind(1):
        a = torch.cat([x, context, m], dim=-1) @ lstm.weight[0]
        m, c = step(a, c, lstm.scale[0], lstm.bias[0])
        context = attention(m, source)
        outputs.append(m)
        contexts.append(context)
    assert torch.allclose(seen(model)[1], torch.stack(outputs), atol=1e-5)
    shared = model.decoder.start_pass(memory, None)
    layer(model.decoder.embed_tokens(PREVIOUS).transpose(0, 1), shared)
    assert torch.allclose(shared.contexts, torch.stack(contexts), atol=1e-5)


def test_a_pass_leaves_nothing_behind_for_the_next():
    model = recurrent_network().eval()
    assert torch.equal(model(SOURCE, PREVIOUS, TASKS), model(SOURCE, PREVIOUS, TASKS))


def test_no_position_sees_a_later_one():
    model = recurrent_network().eval()
    other = PREVIOUS.clone()
    other[:, 4:] = 9
    left, right = (model(SOURCE, each, TASKS) for each in (PREVIOUS, other))
    assert torch.equal(left[:, :4], right[:, :4])
    assert not torch.equal(left[:, 4], right[:, 4])


def seen(model) -> list[torch.Tensor]:
    """Return the embeddings and each layer's output."""
    found = []
    model.decoder.observer = found.extend
    model(SOURCE, PREVIOUS, TASKS)
    return found


@pytest.mark.parametrize("residuals", [("decoder",), ("encoder", "decoder"), ("encoder",), ()])
def test_residuals_begin_with_the_third_layer_where_the_side_has_them(residuals):
    model = recurrent_network(residuals=residuals)
    for layer in model.decoder.layers[2:]:
        silence(layer.lstm)
    outputs = seen(model)
    assert outputs[2].any()
    for output in outputs[3:]:
        assert torch.equal(output, outputs[2] if "decoder" in residuals else 0 * outputs[2])
    silence(model.decoder.layers[1].lstm)
    assert not seen(model)[2].any()


def test_the_first_layers_output_is_not_dropped_and_the_others_are():
    outputs = seen(recurrent_network(dropout=0.5).train())
    assert 0.4 < outputs[0].eq(0).float().mean() < 0.6
    assert not outputs[1].eq(0).any()
    assert 0.4 < outputs[2].eq(0).float().mean() < 0.6


def test_attention_dropout_is_drawn_once_for_all_positions():
    model = recurrent_network(attention_dropout=0.5).train()
    sources = []
    attention = model.decoder.layers[0].attention
    attention.register_forward_hook(lambda _, given, __: sources.append(given[1]))
    model(SOURCE, PREVIOUS, TASKS)
    assert len(sources) == 1 + PREVIOUS.size(1)
    assert all(each.mask is sources[0].mask for each in sources)
    model(SOURCE, PREVIOUS, TASKS)
    assert not torch.equal(sources[-1].mask, sources[0].mask)


class FirstClosed(Method):
    """Computes the first layer and passes on what it read."""

    def block(self, layer, x, y):
        return y if layer else x


def test_a_first_layer_that_is_left_out_asks_for_the_contexts_as_a_closed_one_does():
    """Else a sentence's contexts would depend on whether others in the batch keep the layer."""
    away, closed = (recurrent_network(each, decoder_layers=2) for each in (FirstAway, FirstClosed))
    logits = away(SOURCE, PREVIOUS, TASKS)
    assert torch.equal(logits, closed(SOURCE, PREVIOUS, TASKS))
    assert not torch.allclose(logits, recurrent_network(decoder_layers=2)(SOURCE, PREVIOUS, TASKS))
    logits.sum().backward()
    assert away.decoder.layers[0].lstm.weight.grad.any()


def test_the_output_has_a_bias_where_the_model_says_so():
    assert recurrent_network().decoder.output_projection.bias.shape == (23,)
    assert recurrent_network(output_bias=False).decoder.output_projection.bias is None


def test_no_attention_weights_are_returned():
    model = recurrent_network().eval().for_task(0)
    logits, extra = model.decoder(PREVIOUS, model.encoder(SOURCE))
    assert logits.shape == (3, 6, 23)
    assert extra == {"attn": [None]}
    assert model.decoder.max_positions() > 10_000

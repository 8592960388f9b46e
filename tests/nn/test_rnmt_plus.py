"""The recurrent network against plain steps of single vectors, and its encoder and decoder."""

import pytest
import torch
from torch import nn

from fathom.methods.build import build
from fathom.nn.hooks import Method
from fathom.nn.network import Entries
from fathom.nn.rnmt_plus.cells import step
from fathom.nn.rnmt_plus.stacks import recurrent_table
from tests.reference import plain_rnmt
from tests.reference.padded.networks import padded, padded_logits
from tests.support.refused import refused
from tests.support.small_networks import (
    ENTRIES,
    PAD,
    Dictionary,
    batch,
    gradients,
    method,
    nll,
    recurrent,
    recurrent_network,
)

LENGTHS = [(5, 4), (3, 6), (7, 2), (1, 1)]
TASKS = torch.tensor([0, 1, 1, 0])
SOURCE, PREVIOUS, TARGET = batch(LENGTHS)


class Thinning(nn.Module):
    """Replaces dropout and scales instead, so that a test sees where dropout is."""

    def forward(self, x):
        return 0.75 * x


def thin(network):
    """Put `Thinning` where a network has dropout modules, and return the network."""
    for module in list(network.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Dropout):
                setattr(module, name, Thinning())
    return network


def silence(lstm):
    """Make an LSTM say 0 to everything."""
    with torch.no_grad():
        lstm.scale.zero_()
        lstm.bias.zero_()


@pytest.mark.parametrize(
    "changes", [{}, {"residuals": ()}, {"encoder_layers": 1, "decoder_layers": 1}, {"heads": 2}]
)
def test_the_network_is_its_plain_steps_forward_and_in_its_gradients(changes):
    ours, theirs = (thin(recurrent_network(**changes)).double() for _ in range(2))
    residual = changes.get("residuals") is None

    def plain(row):
        pieces, positions = LENGTHS[row]
        source, previous = SOURCE[row, :pieces], PREVIOUS[row, :positions]
        memory = plain_rnmt.encode(theirs.encoder, source, residual, lambda x: 0.75 * x)
        return plain_rnmt.decode(theirs.decoder, memory, previous, residual, lambda x: 0.75 * x)

    logits, expected = (
        padded_logits(ours, SOURCE, PREVIOUS, TASKS),
        [plain(row) for row in range(len(LENGTHS))],
    )
    for row, each in enumerate(expected):
        assert torch.allclose(logits[row, : len(each)], each, atol=1e-10)
    nll(logits, TARGET).backward()
    for row, each in enumerate(expected):
        nll(each[None], TARGET[row : row + 1, : len(each)]).backward()
    found = gradients(ours)
    for name, gradient in gradients(theirs).items():
        assert gradient.any(), name
        assert torch.allclose(found[name], gradient, atol=1e-9), name


@pytest.mark.parametrize("shared", ["decoder", "all"])
def test_shared_embeddings_are_refused(shared):
    with refused(where="model.tie_embeddings", remedy="none"):
        recurrent_network(tie_embeddings=shared)


def test_a_layer_that_is_dropped_learns_nothing_but_the_one_that_asks_for_contexts():
    dictionary = Dictionary(ENTRIES)
    model = build(recurrent(), method("layerdrop", p=0.5), 2, dictionary, dictionary)
    dropped = 0
    for number in range(1, 9):
        model.zero_grad()
        model.start_update(1, number)
        nll(padded_logits(model, SOURCE, PREVIOUS, TASKS), TARGET).backward()
        for side, stack in model.stacks.items():
            for layer, kept in zip(stack.layers, model.methods[side].active_layers, strict=True):
                asks = layer is model.decoder.layers[0]
                assert (layer.lstm.weight.grad is not None) == (kept or asks)
                dropped += not kept
    assert dropped > 16


def seen(stack, *given, **named) -> list[torch.Tensor]:
    """Return the embeddings and each layer's output."""
    found = []
    stack.observer = found.extend
    stack(*given, **named)
    return found


def encoded(encoder) -> list[torch.Tensor]:
    return seen(encoder, SOURCE, tasks=TASKS)


@pytest.mark.parametrize("residuals", [("encoder",), ("encoder", "decoder"), ("decoder",), ()])
def test_residuals_begin_with_the_third_layer_where_the_side_has_them(residuals):
    encoder = recurrent_network(residuals=residuals).encoder
    for layer in encoder.layers[2:]:
        silence(layer.lstm)
    outputs = encoded(encoder)
    assert outputs[2].any()
    for output in outputs[3:]:
        assert torch.equal(output, outputs[2] if "encoder" in residuals else 0 * outputs[2])
    silence(encoder.layers[1].lstm)
    assert not encoded(encoder)[2].any()


def test_dropout_falls_on_embeddings_and_on_every_layers_output_before_it_is_added():
    encoder = recurrent_network(dropout=0.5).train().encoder
    first, _, second, third, *_ = (each[SOURCE.ne(PAD).t()] for each in encoded(encoder))
    assert 0.4 < first.eq(0).float().mean() < 0.6
    assert 0.4 < second.eq(0).float().mean() < 0.6
    assert 0.4 < third.eq(second).float().mean() < 0.7


class Recording(Method):
    """Remembers what the hooks were given."""

    def __init__(self, stack):
        super().__init__(stack)
        self.asked = []

    def residual(self, layer, part, x, fx):
        self.asked.append(("residual", layer, part))
        return super().residual(layer, part, x, fx)

    def keep(self, layer):
        self.asked.append(("keep", layer))
        return True

    def block(self, layer, x, y):
        self.asked.append(("block", layer, tuple(x.shape), tuple(y.shape)))
        return y

    def after(self, layer, y):
        self.asked.append(("after", layer))
        return y

    def memory(self, outputs, count):
        self.asked.append(("memory", [tuple(each.shape) for each in outputs], count))
        return super().memory(outputs, count)


def test_a_method_is_asked_at_every_place_in_order():
    encoder = recurrent_network(Recording, encoder_layers=3).encoder
    encoder(SOURCE, tasks=TASKS)
    wide = (7, 4, 16)
    expected = []
    for layer in range(3):
        expected.append(("keep", layer))
        expected += [("residual", layer, "recurrence")] * (layer == 2)
        expected += [("block", layer, wide, wide), ("after", layer)]
    assert encoder.method.asked == [*expected, ("memory", [wide] * 4, 1)]


class Mixing(Method):
    """Lets the decoder read a weighted sum of all layers."""

    def __init__(self, stack):
        super().__init__(stack)
        self.weights = nn.Parameter(torch.arange(1.0, stack.sources + 1))

    def memory(self, outputs, count):
        layers = outputs[-self.stack.sources :]
        return [sum(w * h for w, h in zip(self.weights, layers, strict=True))] * count


def test_a_mixture_of_layers_is_made_before_the_projection():
    encoder = recurrent_network(Mixing).encoder
    assert (encoder.method.stack.sources, encoder.method.stack.memories) == (4, 1)
    outputs = encoded(encoder)[1:]
    mixed = sum(number * output for number, output in enumerate(outputs, start=1))
    found = encoder(SOURCE, tasks=TASKS)
    assert torch.allclose(found, encoder.projection(mixed), atol=1e-4)
    found.sum().backward()
    assert encoder.method.weights.grad.ne(0).all()


def test_tables_start_uniform_and_at_zero_for_padding():
    torch.manual_seed(1)
    table = recurrent_table(Entries(500), 64).weight
    assert 0.0399 < table.abs().max() <= 0.04
    assert table.std().item() == pytest.approx(0.04 / 3**0.5, rel=0.02)
    assert not table[PAD].any()


# As many positions in each sentence, so that all of them take each step.
SOURCES, POSITIONS, _ = batch([(5, 6), (3, 6), (7, 6)])


def without(number):
    """Return a method that leaves a layer out."""
    return type(f"Without{number}", (Method,), {"keep": lambda self, layer: layer != number})


def steps(model, memory, state, previous, start=1):
    """Return the logits of each position from `start` on, one after another."""
    return [
        model.decoder(previous[:, :length], memory, incremental_state=state)[0]
        for length in range(start, previous.size(1) + 1)
    ]


@pytest.mark.parametrize(
    ("kind", "layers"),
    [(Method, 1), (Method, 4), (without(0), 1), (without(0), 3), (without(1), 2), (without(1), 4)],
)
def test_incremental_decoding_equals_the_whole_pass(kind, layers):
    model = recurrent_network(kind, decoder_layers=layers).eval()
    with torch.no_grad():
        whole = padded_logits(model, SOURCES, POSITIONS, TASKS[:3])
        reference = padded(model, task=1)
        found = steps(reference, reference.encoder(SOURCES), {}, POSITIONS)
    assert torch.allclose(torch.cat(found, dim=1), whole, atol=1e-5)


@pytest.mark.parametrize("order", [[2, 0, 1], [1, 1, 1, 0, 2], [2]])
def test_what_was_kept_can_be_reordered_between_steps(order):
    model, rows, state = recurrent_network().eval(), torch.tensor(order), {}
    reference = padded(model, task=1)
    with torch.no_grad():
        memory = reference.encoder(SOURCES)
        steps(reference, memory, state, POSITIONS[:, :3])
        reference.decoder.reorder_incremental_state_scripting(state, rows)
        chosen = reference.encoder.reorder_encoder_out(memory, rows)
        found = steps(reference, chosen, state, POSITIONS[rows], start=4)
        whole = padded_logits(model, SOURCES, POSITIONS, TASKS[:3])
    assert torch.allclose(torch.cat(found, dim=1), whole[rows, 3:], atol=1e-5)


def test_the_first_layer_reads_the_context_of_the_step_before_and_queries_its_own():
    model, tasks = recurrent_network(decoder_layers=2).eval(), torch.zeros(3, dtype=torch.long)
    layer, memory = model.decoder.layers[0], model.encoder(SOURCES, tasks)
    attention, lstm = layer.attention, layer.lstm
    padding = SOURCES.eq(PAD)
    source = attention.prepare(memory, padding)
    m = c = torch.zeros(3, 8)
    context, outputs, contexts = attention(m, source), [], []
    for x in model.decoder.embed_tokens(POSITIONS).unbind(1):
        a = torch.cat([x, context, m], dim=-1) @ lstm.weight[0]
        m, c = step(a, c, lstm.scale[0], lstm.bias[0])
        context = attention(m, source)
        outputs.append(m)
        contexts.append(context)
    first = seen(model.decoder, POSITIONS, memory, padding, tasks)[1]
    assert torch.allclose(first, torch.stack(outputs), atol=1e-5)
    shared = model.decoder.start_pass(memory, padding)
    layer(model.decoder.embed_tokens(POSITIONS).transpose(0, 1), shared)
    assert torch.allclose(shared.contexts, torch.stack(contexts), atol=1e-5)


class FirstClosed(Method):
    """Computes the first layer and passes on what it read."""

    def block(self, layer, x, y):
        return y if layer else x


def test_a_first_layer_that_is_left_out_asks_for_the_contexts_as_a_closed_one_does():
    """Else a sentence's contexts would depend on whether others in the batch keep the layer."""
    away, closed = (recurrent_network(each, decoder_layers=2) for each in (without(0), FirstClosed))
    logits = padded_logits(away, SOURCES, POSITIONS, TASKS[:3])
    assert torch.equal(logits, padded_logits(closed, SOURCES, POSITIONS, TASKS[:3]))
    assert not torch.allclose(
        logits, padded_logits(recurrent_network(decoder_layers=2), SOURCES, POSITIONS, TASKS[:3])
    )
    logits.sum().backward()
    assert away.decoder.layers[0].lstm.weight.grad.any()

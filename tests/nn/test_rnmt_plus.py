"""The recurrent network and its layers against plain steps of single vectors."""

import pytest
import torch
from torch import nn

from fathom.methods.build import build
from fathom.nn.hooks import Method
from fathom.nn.network import Entries
from fathom.nn.rnmt_plus.cells import AdditiveAttention, LstmLayer, step
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


@pytest.mark.parametrize("residuals", [("encoder", "decoder"), ()])
@pytest.mark.parametrize("gate_on", ["block", "sub_layer"])
def test_closed_gates_on_recurrences_leave_out_no_layer_and_those_on_layers_all(residuals, gate_on):
    """A first layer whose recurrence has no residual does not pass on what it read."""
    dictionary = Dictionary(ENTRIES)
    gated = method("latent_layers", gate_on=gate_on)
    model = build(recurrent(residuals=residuals), gated, 2, dictionary, dictionary)
    model.eval().use_gates("hard")
    for each in model.methods.values():
        each.alpha.data.fill_(-1.0)
    found = padded_logits(model, SOURCE, PREVIOUS, TASKS)
    for each in model.methods.values():
        assert each.active_layers == [gate_on == "sub_layer"] * 4
        each.keep = lambda layer: True
    assert torch.equal(found, padded_logits(model, SOURCE, PREVIOUS, TASKS))


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


OPEN = 100.0  # Saturates every gate.


def layer(inputs=3, cell=5, directions=2) -> LstmLayer:
    """Return a layer in float64 whose weights are large enough to matter."""
    torch.manual_seed(5)
    found = LstmLayer(inputs, cell, directions).double()
    with torch.no_grad():
        for each in (found.weight, found.scale, found.bias):
            each.add_(torch.randn_like(each))
    return found


def sentence(steps, sentences=1):
    stream = torch.Generator().manual_seed(2)
    return torch.randn(steps, sentences, 3, generator=stream, dtype=torch.float64)


def test_a_step_is_the_plain_cell():
    parts = layer(directions=1)
    x, m, c = (torch.randn(2, size, dtype=torch.float64) for size in (3, 5, 5))
    (weight,), (scale,), (bias,) = parts.weight, parts.scale, parts.bias
    found = step(torch.cat([x, m], dim=1) @ weight, 3 * c, scale, bias)
    for row in range(2):
        expected = plain_rnmt.cell(x[row], m[row], 3 * c[row], (weight, scale, bias))
        for ours, theirs in zip(found, expected, strict=True):
            assert torch.allclose(ours[row], theirs, atol=1e-12)


@pytest.mark.parametrize("directions", [1, 2])
def test_a_layer_is_a_loop_of_cells_forward_and_in_its_gradients(directions):
    ours, x = layer(directions=directions), sentence(6)
    theirs = layer(directions=directions)
    weight = torch.randn(6, directions * 5, dtype=torch.float64)
    found = ours(x)[0][:, 0]
    rows = list(x[:, 0])
    plain = plain_rnmt.both(rows, theirs) if directions == 2 else plain_rnmt.run(rows, theirs, 0)
    expected = torch.stack(plain)
    assert torch.allclose(found, expected, atol=1e-12)
    (found * weight).sum().backward()
    (expected * weight).sum().backward()
    for name, gradient in gradients(theirs).items():
        assert torch.allclose(gradients(ours)[name], gradient, atol=1e-11), name


def saturated() -> LstmLayer:
    """Return a layer that adds 1 to its state at each step, and lets all of it out."""
    parts = LstmLayer(2, 3, 1)
    with torch.no_grad():
        parts.scale.zero_()
        parts.bias.fill_(OPEN)
    return parts


def test_the_output_has_no_tanh_and_the_state_is_clipped_at_ten():
    outputs, (m, c) = saturated()(torch.zeros(14, 1, 2))
    assert outputs[:, 0, 0].tolist() == [*range(1, 11), 10, 10, 10, 10]
    assert torch.equal(m, c)
    downwards = saturated()
    with torch.no_grad():
        downwards.bias[:, 0] = -OPEN
    assert downwards(torch.zeros(14, 1, 2))[1][1].max() == -10


def test_no_gradient_passes_a_clipped_state():
    scale, bias = torch.zeros(4, 1), torch.full((4, 1), OPEN)
    for before, expected in ((5.0, 1.0), (9.5, 0.0), (-20.0, 0.0)):
        c = torch.tensor([before], requires_grad=True)
        step(torch.zeros(4), c, scale, bias)[1].backward()
        assert c.grad.item() == expected


def test_equal_numbers_in_a_gate_are_normalised_to_zero_with_a_finite_gradient():
    a = torch.zeros(1, 8, requires_grad=True)
    m, _ = step(a, torch.ones(1, 2), torch.ones(4, 2), torch.zeros(4, 2))
    m.sum().backward()
    assert torch.isfinite(a.grad).all()


SENTENCE_LENGTHS = (4, 6, 1)


def with_padding():
    """Return a batch of three sentences, with any values at padding, and its padding."""
    padding = torch.arange(6)[:, None] >= torch.tensor(SENTENCE_LENGTHS)
    return sentence(6, 3).masked_fill(padding[..., None], 77.0), padding


def test_a_sentence_alone_equals_the_same_in_a_batch():
    parts, (x, padding) = layer(), with_padding()
    together, states = parts(x, padding)
    for row, length in enumerate(SENTENCE_LENGTHS):
        alone, own = parts(x[:length, row : row + 1])
        assert torch.allclose(together[:length, row], alone[:, 0], atol=1e-12)
        for ours, theirs in zip(states, own, strict=True):
            assert torch.allclose(ours[:, row], theirs[:, 0], atol=1e-12)


def test_what_stands_at_padding_has_no_gradient():
    parts, (x, padding) = layer(), with_padding()
    x.requires_grad_()
    outputs, _ = parts(x, padding)
    outputs.sum().backward()
    assert not x.grad[padding].any()
    assert x.grad[~padding].any(dim=-1).all()


def test_matrices_start_uniform_and_norms_neutral():
    torch.manual_seed(3)
    parts = LstmLayer(64, 64, 2)
    assert 0.0399 < parts.weight.abs().max() <= 0.04
    assert parts.weight.std().item() == pytest.approx(0.04 / 3**0.5, rel=0.02)
    assert parts.scale.eq(1).all()
    assert not parts.bias.any()


def test_low_precision_keeps_the_state_in_full():
    parts, x = layer().float(), sentence(30, 2).float()
    exact, _ = parts(x)
    with torch.autocast("cpu", torch.bfloat16):
        low, (m, c) = parts(x)
    assert m.dtype == c.dtype == torch.float32
    assert (low - exact).abs().mean() < 0.03


WIDTH, HEADS, SOURCE_LENGTHS = 8, 4, (5, 2, 3)
PADDING = torch.arange(5) >= torch.tensor(SOURCE_LENGTHS)[:, None]


def attention(dropout=0.0) -> AdditiveAttention:
    torch.manual_seed(5)
    found = AdditiveAttention(WIDTH, HEADS, dropout).double()
    with torch.no_grad():
        for each in found.parameters():
            each.add_(torch.randn_like(each))
    return found


def given():
    """Return memories with anything at padding, and queries."""
    stream = torch.Generator().manual_seed(2)
    memory = torch.randn(5, 3, WIDTH, generator=stream, dtype=torch.float64)
    queries = torch.randn(3, WIDTH, generator=stream, dtype=torch.float64)
    return memory.masked_fill(PADDING.t()[..., None], 77.0), queries


def test_it_is_a_loop_over_heads_and_sources_forward_and_in_its_gradients():
    ours, theirs = attention(), attention()
    memory, queries = given()
    found = ours(queries, ours.prepare(memory, PADDING))
    expected = torch.stack(
        [
            plain_rnmt.context(list(memory[:length, row]), queries[row], theirs)
            for row, length in enumerate(SOURCE_LENGTHS)
        ]
    )
    assert torch.allclose(found, expected, atol=1e-12)
    weight = torch.randn_like(found)
    (found * weight).sum().backward()
    (expected * weight).sum().backward()
    for name, gradient in gradients(theirs).items():
        assert torch.allclose(gradients(ours)[name], gradient, atol=1e-11), name


def test_one_draw_of_dropout_holds_for_all_queries():
    parts, (memory, queries) = attention(dropout=0.5), given()
    source = parts.prepare(memory, PADDING)
    assert torch.equal(parts(queries, source), parts(queries, source))
    assert not torch.equal(parts(queries, source), parts(queries, parts.prepare(memory, PADDING)))


def test_dropout_falls_on_weights_each_sentence_and_head_by_itself():
    parts = attention(dropout=0.25)
    source = parts.prepare(
        torch.zeros(200, 30, WIDTH, dtype=torch.float64), torch.zeros(30, 200) > 0
    )
    mask = source.mask
    assert mask.shape == (30, 1, HEADS, 200)
    assert set(mask.unique().tolist()) == {0.0, 1 / 0.75}
    # 24,000 draws: four standard deviations.
    assert mask.eq(0).double().mean().item() == pytest.approx(0.25, abs=0.0112)
    assert not torch.equal(mask[0], mask[1])
    assert not torch.equal(mask[:, 0, 0], mask[:, 0, 1])


def test_a_dropped_weight_is_lost_and_the_others_grow():
    parts, (memory, queries) = attention(dropout=0.5), given()
    source = parts.prepare(memory, PADDING)
    first = torch.zeros_like(source.mask)
    first[..., 0] = 2.0
    # Where only the first vector is not zero but one, a context is that vector's weight.
    ones = torch.zeros_like(source.values)
    ones[:, :, :, 0] = 1.0
    weights = parts(queries, source._replace(mask=None, values=ones)).unflatten(-1, (HEADS, -1))
    expected = 2 * weights * source.values[:, 0, :, 0]
    found = parts(queries, source._replace(mask=first))
    assert torch.allclose(found, expected.flatten(1), atol=1e-12)


def test_there_is_no_dropout_outside_training():
    parts, (memory, _) = attention(dropout=0.5), given()
    assert parts.eval().prepare(memory, PADDING).mask is None
    assert attention(dropout=0.0).prepare(memory, PADDING).mask is None


def test_projections_start_by_xaviers_rule_scores_normal_and_biases_at_zero():
    torch.manual_seed(1)
    parts = AdditiveAttention(256, 4, 0.0)
    for projection in (parts.source_projection, parts.query_projection):
        assert projection.weight.abs().max() <= (6 / 512) ** 0.5
        assert projection.weight.std().item() == pytest.approx(256**-0.5, rel=0.03)
    assert parts.source_score.std().item() == pytest.approx(1 / 8, rel=0.05)
    assert parts.query_score.std().item() == pytest.approx(1 / 8, rel=0.05)
    assert not parts.source_projection.bias.any()
    assert not parts.query_projection.bias.any()

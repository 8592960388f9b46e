"""The recurrent layer against single cells, and the attention against loops over heads."""

import pytest
import torch

from fathom.nn.rnmt_plus.cells import AdditiveAttention, LstmLayer, step
from tests.reference import plain_rnmt
from tests.support.small_networks import gradients

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


LENGTHS = (4, 6, 1)


def padded():
    """Return a batch of three sentences, with any values at padding, and its padding."""
    padding = torch.arange(6)[:, None] >= torch.tensor(LENGTHS)
    return sentence(6, 3).masked_fill(padding[..., None], 77.0), padding


def test_a_sentence_alone_equals_the_same_in_a_batch():
    parts, (x, padding) = layer(), padded()
    together, states = parts(x, padding)
    for row, length in enumerate(LENGTHS):
        alone, own = parts(x[:length, row : row + 1])
        assert torch.allclose(together[:length, row], alone[:, 0], atol=1e-12)
        for ours, theirs in zip(states, own, strict=True):
            assert torch.allclose(ours[:, row], theirs[:, 0], atol=1e-12)


def test_what_stands_at_padding_has_no_gradient():
    parts, (x, padding) = layer(), padded()
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


WIDTH, HEADS, SOURCES = 8, 4, (5, 2, 3)
PADDING = torch.arange(5) >= torch.tensor(SOURCES)[:, None]


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
            for row, length in enumerate(SOURCES)
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

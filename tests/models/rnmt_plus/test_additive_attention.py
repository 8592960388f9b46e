"""The attention against loops over heads and sources, and its dropout."""

import pytest
import torch

from fathom.nn.rnmt_plus.cells import AdditiveAttention
from tests.reference import plain_rnmt
from tests.support.small_networks import gradients

WIDTH, HEADS, LENGTHS = 8, 4, (5, 2, 3)
PADDING = torch.arange(5) >= torch.tensor(LENGTHS)[:, None]


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
            for row, length in enumerate(LENGTHS)
        ]
    )
    assert torch.allclose(found, expected, atol=1e-12)
    weight = torch.randn_like(found)
    (found * weight).sum().backward()
    (expected * weight).sum().backward()
    for name, gradient in gradients(theirs).items():
        assert torch.allclose(gradients(ours)[name], gradient, atol=1e-11), name


def test_a_sentence_of_equal_vectors_is_read_as_that_vector_projected():
    parts, (_, queries) = attention(), given()
    vector = torch.randn(WIDTH, dtype=torch.float64)
    source = parts.prepare(vector.expand(5, 3, WIDTH), PADDING)
    expected = parts.source_projection(vector)
    assert torch.allclose(parts(queries, source), expected.expand(3, -1), atol=1e-12)


def test_what_stands_at_padding_has_no_gradient():
    parts, (memory, queries) = attention(), given()
    memory.requires_grad_()
    parts(queries, parts.prepare(memory, PADDING)).sum().backward()
    assert not memory.grad.transpose(0, 1)[PADDING].any()
    assert torch.isfinite(memory.grad).all()


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


@pytest.mark.parametrize("width", [8, 512])
def test_parameters_are_two_projections_and_one_score_for_all_heads(width):
    parts = AdditiveAttention(width, 4, 0.3)
    found = sum(each.numel() for each in parts.parameters())
    assert found == 2 * (width**2 + width) + 2 * (width // 4) ** 2 + width // 4


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

"""Attention inside blocks, compared with a formula whose mask is block-diagonal."""

import pytest
import torch

from fathom.nn.attention import block_attention
from tests.support.attention_formula import (
    EXACT,
    HEADS,
    D,
    check,
    drawn,
    gradients,
    packings,
    real,
)
from tests.support.padded import CASES

MANY = (20, 3, 17, 9, 9, 30, 1, 2)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("multiple", [1, 8])
@pytest.mark.parametrize("exact", EXACT)
def test_sentences_attend_to_themselves_alone(causal, multiple, exact):
    for lengths in (*(lengths for lengths, _ in CASES), MANY):
        check(block_attention, *packings(lengths, causal, multiple), causal, exact)


@pytest.mark.parametrize("p", [0.0, 0.3])
def test_gradients_are_those_of_finite_differences(p):
    rows, columns = packings((3, 1), False)
    inputs = drawn(rows, columns, torch.float64)

    def seeded(q, k, v):
        torch.manual_seed(5)
        return real(block_attention(q, k, v, HEADS, rows, columns, False, p), rows)

    torch.autograd.gradcheck(seeded, inputs)


def test_surplus_rows_have_no_influence():
    rows, columns = packings((20, 3, 17, 9), False, 8)
    q, k, v = drawn(rows, columns, torch.float32)
    first = real(block_attention(q, k, v, HEADS, rows, columns), rows)
    packed = rows, columns, columns
    for gradient, packing in zip(gradients(first, [q, k, v]), packed, strict=True):
        assert not gradient[:, packing.is_padding_row].any()
    with torch.no_grad():
        for x, packing in zip((q, k, v), packed, strict=True):
            x[:, packing.is_padding_row] = 100.0
        assert torch.equal(real(block_attention(q, k, v, HEADS, rows, columns), rows), first)


def test_a_mask_is_made_once_for_all_layers_and_for_each_kind_of_attention():
    rows, columns = packings((5, 2, 7), False)
    q, k, v = drawn(rows, columns, torch.float32)
    for _ in range(2):
        block_attention(q, k, v, HEADS, rows, columns)
        block_attention(q, q, q, HEADS, rows, rows)
        block_attention(q, q, q, HEADS, rows, rows, causal=True)
    assert len(rows.masks) == 3


def test_dropout_of_weights_keeps_the_mean():
    rows, columns = packings((5, 2, 7), False)
    q, k, v = drawn(rows, columns, torch.float64)
    torch.manual_seed(3)
    with torch.no_grad():
        exact = block_attention(q, k, v, HEADS, rows, columns)
        draws = (block_attention(q, k, v, HEADS, rows, columns, p=0.3) for _ in range(400))
        torch.testing.assert_close(sum(draws) / 400, exact, rtol=0, atol=0.3)


def test_one_block_computes_what_several_do():
    lengths = (20, 3, 17, 9, 9)
    several, one = (packings(lengths, True, 1, way)[0] for way in (True, False))
    x = torch.randn(1, several.rows, D, dtype=torch.float64)
    y = one.pack(several.pad(x))
    torch.testing.assert_close(
        one.pad(block_attention(y, y, y, HEADS, one, one, True)),
        several.pad(block_attention(x, x, x, HEADS, several, several, True)),
        rtol=0,
        atol=1e-14,
    )


def test_columns_of_one_fused_projection_are_taken_as_they_are():
    rows, _ = packings((5, 2, 7), True, 8)
    fused = torch.randn(1, rows.rows, 3 * D)
    columns = fused.chunk(3, -1)
    copies = [x.contiguous() for x in columns]
    assert torch.equal(
        *(block_attention(*inputs, HEADS, rows, rows, True) for inputs in (columns, copies))
    )

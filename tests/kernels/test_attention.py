"""Attention of packed states, compared with a formula whose mask is block-diagonal."""

import sys
from types import SimpleNamespace

import pytest
import torch

from fathom.kernels import attention, padded_attention
from fathom.kernels.attention import attend_packed, by_length, in_blocks
from fathom.kernels.blocks import assigned
from fathom.kernels.packing import Packing
from tests.support.attention_formula import EXACT, HEADS, D, formula, gradients
from tests.support.padded import CASES, padding_of

CPU = torch.device("cpu")


def hidden_of(rows, columns, causal):
    """Return (tokens, tokens), true between different sentences and, if causal, at later ones."""
    row, column = (packing.sentences[packing.places] for packing in (rows, columns))
    hidden = row[:, None] != column
    if causal:
        place = rows.positions[rows.places]
        hidden |= place[:, None] < place
    return hidden


def sides(lengths, causal):
    """Return the lengths of queries and of keys: other ones in attention to a source."""
    return lengths, lengths if causal else tuple(length % 4 + 2 for length in lengths)


def packings(lengths, causal, multiple, in_blocks=True):
    """Return the packings of queries and of keys; the same one if causal."""
    both = sides(lengths, causal)
    blocks = assigned(list(zip(*both, strict=True)), in_blocks)
    rows, columns = (Packing(side, max(side) + 1, multiple, blocks, CPU) for side in both)
    return rows, rows if causal else columns


def drawn(rows, columns, dtype):
    torch.manual_seed(1)
    return [
        torch.randn(1, packing.rows, D, dtype=torch.float64).to(dtype).requires_grad_()
        for packing in (rows, columns, columns)
    ]


def real(x, packing):
    return x[:, packing.places]


def check(attend, rows, columns, causal, dtype, atol):
    """Hold an attention to the formula, at real rows, with its gradients."""
    q, k, v = inputs = drawn(rows, columns, dtype)
    ours = attend(q, k, v, HEADS, rows, columns, causal)
    assert ours.shape == q.shape
    assert ours.isfinite().all()
    theirs = formula(
        real(q, rows), real(k, columns), real(v, columns), hidden_of(rows, columns, causal)
    )
    ours = real(ours, rows)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=atol)
    # Surplus rows have the gradient zero, as in the formula, which does not read them.
    torch.testing.assert_close(
        gradients(ours, inputs), gradients(theirs, inputs), rtol=0, atol=4 * atol
    )


@pytest.mark.parametrize("fused_keys", [1, 10**6])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("multiple", [1, 8])
@pytest.mark.parametrize(("dtype", "atol"), EXACT)
def test_sentences_attend_to_themselves_alone(
    fused_keys, causal, multiple, dtype, atol, monkeypatch
):
    monkeypatch.setattr(padded_attention, "FUSED_KEYS", fused_keys)
    for lengths, _ in (*CASES, ((20, 3, 17, 9, 9, 30, 1, 2), 30)):
        rows, columns = packings(lengths, causal, multiple)
        check(attend_packed, rows, columns, causal, dtype, atol)


def test_surplus_rows_have_no_influence():
    rows, columns = packings((20, 3, 17, 9), False, 8)
    q, k, v = drawn(rows, columns, torch.float32)
    first = real(attend_packed(q, k, v, HEADS, rows, columns), rows)
    by_row = gradients(first, [q, k, v])
    with torch.no_grad():
        for x, packing in ((q, rows), (k, columns), (v, columns)):
            x[:, packing.surplus] = 100.0
    assert torch.equal(real(attend_packed(q, k, v, HEADS, rows, columns), rows), first)
    for gradient, packing in zip(by_row, (rows, columns, columns), strict=True):
        assert not gradient[:, packing.surplus].any()


def test_a_mask_is_made_once_for_all_layers_and_for_each_kind_of_attention():
    rows, columns = packings((5, 2, 7), False, 1)
    q, k, v = drawn(rows, columns, torch.float32)
    for _ in range(2):
        attend_packed(q, k, v, HEADS, rows, columns)
        attend_packed(q, q, q, HEADS, rows, rows)
        attend_packed(q, q, q, HEADS, rows, rows, causal=True)
    assert len(rows.masks) == 3


def test_packings_that_were_not_made_together_are_refused():
    rows, columns = (Packing.of(padding_of(lengths, 30)) for lengths in ((30, 2, 2), (2, 30, 30)))
    q, k, v = drawn(rows, columns, torch.float32)
    with pytest.raises(RuntimeError):
        attend_packed(q, k, v, HEADS, rows, columns)


def test_dropout_of_weights_keeps_the_mean():
    rows, columns = packings((5, 2, 7), False, 1)
    q, k, v = drawn(rows, columns, torch.float64)
    torch.manual_seed(3)
    with torch.no_grad():
        exact = attend_packed(q, k, v, HEADS, rows, columns)
        draws = (attend_packed(q, k, v, HEADS, rows, columns, p=0.3) for _ in range(1000))
        torch.testing.assert_close(sum(draws) / 1000, exact, rtol=0, atol=0.2)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("dtype", "atol"), EXACT)
def test_the_kernel_for_any_lengths_gets_sentences_one_after_the_other(
    causal, dtype, atol, monkeypatch
):
    """The kernel exists on CUDA alone; the plain one here has its interface."""

    def varlen_attn(q, k, v, q_offsets, k_offsets, longest_q, longest_k, *, window_size):
        assert q_offsets.dtype == k_offsets.dtype == torch.int32
        assert longest_q == q_offsets.diff().max()
        assert longest_k == k_offsets.diff().max()
        assert window_size == ((-1, 0) if causal else (-1, -1))
        row, column = (
            torch.repeat_interleave(offsets.diff().long()) for offsets in (q_offsets, k_offsets)
        )
        hidden = row[:, None] != column
        if causal:
            hidden |= torch.ones(hidden.shape, dtype=torch.bool).triu(1)
        return formula(q.flatten(1), k.flatten(1), v.flatten(1), hidden).unflatten(1, (HEADS, -1))

    module = SimpleNamespace(varlen_attn=varlen_attn)
    monkeypatch.setitem(sys.modules, "torch.nn.attention.varlen", module)
    for lengths, _ in CASES:
        rows, columns = packings(lengths, causal, 8, in_blocks=False)
        check(by_length, rows, columns, causal, dtype, atol)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("dtype", "atol"), EXACT)
def test_the_padded_way_of_other_devices_computes_the_same(causal, dtype, atol):
    for lengths, _ in CASES:
        rows, columns = packings(lengths, causal, 8, in_blocks=False)
        check(attention.in_batches, rows, columns, causal, dtype, atol)


def test_one_block_computes_what_several_do():
    lengths = (20, 3, 17, 9, 9)
    several, one = (packings(lengths, True, 1, way)[0] for way in (True, False))
    x = torch.randn(1, several.rows, D, dtype=torch.float64)
    y = one.pack(several.pad(x))
    torch.testing.assert_close(
        one.pad(in_blocks(y, y, y, HEADS, one, one, True, 0.0)),
        several.pad(in_blocks(x, x, x, HEADS, several, several, True, 0.0)),
        rtol=0,
        atol=1e-14,
    )

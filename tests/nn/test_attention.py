"""Attention on padded states and inside blocks, compared with its formula, and packed rows."""

import random

import pytest
import torch

from fathom.nn import attention
from fathom.nn import packing as packing_module
from fathom.nn.attention import (
    attend,
    attend_packed,
    block_attention,
    padded_attention,
    varlen_attention,
)
from fathom.nn.packing import BLOCK_ROWS, Packing, assigned
from tests.nn.attention_formula import (
    CASES,
    EXACT,
    HEADS,
    D,
    check,
    drawn,
    formula,
    gradients,
    packed,
    packings,
    padding_of,
    real,
)
from tests.nn.kernels_of_cuda import on_cpu


def states(sentences, *widths, dtype=torch.float64):
    """Return states (B, T, D) for each width, which take gradients."""
    torch.manual_seed(1)
    drawn = (torch.randn(sentences, width, D, dtype=torch.float64) for width in widths)
    return [x.to(dtype).requires_grad_() for x in drawn]


def hidden_of(padding, causal, queries):
    """Return (B, T, S), true at padded keys and, if causal, at later positions."""
    hidden = padding[:, None].expand(-1, queries, -1)
    return hidden | torch.ones(hidden.shape[1:], dtype=torch.bool).triu(1) if causal else hidden


def cases():
    """Lengths of keys, S, T, and whether attention is causal."""
    for lengths, width in CASES:
        yield lengths, width, width, False
        yield lengths, width, width + 3, False
        yield lengths, width, width, True


@pytest.mark.parametrize(("dtype", "atol"), EXACT)
@pytest.mark.parametrize("masked", [True, False])
def test_values_and_gradients_are_those_of_the_formula(dtype, atol, masked):
    for lengths, width, queries, causal in cases():
        q, k, v = inputs = states(len(lengths), queries, width, width, dtype=dtype)
        padding = padding_of(lengths, width) & masked
        ours = attend(q, k, v, HEADS, padding if masked else None, causal)
        theirs = formula(q, k, v, hidden_of(padding, causal, queries))
        torch.testing.assert_close(ours, theirs, rtol=0, atol=atol)
        torch.testing.assert_close(
            gradients(ours, inputs), gradients(theirs, inputs), rtol=0, atol=4 * atol
        )


def test_gradients_are_those_of_finite_differences():
    lengths = (3, 1)
    q, k, v = states(2, 2, 3, 3)
    torch.autograd.gradcheck(lambda *x: attend(*x, HEADS, padding_of(lengths, 3)), (q, k, v))
    torch.autograd.gradcheck(lambda *x: attend(*x, HEADS, None, True), (k, k, v))


def test_causal_attention_needs_no_mask_of_padding_on_the_right():
    lengths, width = CASES[0]
    q, k, v = inputs = states(len(lengths), width, width, width)
    padding = padding_of(lengths, width)
    with_mask, without = (attend(q, k, v, HEADS, mask, True) for mask in (padding, None))
    assert torch.equal(with_mask[~padding], without[~padding])
    real = (~padding).unsqueeze(2)
    for ours, theirs in zip(
        gradients(without * real, inputs), gradients(with_mask * real, inputs), strict=True
    ):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-15)


def test_half_precision_is_kept_and_within_its_rounding():
    lengths, width = CASES[0]
    padding = padding_of(lengths, width)
    exact = states(len(lengths), width, width, width)
    half = [x.detach().bfloat16().requires_grad_() for x in exact]
    for causal in (True, False):
        ours, theirs = (attend(*inputs, HEADS, padding, causal) for inputs in (half, exact))
        assert ours.dtype == torch.bfloat16
        torch.testing.assert_close(ours.double(), theirs, rtol=0, atol=0.05)
        for mine, other in zip(gradients(ours, half), gradients(theirs, exact), strict=True):
            torch.testing.assert_close(mine.double(), other, rtol=0, atol=0.2)


def test_dropout_of_weights_keeps_the_mean_and_its_gradient_has_the_same_mask():
    q, k, v = states(2, 3, 4, 4)
    padding = padding_of((4, 2), 4)

    def seeded(*inputs):
        torch.manual_seed(5)
        return attend(*inputs, HEADS, padding, False, 0.3)

    torch.autograd.gradcheck(seeded, (q, k, v))  # Its differences are of equal masks.
    with torch.no_grad():
        exact = attend(q, k, v, HEADS, padding)
        torch.manual_seed(6)
        mean = sum(attend(q, k, v, HEADS, padding, False, 0.3) for _ in range(300)) / 300
    torch.testing.assert_close(mean, exact, rtol=0, atol=0.3)


@pytest.mark.parametrize("causal", [True, False])
def test_packed_states_take_the_way_of_their_type_and_length(causal, monkeypatch):
    """On a CPU; what CUDA takes is proven below."""
    ways = []
    for way in ("block_attention", "padded_attention"):
        function = getattr(attention, way)

        def watched(*inputs, way=way, function=function):
            ways.append(way)
            return function(*inputs)

        monkeypatch.setattr(attention, way, watched)
    for lengths, dtype, expected in (
        ((5, 2), torch.float32, "block_attention"),
        ((128, 9), torch.float64, "block_attention"),
        ((129, 9), torch.float32, "padded_attention"),
        ((5, 2), torch.bfloat16, "padded_attention"),
    ):
        rows, _ = packings(lengths, True)
        q, k, v = drawn(rows, rows, dtype)
        y = attend_packed(q, k, v, packed(rows, rows, causal))
        assert ways.pop() == expected
        exact = padded_attention(*(x.double() for x in (q, k, v)), packed(rows, rows, causal))
        atol = 0.05 if dtype == torch.bfloat16 else 1e-6
        torch.testing.assert_close(real(y, rows).double(), real(exact, rows), rtol=0, atol=atol)


def test_autocast_takes_the_padded_way_and_its_gradients():
    rows, _ = packings((5, 2), True)
    inputs = drawn(rows, rows, torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        y = attend_packed(*inputs, packed(rows, rows, True))
    assert y.dtype == torch.bfloat16
    exact = padded_attention(*inputs, packed(rows, rows, True))
    torch.testing.assert_close(real(y, rows).float(), real(exact, rows), rtol=0, atol=0.05)
    for mine, other in zip(gradients(y.float(), inputs), gradients(exact, inputs), strict=True):
        torch.testing.assert_close(mine, other, rtol=0, atol=0.2)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("exact", EXACT)
def test_the_padded_way_computes_the_formula(causal, exact):
    for lengths, _ in CASES:
        for blocks in (True, False):
            check(padded_attention, *packings(lengths, causal, 8, blocks), causal, exact)


def test_packings_that_were_not_made_together_are_refused():
    rows, columns = (Packing.of(padding_of(lengths, 30)) for lengths in ((30, 2, 2), (2, 30, 30)))
    q, k, v = drawn(rows, columns, torch.float32)
    with pytest.raises(RuntimeError):
        attend_packed(q, k, v, packed(rows, columns))


@pytest.fixture
def kernels():
    """What calls of the kernels for any lengths got: p, and whether later keys are hidden."""
    with on_cpu() as calls:
        yield calls


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("exact", EXACT)
def test_the_kernel_for_any_lengths_gets_sentences_one_after_the_other(causal, exact, kernels):
    for lengths, _ in CASES:
        rows, columns = packings(lengths, causal, 8, in_blocks=False)
        check(varlen_attention, rows, columns, causal, exact)
    assert {*kernels} == {(0.0, causal)}


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_kernel_for_any_lengths_serves_both_types_with_dropout(causal, dtype, kernels):
    rows, columns = packings((5, 2, 7), causal, 8, in_blocks=False)
    inputs = drawn(rows, columns, dtype)
    y = varlen_attention(*inputs, packed(rows, columns, causal, 0.3))
    assert y.dtype == dtype
    assert kernels.pop() == (0.3, causal)
    exact = [x.detach().double().requires_grad_() for x in inputs]
    expected = padded_attention(*exact, packed(rows, columns, causal))
    atol = 0.1 if dtype == torch.bfloat16 else 1e-5
    pairs = zip(
        gradients(real(y, rows), inputs), gradients(real(expected, rows), exact), strict=True
    )
    for mine, other in ((y, expected), *pairs):
        torch.testing.assert_close(mine.double(), other, rtol=0, atol=atol)


MANY = (20, 3, 17, 9, 9, 30, 1, 2)


@pytest.mark.parametrize("causal", [True, False])
def test_gradients_of_packed_attention_with_dropout_are_those_of_finite_differences(causal):
    rows, columns = packings((3, 1, 4), causal)

    def seeded(q, k, v):
        torch.manual_seed(5)
        return real(block_attention(q, k, v, packed(rows, columns, causal, 0.3)), rows)

    inputs = drawn(rows, columns, torch.float64)
    without = real(block_attention(*inputs, packed(rows, columns, causal)), rows)
    assert not torch.allclose(seeded(*inputs), without)
    torch.autograd.gradcheck(seeded, inputs)


def test_dropout_of_the_weights_of_packed_attention_keeps_the_mean():
    rows, columns = packings((5, 2, 7), False)
    q, k, v = drawn(rows, columns, torch.float64)
    torch.manual_seed(3)
    with torch.no_grad():
        exact = real(block_attention(q, k, v, packed(rows, columns)), rows)
        draws = torch.stack(
            [real(block_attention(q, k, v, packed(rows, columns, p=0.3)), rows) for _ in range(400)]
        )
    # Five standard deviations of a mean of these draws.
    torch.testing.assert_close(
        (draws.mean(0) - exact).abs() / draws.std(0), torch.zeros_like(exact), rtol=0, atol=5 / 20
    )


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("multiple", [1, 8])
@pytest.mark.parametrize("exact", EXACT)
def test_sentences_attend_to_themselves_alone(causal, multiple, exact):
    for lengths in (*(lengths for lengths, _ in CASES), MANY):
        check(block_attention, *packings(lengths, causal, multiple), causal, exact)


def test_surplus_rows_have_no_influence():
    rows, columns = packings((20, 3, 17, 9), False, 8)
    q, k, v = drawn(rows, columns, torch.float32)
    first = real(block_attention(q, k, v, packed(rows, columns)), rows)
    of_inputs = rows, columns, columns
    for gradient, packing in zip(gradients(first, [q, k, v]), of_inputs, strict=True):
        assert not gradient[:, packing.is_padding_row].any()
    with torch.no_grad():
        for x, packing in zip((q, k, v), of_inputs, strict=True):
            x[:, packing.is_padding_row] = 100.0
        assert torch.equal(real(block_attention(q, k, v, packed(rows, columns)), rows), first)


def test_a_mask_is_made_once_for_all_layers_and_for_each_kind_of_attention():
    rows, columns = packings((5, 2, 7), False)
    q, k, v = drawn(rows, columns, torch.float32)
    for _ in range(2):
        block_attention(q, k, v, packed(rows, columns))
        block_attention(q, q, q, packed(rows, rows))
        block_attention(q, q, q, packed(rows, rows, causal=True))
    assert len(rows.masks) == 3


def test_one_block_computes_what_several_do():
    lengths = (20, 3, 17, 9, 9)
    several, one = (packings(lengths, True, 1, way)[0] for way in (True, False))
    x = torch.randn(1, several.rows, D, dtype=torch.float64)
    y = one.pack(several.pad(x))
    torch.testing.assert_close(
        one.pad(block_attention(y, y, y, packed(one, one, True))),
        several.pad(block_attention(x, x, x, packed(several, several, True))),
        rtol=0,
        atol=1e-14,
    )


WIDTH = 3


def every_packing():
    for lengths, width in CASES:
        for multiple in (1, 8):
            yield Packing.of(padding_of(lengths, width), multiple)


def test_each_real_token_has_one_row_and_neighbours_are_one_block_apart():
    for packing in every_packing():
        rows = packing.places.tolist()
        assert len(set(rows)) == len(rows) == sum(packing.lengths) == packing.tokens
        first = 0
        for sentence, length in enumerate(packing.lengths):
            own = rows[first : first + length]
            (block,) = (b for b, members in enumerate(packing.blocks) if sentence in members)
            start = own[0] // len(packing.blocks)
            steps = range(start, start + length)
            assert own == [step * len(packing.blocks) + block for step in steps]
            assert steps[-1] < packing.block_rows
            assert packing.sentences[own].tolist() == [sentence] * length
            assert packing.positions[own].tolist() == list(range(length))
            first += length


def test_one_block_has_sentence_after_sentence():
    blocks = assigned([(2,), (1,), (3,)], in_blocks=False)
    packing = Packing((2, 1, 3), 4, 4, blocks, torch.device("cpu"))
    ids = torch.arange(12).view(3, 4)
    assert packing.of_ids(ids, -1).tolist() == [0, 1, 4, 8, 9, 10, -1, -1]
    assert packing.unpadded_ids(ids).tolist() == [0, 1, 4, 8, 9, 10]
    assert packing.of_tokens(torch.tensor([7, 8, 9])).tolist() == [7, 7, 8, 9, 9, 9, 7, 7]
    assert packing.positions.tolist() == [0, 1, 0, 0, 1, 2, 0, 0]
    assert packing.is_padding_row.tolist() == [False] * 6 + [True] * 2
    assert packing.offsets.tolist() == [0, 2, 3, 6]
    assert (packing.tokens, packing.rows, packing.longest) == (6, 8, 3)


def test_batches_that_are_packed_together_have_the_same_blocks():
    lengths = ((5, 2, 7, 1), (1, 9, 3, 40))
    masks = [padding_of(side, max(side)) for side in lengths]
    source, target = Packing.together(masks, 8)
    assert source.blocks == target.blocks
    assert (source.lengths, target.lengths) == lengths


def test_the_number_of_rows_is_a_multiple_and_at_least_the_tokens():
    for tokens, rows in ((1, 128), (128, 128), (129, 256)):
        packing = Packing.of(padding_of((tokens,), tokens), 128)
        assert packing.rows == rows
        assert packing.unpadded(torch.ones(1, rows, WIDTH)).shape == (1, rows, WIDTH)


def test_what_is_packed_and_padded_keeps_real_values_and_has_zeros_elsewhere():
    for packing in every_packing():
        x = torch.randn(*packing.padding.shape, WIDTH)
        packed = packing.pack(x)
        assert packed.shape == (1, packing.rows, WIDTH)
        assert torch.equal(packed[0, packing.places], x[~packing.padding])
        assert not packed[0, packing.is_padding_row].any()
        assert torch.equal(packing.pad(packed), x.masked_fill(packing.padding.unsqueeze(2), 0))
        assert torch.equal(packing.unpadded(packed)[0, : packing.tokens], x[~packing.padding])
        assert not packing.unpadded(packed)[0, packing.tokens :].any()


def test_surplus_rows_reach_no_batch_and_no_gradient():
    for packing in every_packing():
        for way in (packing.pad, packing.unpadded):
            x = torch.randn(1, packing.rows, WIDTH, requires_grad=True)
            way(x).square().sum().backward()
            expected = (2 * x).masked_fill(packing.is_padding_row.unsqueeze(1), 0)
            assert torch.equal(x.grad, expected)


def test_gradients_are_those_of_finite_differences_twice():
    packing = Packing.of(padding_of((3, 1, 2), 4), 8)
    x = torch.randn(3, 4, WIDTH, dtype=torch.float64, requires_grad=True)
    torch.autograd.gradcheck(packing.pack, x)
    torch.autograd.gradgradcheck(packing.pack, x)
    rows = torch.randn(1, packing.rows, WIDTH, dtype=torch.float64, requires_grad=True)
    torch.autograd.gradcheck(packing.pad, rows)
    torch.autograd.gradcheck(packing.unpadded, rows)


def test_lengths_that_the_host_knows_give_the_same_packing():
    for lengths, width in CASES:
        mask = padding_of(lengths, width)
        asked, known = Packing.of(mask, 8), Packing.of(mask, 8, lengths)
        assert asked.lengths == known.lengths
        for name in ("index", "places", "sentences", "positions", "offsets", "padding"):
            assert torch.equal(getattr(asked, name), getattr(known, name))
        assert torch.equal(asked.padding, mask)


@pytest.mark.parametrize("mask", [[[True, False]], [[False, True, False]], [[True, True]]])
def test_padding_on_the_left_and_empty_sentences_are_refused(mask):
    with pytest.raises(RuntimeError):
        Packing.of(torch.tensor(mask))


def test_known_lengths_are_not_asked_of_the_device(monkeypatch):
    masks = [padding_of(side, max(side)) for side in ((5, 2), (1, 9))]
    expected = Packing.together(masks)
    monkeypatch.setattr(packing_module, "_lengths", None)
    found = Packing.together(masks, lengths=[(5, 2), (1, 9)])
    assert [side.lengths for side in found] == [side.lengths for side in expected]
    with pytest.raises(TypeError):
        Packing.together(masks, lengths=[(5, 2), None])


def test_all_rows_are_their_own_first_rows_and_have_their_gradient():
    packing = Packing.of(padding_of((2, 1), 2))
    x = torch.randn(1, 5, WIDTH, requires_grad=True)
    for rows in (5, 3):
        assert torch.equal(packing.head_rows(x, rows), x[0, :rows])
        (found,) = torch.autograd.grad(packing.head_rows(x, rows).sum(), x)
        assert torch.equal(found, torch.autograd.grad(x[0, :rows].sum(), x)[0])


def lengths_of(sentences, longest, factor=1.0):
    """Return the lengths of both sides of sentences; targets are longer by about a factor."""
    draws = random.Random(1)
    sources = [draws.randint(1, longest) for _ in range(sentences)]
    return [(s, max(1, round(s * factor * draws.uniform(0.7, 1.4)))) for s in sources]


def used(lengths, blocks):
    """Return the rows that each block uses on each side."""
    return [[sum(lengths[s][side] for s in block) for block in blocks] for side in (0, 1)]


def test_every_sentence_is_in_one_block():
    for lengths in ([(1, 1)], lengths_of(154, 11), lengths_of(50, 90, 2.0), [(4, 4)] * 7):
        blocks = assigned(lengths)
        assert sorted(s for block in blocks for s in block) == list(range(len(lengths)))
        assert assigned(lengths) == blocks


def test_blocks_have_about_as_many_rows_as_stated_or_as_the_longest_sentence():
    lengths = lengths_of(154, 11)
    assert max(map(max, used(lengths, assigned(lengths)))) <= BLOCK_ROWS
    long = [*lengths, (60, 50)]
    assert list(map(max, used(long, assigned(long)))) == [60, 50]

"""Rows of real tokens, the blocks that they share, and the way back to a padded batch."""

import random

import pytest
import torch

from fathom.nn import packing as packing_module
from fathom.nn.packing import BLOCK_ROWS, Packing, assigned
from tests.nn.attention_formula import CASES, padding_of

D = 3


def packings():
    for lengths, width in CASES:
        for multiple in (1, 8):
            yield Packing.of(padding_of(lengths, width), multiple)


def test_each_real_token_has_one_row_and_neighbours_are_one_block_apart():
    for packing in packings():
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
        assert packing.unpadded(torch.ones(1, rows, D)).shape == (1, rows, D)


def test_what_is_packed_and_padded_keeps_real_values_and_has_zeros_elsewhere():
    for packing in packings():
        x = torch.randn(*packing.padding.shape, D)
        packed = packing.pack(x)
        assert packed.shape == (1, packing.rows, D)
        assert torch.equal(packed[0, packing.places], x[~packing.padding])
        assert not packed[0, packing.is_padding_row].any()
        assert torch.equal(packing.pad(packed), x.masked_fill(packing.padding.unsqueeze(2), 0))
        assert torch.equal(packing.unpadded(packed)[0, : packing.tokens], x[~packing.padding])
        assert not packing.unpadded(packed)[0, packing.tokens :].any()


def test_surplus_rows_reach_no_batch_and_no_gradient():
    for packing in packings():
        for way in (packing.pad, packing.unpadded):
            x = torch.randn(1, packing.rows, D, requires_grad=True)
            way(x).square().sum().backward()
            expected = (2 * x).masked_fill(packing.is_padding_row.unsqueeze(1), 0)
            assert torch.equal(x.grad, expected)


def test_gradients_are_those_of_finite_differences_twice():
    packing = Packing.of(padding_of((3, 1, 2), 4), 8)
    x = torch.randn(3, 4, D, dtype=torch.float64, requires_grad=True)
    torch.autograd.gradcheck(packing.pack, x)
    torch.autograd.gradgradcheck(packing.pack, x)
    rows = torch.randn(1, packing.rows, D, dtype=torch.float64, requires_grad=True)
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
    x = torch.randn(1, 5, D, requires_grad=True)
    for rows in (5, 3):
        assert torch.equal(packing.head_rows(x, rows), x[0, :rows])
        (found,) = torch.autograd.grad(packing.head_rows(x, rows).sum(), x)
        assert torch.equal(found, torch.autograd.grad(x[0, :rows].sum(), x)[0])


def drawn(sentences, longest, factor=1.0):
    """Return the lengths of both sides of sentences; targets are longer by about a factor."""
    draws = random.Random(1)
    sources = [draws.randint(1, longest) for _ in range(sentences)]
    return [(s, max(1, round(s * factor * draws.uniform(0.7, 1.4)))) for s in sources]


def used(lengths, blocks):
    """Return the rows that each block uses on each side."""
    return [[sum(lengths[s][side] for s in block) for block in blocks] for side in (0, 1)]


def test_every_sentence_is_in_one_block():
    for lengths in ([(1, 1)], drawn(154, 11), drawn(50, 90, 2.0), [(4, 4)] * 7):
        blocks = assigned(lengths)
        assert sorted(s for block in blocks for s in block) == list(range(len(lengths)))
        assert assigned(lengths) == blocks


def test_blocks_have_about_as_many_rows_as_stated_or_as_the_longest_sentence():
    lengths = drawn(154, 11)
    assert max(map(max, used(lengths, assigned(lengths)))) <= BLOCK_ROWS
    long = [*lengths, (60, 50)]
    assert list(map(max, used(long, assigned(long)))) == [60, 50]

"""Which sentences share a block."""

import random

from fathom.nn.packing import BLOCK_ROWS, assigned


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


def test_few_rows_are_surplus():
    for lengths in (drawn(154, 11), drawn(154, 11, 1.5), drawn(154, 11, 0.5)):
        blocks = assigned(lengths)
        for side in used(lengths, blocks):
            assert sum(side) > 0.85 * max(side) * len(blocks)


def test_one_block_holds_all_in_order():
    assert assigned([(3,), (9,), (1,)], in_blocks=False) == ((0, 1, 2),)

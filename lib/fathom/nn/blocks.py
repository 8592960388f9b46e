"""Which sentences share a block of attention.

Attention between sentences of a block is masked, so a block costs the square of its rows. But a few
large products are faster than many small ones: on a CPU, sentences of 3 to 11 tokens take a third
of the time in blocks of 32 rows that they take as a padded batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import ge, sub

# The sentences of each block, by their index in the batch.
Blocks = tuple[tuple[int, ...], ...]

# Rows of a block, if no sentence is longer.
BLOCK_ROWS = 32


def assigned(lengths: Sequence[tuple[int, ...]], in_blocks: bool = True) -> Blocks:
    """Return blocks that hold all sentences, each in one block.

    First fit, the longest sentence first: a sentence joins the first block that has rows left for
    each of its sides.

    Args:
        lengths: the tokens of each sentence, on each side.
        in_blocks: otherwise one block holds all.
    """
    if not in_blocks:
        return (tuple(range(len(lengths))),)
    capacity = _capacities(lengths)
    shortest = tuple(map(min, zip(*lengths, strict=True)))
    blocks: list[_Block] = []
    open_blocks: list[_Block] = []
    for sentence in sorted(range(len(lengths)), key=lambda sentence: -sum(lengths[sentence])):
        sides = lengths[sentence]
        block = next((block for block in open_blocks if all(map(ge, block.left, sides))), None)
        if block is None:
            block = _Block([], list(capacity))
            blocks.append(block)
            open_blocks.append(block)
        block.sentences.append(sentence)
        block.left = list(map(sub, block.left, sides))
        if not all(map(ge, block.left, shortest)):
            open_blocks.remove(block)
    return tuple(tuple(block.sentences) for block in blocks)


@dataclass(eq=False)
class _Block:
    """A block that is being filled.

    Attributes:
        sentences: in it.
        left: rows that it has left on each side.
    """

    sentences: list[int]
    left: list[int]


def _capacities(lengths: Sequence[tuple[int, ...]]) -> list[int]:
    """Return the rows of a block on each side: fewer on a side that has fewer tokens."""
    sides = list(zip(*lengths, strict=True))
    most = max(map(sum, sides))
    return [max(*side, -(-BLOCK_ROWS * sum(side) // most)) for side in sides]

"""Text that is predicted without learning from it: every text of a split once.

Batches have texts of similar length. The hidden pieces of a block are always the same, so that runs
and seeds are compared on one set of pieces. A sample of the training text is predicted in the same
way, to see how much better a network knows the text that it learns from.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from fathom.config.schema.run import Masking
from fathom.config.spec import Spec
from fathom.data.tensors import Pairs, Tensors
from fathom.io.errors import FathomError
from fathom.nn.network import Batch
from fathom.train.batches.collate import collate, grouped
from fathom.train.batches.masking import collate_masked, mask, predicted, texts

# Bound of a batch's rows times its longest side.
TOKENS = 8192
# The second word of the draw's seed: training hides other pieces (train/update_batches.py).
_HELD_OUT = 3


def held_out(
    tensors: Tensors, split: str, spec: Spec, as_many_as: str | None = None
) -> list[Batch]:
    """Return what a run predicts of a split: sentences of pairs, or hidden pieces of blocks.

    With `as_many_as` it is a sample, evenly spaced: of each task as many as that split has. A split
    of which nothing is predicted for some task raises FathomError.
    """
    masking, block_tokens = spec.masking, spec.model.block
    if masking is None or block_tokens is None:
        few = as_many_as and {pairs.task: len(pairs) for pairs in tensors.splits(as_many_as)}
        return ordered(tensors.splits(split), counts=few or None)
    few = as_many_as and {text.task: len(text) for text in texts(tensors, as_many_as, block_tokens)}
    return held_out_blocks(tensors, split, masking, block_tokens, few or None)


def ordered(
    pairs: Sequence[Pairs], tokens: int = TOKENS, counts: Mapping[int, int] | None = None
) -> list[Batch]:
    """Return the pairs of a split in batches of similar length, the short ones first.

    A batch's rows times its longest side have at most `tokens`; a longer sentence is a batch alone.
    `counts` is how many pairs of each task, evenly spaced; None for all.
    """
    lengths = {}
    for split in pairs:
        longest = np.maximum(split.source_lengths, split.target_lengths)
        for place in _places(split.task, len(split), counts):
            lengths[split.task, place] = int(longest[place])
    return [collate(pairs, group) for group in grouped(lengths, tokens)]


def held_out_blocks(
    tensors: Tensors,
    split: str,
    masking: Masking,
    block_tokens: int,
    counts: Mapping[int, int] | None = None,
) -> list[Batch]:
    """Return the blocks of a split with hidden pieces, which follow from task and block alone.

    `counts` are how many blocks of each task, evenly spaced; None for all.
    """
    entries = len(tensors.source_dictionary)
    rows = {}
    for text in texts(tensors, split, block_tokens):
        of_task = {}
        for block in _places(text.task, len(text), counts):
            where = (0, _HELD_OUT, text.task, block)
            of_task[text.task, block] = mask(text.block(block), entries, masking, *where)
        if not any(map(predicted, of_task.values())):
            what = f"nothing of '{tensors.tasks[text.task]}' is predicted"
            raise FathomError(what, f"{tensors.folder}, {split}", "hold more text out")
        rows |= of_task
    groups = grouped({member: len(source) for member, (source, _) in rows.items()}, TOKENS)
    return [collate_masked([rows[member] for member in group], group) for group in groups]


def _places(task: int, length: int, counts: Mapping[int, int] | None) -> Sequence[int]:
    """Return the places of a task's texts that are chosen, of all its texts."""
    if counts is None or counts[task] >= length:
        return range(length)
    return np.linspace(0, length - 1, counts[task]).round().astype(int).tolist()

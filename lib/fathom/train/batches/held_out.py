"""Text that is predicted without learning from it: every text of a split once.

Batches have texts of similar length. The hidden pieces of a block are always the same, so that runs
and seeds are compared on one set of pieces. A sample of the training text is predicted in the same
way, to see how much better a network knows the text that it learns from.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from fathom.config.schema.run import Masking
from fathom.config.spec import Spec
from fathom.data.tensors import Tensors
from fathom.io.errors import FathomError
from fathom.train.batches.collate import Batch, collate, grouped, ordered
from fathom.train.batches.masking import BlockedText, collate_masked, mask, predicted, texts

# Bound of a batch's rows times its longest side.
TOKENS = 8192
# The second word of the draw's seed: training hides other pieces (train/update_batches.py).
_HELD_OUT = 3


def held_out(tensors: Tensors, split: str, spec: Spec) -> list[Batch]:
    """Return what a run predicts of a split: sentences of pairs, or hidden pieces of blocks.

    A split of which nothing is predicted for some task raises FathomError.
    """
    if spec.masking is None or spec.model.block is None:
        return held_out_pairs(tensors, split)
    return held_out_blocks(tensors, split, spec.masking, spec.model.block)


def held_out_pairs(tensors: Tensors, split: str) -> list[Batch]:
    """Return every pair of a split once."""
    return list(ordered(tensors.splits(split), TOKENS))


def held_out_blocks(
    tensors: Tensors, split: str, masking: Masking, block_tokens: int
) -> list[Batch]:
    """Return every block of a split once, with the same pieces hidden."""
    chosen = [(text, range(len(text))) for text in texts(tensors, split, block_tokens)]
    return _masked(tensors, split, masking, chosen)


def sampled_pairs(tensors: Tensors) -> list[Batch]:
    """Return training pairs, evenly spaced: of each task as many as its validation text has."""
    training = tensors.splits("train")
    counts = {split.task: len(split) for split in tensors.splits("valid")}
    lengths = {
        (split.task, sentence): int(
            max(split.source_lengths[sentence], split.target_lengths[sentence])
        )
        for split in training
        for sentence in evenly_spaced(len(split), counts[split.task])
    }
    return [collate(training, group) for group in grouped(lengths, TOKENS)]


def sampled_blocks(tensors: Tensors, masking: Masking, block_tokens: int) -> list[Batch]:
    """Return training blocks, evenly spaced: of each task as many as its validation text has."""
    training, valid = (texts(tensors, split, block_tokens) for split in ("train", "valid"))
    chosen = [
        (text, evenly_spaced(len(text), len(held_out)))
        for text, held_out in zip(training, valid, strict=True)
    ]
    return _masked(tensors, "train", masking, chosen)


def evenly_spaced(length: int, count: int) -> list[int]:
    """Return `count` places of a text of that length, or all if it has no more."""
    return np.linspace(0, length - 1, min(count, length)).round().astype(int).tolist()


def _masked(
    tensors: Tensors,
    split: str,
    masking: Masking,
    chosen: Iterable[tuple[BlockedText, Sequence[int]]],
) -> list[Batch]:
    """Return blocks with hidden pieces, which follow from task and block alone."""
    entries = len(tensors.source_dictionary)
    rows = {}
    for text, blocks in chosen:
        of_task = {
            (text.task, block): mask(
                text.block(block), entries, masking, 0, _HELD_OUT, text.task, block
            )
            for block in blocks
        }
        if not any(map(predicted, of_task.values())):
            raise FathomError(
                f"nothing of '{tensors.tasks[text.task]}' is predicted",
                f"{tensors.folder}, {split}",
                "hold more text out",
            )
        rows |= of_task
    groups = grouped({member: len(source) for member, (source, _) in rows.items()}, TOKENS)
    return [collate_masked([rows[member] for member in group], group) for group in groups]

"""Held-out text: every text of a split once, in batches of similar length.

The hidden pieces of a held-out block are always the same, so that runs and seeds are compared on
one set of pieces.
"""

from fathom.batches.blocks import texts
from fathom.batches.fused import Batch, grouped, ordered
from fathom.batches.masking import collate, mask, predicted
from fathom.batches.tensors import Tensors
from fathom.errors import FathomError
from fathom.runs.settings import Masking
from fathom.runs.spec import Spec

# Bound of a batch's rows times its longest side.
TOKENS = 8192
# The second word of the draw's seed: training hides other pieces (training/masked_batches.py).
_HELD_OUT = 3


def held_out(tensors: Tensors, split: str, spec: Spec) -> list[Batch]:
    """Return what a run predicts of a split: sentences of pairs, or hidden pieces of blocks.

    Args:
        tensors: the encoded text.
        split: "valid" or "test".
        spec: the run.

    Raises:
        FathomError: nothing of a task's text is predicted.
    """
    if spec.masking is None or spec.model.block is None:
        return held_out_pairs(tensors, split)
    return held_out_blocks(tensors, split, spec.masking, spec.model.block)


def held_out_pairs(tensors: Tensors, split: str) -> list[Batch]:
    """Return every pair of a split once.

    Args:
        tensors: the encoded text.
        split: "valid" or "test".
    """
    return list(ordered(tensors.splits(split), TOKENS))


def held_out_blocks(
    tensors: Tensors, split: str, masking: Masking, block_tokens: int
) -> list[Batch]:
    """Return every block of a split once, with the same pieces hidden.

    Args:
        tensors: the encoded text, of which the source is read.
        split: "valid" or "test".
        masking: how many pieces are hidden, and how.
        block_tokens: the most tokens of a block, start symbol included.

    Raises:
        FathomError: a task's text is so short that nothing of it is predicted.
    """
    entries = len(tensors.source_dictionary)
    rows = {}
    for text in texts(tensors, split, block_tokens):
        of_task = {
            (text.task, block): mask(
                text.block(block), entries, masking, 0, _HELD_OUT, text.task, block
            )
            for block in range(len(text))
        }
        if not any(map(predicted, of_task.values())):
            raise FathomError(
                f"nothing of '{tensors.tasks[text.task]}' is predicted",
                f"{tensors.folder}, {split}",
                "hold more text out",
            )
        rows |= of_task
    groups = grouped({member: len(source) for member, (source, _) in rows.items()}, TOKENS)
    return [collate([rows[member] for member in group], group) for group in groups]

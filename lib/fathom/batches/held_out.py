"""Text that is held out, every text of a split once, in batches of like length.

Which pieces of a held-out block are hidden is always the same, so that runs and seeds are compared
on one set of pieces.
"""

from fathom.batches.blocks import texts
from fathom.batches.fused import Batch, grouped, ordered
from fathom.batches.masking import collate, mask, predicted
from fathom.batches.tensors import Tensors
from fathom.errors import FathomError
from fathom.runs.spec import Masking, Spec

# A batch's rows times its longest side, at most.
TOKENS = 8192
# The second word of the draw's seed: training hides other pieces (masked_feed.py).
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
    masking, longest = spec.training.masking, spec.model.learned_positions
    if masking is None:
        return held_out_pairs(tensors, split)
    return held_out_blocks(tensors, split, masking, longest)


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
        tensors: the encoded text, of which the source side is read.
        split: "valid" or "test".
        masking: how many pieces are hidden, and how.
        block_tokens: the most tokens of a block, start symbol included.

    Raises:
        FathomError: a task's text is so short that nothing of it is predicted.
    """
    entries, found = len(tensors.source_dictionary), texts(tensors, split, block_tokens)
    rows = {}
    for text in found:
        mine = {
            (text.task, block): mask(
                text.block(block), entries, masking, 0, _HELD_OUT, text.task, block
            )
            for block in range(len(text))
        }
        if not any(map(predicted, mine.values())):
            raise FathomError(
                f"nothing of '{tensors.tasks[text.task]}' is predicted",
                f"{tensors.folder}, {split}",
                "hold more text out",
            )
        rows |= mine
    groups = grouped({member: len(source) for member, (source, _) in rows.items()}, TOKENS)
    return [collate([rows[member] for member in group], group) for group in groups]

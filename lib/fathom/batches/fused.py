"""Batches of sentences of all tasks, each with the index of its task.

All tensors are batch-first and padded on the right. The decoder's input is the target shifted by
one place, with the end symbol first (teacher forcing, as in fairseq).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from fathom.batches.sampler import Member
from fathom.batches.tensors import EOS, PAD, Pairs


@dataclass(frozen=True, eq=False)
class Batch:
    """B sentences of any tasks.

    Attributes:
        source: (B, S) ids with end symbols.
        previous_target: (B, T) ids, the end symbol first.
        target: (B, T) ids with end symbols.
        tasks: (B,) index of each sentence's task.
        sentences: (B,) index of each sentence in its task's split.
        tokens: target tokens without padding.
    """

    source: torch.Tensor
    previous_target: torch.Tensor
    target: torch.Tensor
    tasks: torch.Tensor
    sentences: torch.Tensor
    tokens: int

    def to(self, device: torch.device | str) -> "Batch":
        """Return the batch with its tensors on a device."""
        return Batch(
            self.source.to(device),
            self.previous_target.to(device),
            self.target.to(device),
            self.tasks.to(device),
            self.sentences.to(device),
            self.tokens,
        )


def collate(pairs: Sequence[Pairs], members: Sequence[Member]) -> Batch:
    """Return a batch of sentences of several tasks.

    Args:
        pairs: one split of the tasks that occur, in any order.
        members: (task, sentence) of each row, at least one.
    """
    of_task = {split.task: split for split in pairs}
    source = [of_task[task].source(sentence) for task, sentence in members]
    target = [of_task[task].target(sentence) for task, sentence in members]
    padded = _padded(target)  # (B, T)
    previous = padded.roll(1, dims=1)
    previous[:, 0] = EOS
    # A shorter row's end symbol was rolled to where its padding starts.
    previous[padded == PAD] = PAD
    rows = torch.tensor(members, dtype=torch.long)  # (B, 2)
    return Batch(
        source=_padded(source),
        previous_target=previous,
        target=padded,
        tasks=rows[:, 0].contiguous(),
        sentences=rows[:, 1].contiguous(),
        tokens=sum(map(len, target)),
    )


def ordered(pairs: Sequence[Pairs], tokens: int) -> Iterator[Batch]:
    """Yield every sentence of a split exactly once, in batches of similar length, short ones first.

    Args:
        pairs: the split of each task.
        tokens: bound of a batch's rows times its longest side; a longer sentence is a batch alone.
    """
    for members in arranged(pairs, tokens):
        yield collate(pairs, members)


def arranged(pairs: Sequence[Pairs], tokens: int) -> list[list[Member]]:
    """Return the (task, sentence) of each batch that `ordered` yields."""
    longest = {
        split.task: np.maximum(split.source_lengths, split.target_lengths) for split in pairs
    }
    by_member = (
        ((task, sentence), int(length))
        for task, lengths in longest.items()
        for sentence, length in enumerate(lengths)
    )
    return grouped(dict(by_member), tokens)


def grouped(lengths: Mapping[Member, int], tokens: int) -> list[list[Member]]:
    """Return groups of texts of similar length, the short ones first.

    Args:
        lengths: tokens of each text, or of the longer side of a pair.
        tokens: bound of a group's texts times its longest; a longer text is a group alone.
    """
    groups: list[list[Member]] = []
    for member in sorted(lengths, key=lambda member: (lengths[member], member)):
        if not groups or (len(groups[-1]) + 1) * lengths[member] > tokens:
            groups.append([])
        groups[-1].append(member)
    return groups


def _padded(rows: list[torch.Tensor]) -> torch.Tensor:
    """Return rows of ids as one tensor, (B, longest), padded on the right."""
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)

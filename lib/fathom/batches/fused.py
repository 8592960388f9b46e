"""One batch of all tasks: sentences side by side, each with the index of its task.

Everything is padded on the right and batch-first. The decoder's input is the target moved by one
place, with the end symbol in front (teacher forcing, as fairseq starts a sentence).
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
        source_tokens: source tokens without padding.
        tokens: target tokens without padding, by which losses are divided.
    """

    source: torch.Tensor
    previous_target: torch.Tensor
    target: torch.Tensor
    tasks: torch.Tensor
    sentences: torch.Tensor
    source_tokens: int
    tokens: int

    def to(self, device: torch.device | str) -> "Batch":
        """Return the batch with its tensors on a device."""
        return Batch(
            self.source.to(device),
            self.previous_target.to(device),
            self.target.to(device),
            self.tasks.to(device),
            self.sentences.to(device),
            self.source_tokens,
            self.tokens,
        )


@dataclass(frozen=True)
class Fill:
    """Real tokens as a share of the padded ones."""

    source: float
    target: float
    both: float


def collate(pairs: Sequence[Pairs], members: Sequence[Member]) -> Batch:
    """Lay sentences of several tasks side by side.

    Args:
        pairs: one split of the tasks that occur, in any order.
        members: (task, sentence) of each row, at least one.
    """
    of_task = {each.task: each for each in pairs}
    source = [of_task[task].source(sentence) for task, sentence in members]
    target = [of_task[task].target(sentence) for task, sentence in members]
    padded = _padded(target)  # (B, T)
    previous = padded.roll(1, dims=1)
    previous[:, 0] = EOS
    # The longest row's end symbol rolled away; a shorter row's now stands where padding should.
    previous[padded == PAD] = PAD
    rows = torch.tensor(members, dtype=torch.long)  # (B, 2)
    return Batch(
        source=_padded(source),
        previous_target=previous,
        target=padded,
        tasks=rows[:, 0].contiguous(),
        sentences=rows[:, 1].contiguous(),
        source_tokens=sum(map(len, source)),
        tokens=sum(map(len, target)),
    )


def ordered(pairs: Sequence[Pairs], tokens: int) -> Iterator[Batch]:
    """Yield every sentence of a split exactly once, in batches of like length, short ones first.

    Args:
        pairs: the split of each task.
        tokens: a batch's rows times its longest side, at most; a longer sentence stands alone.
    """
    for members in arranged(pairs, tokens):
        yield collate(pairs, members)


def arranged(pairs: Sequence[Pairs], tokens: int) -> list[list[Member]]:
    """Return the (task, sentence) of each batch that `ordered` yields."""
    longest = {each.task: np.maximum(each.source_lengths, each.target_lengths) for each in pairs}
    found = (
        ((task, sentence), int(length))
        for task, lengths in longest.items()
        for sentence, length in enumerate(lengths)
    )
    return grouped(dict(found), tokens)


def grouped(lengths: Mapping[Member, int], tokens: int) -> list[list[Member]]:
    """Return groups of texts of like length, the short ones first.

    Args:
        lengths: tokens of each text, of its longer side where it has two.
        tokens: a group's texts times its longest, at most; a longer text stands alone.
    """
    groups: list[list[Member]] = []
    for member in sorted(lengths, key=lambda member: (lengths[member], member)):
        if not groups or (len(groups[-1]) + 1) * lengths[member] > tokens:
            groups.append([])
        groups[-1].append(member)
    return groups


def fill(batches: Sequence[Batch]) -> Fill:
    """Return how much of some batches is not padding.

    Args:
        batches: at least one; the micro-batches of an update count together.
    """
    source, target = sum(b.source_tokens for b in batches), sum(b.tokens for b in batches)
    wide, high = sum(b.source.numel() for b in batches), sum(b.target.numel() for b in batches)
    return Fill(source / wide, target / high, (source + target) / (wide + high))


def _padded(rows: list[torch.Tensor]) -> torch.Tensor:
    """Return rows of ids as one tensor, (B, longest), padded on the right."""
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)

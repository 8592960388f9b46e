"""Batches of sentences of all tasks, each with the index of its task.

The decoder's input is the target shifted by one place, with the end symbol or the token of the
target language first (teacher forcing, as in fairseq).
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
import torch

from fathom.data.indexed import Sentences
from fathom.data.tensors import PAD, Pairs
from fathom.nn.network import Batch
from fathom.train.batches.sampler import Member

T = TypeVar("T", int, Member)


def collate(pairs: Sequence[Pairs], members: Sequence[Member]) -> Batch:
    """Return a batch of one or more rows (task, sentence) of a split, its tasks in any order."""
    rows = np.array(members, dtype=np.int64)  # (B, 2)
    sources = {split.task: split.sources for split in pairs}
    targets = {split.task: split.targets for split in pairs}
    source_lengths, target_lengths = counted(sources, rows), counted(targets, rows)
    source = gathered(sources, rows, source_lengths)
    target = gathered(targets, rows, target_lengths)  # (B, T)
    previous = np.roll(target, 1, axis=1)
    starts = {split.task: split.start for split in pairs}
    previous[:, 0] = [starts[task] for task in rows[:, 0].tolist()]
    # A shorter row's end symbol was rolled to where its padding starts.
    previous[target == PAD] = PAD
    return Batch(
        source=torch.from_numpy(source),
        previous_target=torch.from_numpy(previous),
        target=torch.from_numpy(target),
        tasks=torch.from_numpy(rows[:, 0].copy()),
        sentences=torch.from_numpy(rows[:, 1].copy()),
        tokens=int(target_lengths.sum()),
        source_lengths=tuple(source_lengths.tolist()),
        target_lengths=tuple(target_lengths.tolist()),
        task_of_each=tuple(rows[:, 0].tolist()),
    )


def counted(sides: Mapping[int, Sentences], rows: np.ndarray) -> np.ndarray:
    """Return the tokens of sentences, (B,), by the task and sentence of each row, (B, 2)."""
    tasks, sentences = rows.T
    lengths = np.empty(len(rows), dtype=np.int64)
    for task in np.unique(tasks):
        here = tasks == task
        lengths[here] = sides[task].lengths[sentences[here]]
    return lengths


def gathered(sides: Mapping[int, Sentences], rows: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return ids, (B, longest), padded on the right, of rows (task, sentence) of known lengths."""
    tasks, sentences = rows.T
    padded = np.full((len(rows), lengths.max()), PAD)
    for task in np.unique(tasks):
        here = np.flatnonzero(tasks == task)
        counts = lengths[here]
        # Of each token: its place in its row, and from that its places in the text and the batch.
        inside = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        first = sides[task].starts[sentences[here]]
        padded[np.repeat(here, counts), inside] = sides[task].ids[np.repeat(first, counts) + inside]
    return padded


def grouped(lengths: Mapping[T, int], tokens: int, texts: int | None = None) -> list[list[T]]:
    """Return groups of at most `texts` texts of similar length, the short ones first.

    A group's texts times its longest have at most `tokens`; a longer text is a group alone.
    """
    groups: list[list[T]] = []
    for member in sorted(lengths, key=lambda member: (lengths[member], member)):
        size = len(groups[-1]) if groups else 0
        if not groups or size == texts or (size + 1) * lengths[member] > tokens:
            groups.append([])
        groups[-1].append(member)
    return groups

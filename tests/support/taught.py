"""Sentences of ids with right answers, and networks that learn them in seconds.

A sentence is turned round in one way of translating, each of its words moved by one in another, and
nothing changed in a third.
"""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from fathom.data.indexed import prefix, writing
from fathom.data.tensors import EOS, PAD
from fathom.io.records import hashes, read_record, write_record
from fathom.nn.network import Network
from tests.reference.padded.networks import padded_logits

ENTRIES, FIRST = 20, 4
BATCH = 64
TURNED, MOVED, SAME = 0, 1, 2


def sentences(amount: int, seed: int) -> list[Tensor]:
    """Return different random sentences with their end symbols."""
    dice, rows = random.Random(seed), {}
    while len(rows) < amount:
        words = tuple(dice.randrange(FIRST, ENTRIES) for _ in range(dice.randint(3, 6)))
        rows[words] = torch.tensor([*words, EOS])
    return list(rows.values())


def answer(source: Tensor, way: int) -> Tensor:
    """Return the right translation of a sentence, with its end symbol."""
    words = source[:-1]
    moved = (words - FIRST + 1) % (ENTRIES - FIRST) + FIRST
    return torch.cat([(words.flip(0), moved, words)[way], source[-1:]])


def padded(rows: list[Tensor]) -> Tensor:
    """Return sentences as one batch."""
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)


def learn(
    network: Network,
    ways: Sequence[int],
    updates: int,
    starts: Sequence[int] | None = None,
    before: Sequence[Sequence[int]] | None = None,
) -> Network:
    """Teach every task its way of translating, with the gates as they are.

    `starts` has what the decoder of each task reads first, rather than the end symbol, and `before`
    the ids before its sources.
    """
    optimiser = torch.optim.Adam((p for p in network.parameters() if p.requires_grad), lr=3e-3)
    network.train()
    for update in range(1, updates + 1):
        rows = sentences(BATCH, seed=update)
        tasks = torch.arange(BATCH) % len(ways)
        targets = [answer(row, ways[task]) for row, task in zip(rows, tasks, strict=True)]
        previous = padded([row.roll(1) for row in targets])
        if starts is not None:
            previous[:, 0] = torch.tensor(starts)[tasks]
        if before is not None:
            rows = [beginning(row, before[task]) for row, task in zip(rows, tasks, strict=True)]
        network.start_update(1, update)
        logits = padded_logits(network, padded(rows), previous, tasks)
        loss = nn.functional.cross_entropy(
            logits.flatten(0, 1), padded(targets).flatten(), ignore_index=PAD
        )
        optimiser.param_groups[0]["lr"] = 3e-3 * min(1, update / 50, (updates - update) / 100 + 0.1)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
    return network


def beginning(source: Tensor, before: Sequence[int]) -> Tensor:
    """Return a source with ids before it."""
    return torch.cat([torch.tensor(before, dtype=source.dtype), source])


def write_sentences(
    folder: Path,
    ways: dict[str, int],
    amount: int = 60,
    before: Mapping[str, Sequence[int]] | None = None,
) -> None:
    """Add held-out sentences and their answers to encoded text that has none."""
    for task, way in ways.items():
        for seed, split in enumerate(("valid", "test"), start=-2):
            rows = sentences(amount, seed)
            sources = [beginning(row, before[task] if before else ()) for row in rows]
            _write(prefix(folder, task, split, "source"), sources)
            _write(prefix(folder, task, split, "target"), [answer(row, way) for row in rows])
    record = read_record(folder / "tensors.json")
    files = {"files": hashes(folder, "*.txt", "*/*.*")}
    write_record(folder / "tensors.json", record | files)


def _write(path: Path, rows: list[Tensor]) -> None:
    path.parent.mkdir(exist_ok=True)
    with writing(path, entries=int(max(row.max() for row in rows)) + 1) as add:
        for row in rows:
            add(row.tolist())

"""Pairs with a file for each side: plain text, or the sgm of shared tasks.

Codes are those of archives.read_pairs. The n-th of a task and the n-th of the pivot, in which
`<task>` is the task, are one text. A split by file drops what `published` says; one by hash, or
with `clean: pivots`, what `usable` says. Text that is cut into pieces here is first cut and
cleaned, as data/pieces.py says. Files of a part of the test set are no text of their own: its pairs
are found in the test set.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from fathom.config.schema.dataset import SPLITS, ByFile, PairsByHash, ParallelDataset
from fathom.data.archives import read_pairs
from fathom.data.clean import key
from fathom.data.pieces import cut
from fathom.data.split import Pair, TaskText, by_hash, published, usable
from fathom.io.errors import FathomError, brief

ReadPairs = Callable[[str, tuple[str, str]], list[Pair]]


def read(files: dict[str, Path], dataset: ParallelDataset) -> dict[str, TaskText[Pair]]:
    """Read the files of all tasks from the archive of each source."""
    return texts(dataset, lambda source, names: read_pairs(files[source], names)[0])


def texts(dataset: ParallelDataset, pairs: ReadPairs) -> dict[str, TaskText[Pair]]:
    """Return the text of all tasks; `pairs` reads two files of a source."""
    rule = dataset.split
    read: dict[str, dict[str, list[Pair]]] = {}
    for task in dataset.tasks:
        read[task] = {split: [] for split in SPLITS}
        for source, names in dataset.files(task):
            split = "train" if isinstance(rule, PairsByHash) else rule.split_of(names[0])
            if split:
                read[task][split] += pairs(source, names)
    # Before the text is cut into pieces; no rule drops test pairs, so the numbers stay theirs.
    parts = {task: _parts(dataset, task, splits["test"], pairs) for task, splits in read.items()}
    lost, done = cut(read, dataset), _split(rule, read)
    for task, text in done.items():
        text.parts = parts[task]
        text.read += lost[task].total()
        text.dropped.update(lost[task])
    return done


def _parts(
    dataset: ParallelDataset, task: str, test: Sequence[Pair], pairs: ReadPairs
) -> dict[str, list[int]]:
    """Return the numbers from 1 of the test pairs that are in each part of the test set."""
    rule = dataset.split
    if not isinstance(rule, ByFile):
        return {}
    found: dict[str, list[int]] = {}
    for part, files in rule.parts.items():
        found[part], behind = [], enumerate(test, 1)
        for source, names in dataset.files(task):
            if names[0] in files:
                found[part] += _lines(pairs(source, names), behind, f"{source}: {names[0]}")
        if not found[part]:
            where = dataset.place("split", "parts", part)
            raise FathomError(f"no pairs for '{task}'", where, "name a file with pairs")
    return found


def _lines(part: list[Pair], behind: Iterator[tuple[int, Pair]], where: str) -> Iterator[int]:
    """Yield the number of each pair of a file; `behind` are test pairs that are not yet passed.

    Both have one order, so each pair is looked for behind the one before it.
    """
    for number, pair in enumerate(part, 1):
        line = next((line for line, each in behind if each == pair), None)
        if line is None:
            what = (
                f"the pair of {brief(pair.text)!r} is not in the test set behind the pair before it"
            )
            remedy = "name a file whose pairs are those of the test files, in their order"
            raise FathomError(what, f"{where}, line {number}", remedy)
        yield line


def _split(
    rule: ByFile | PairsByHash, read: dict[str, dict[str, list[Pair]]]
) -> dict[str, TaskText[Pair]]:
    if isinstance(rule, ByFile) and rule.clean != "pivots":
        return {task: published(splits, rule.clean) for task, splits in read.items()}
    # Of all tasks, so that no task learns what another is tested on.
    held_out = [pair for splits in read.values() for split in SPLITS[1:] for pair in splits[split]]
    keys = {key(pair.pivot) for pair in held_out}
    done: dict[str, TaskText[Pair]] = {}
    for task, splits in read.items():
        train, dropped = usable(splits["train"], keys)
        counts = Counter({rule: len(numbers) for rule, numbers in dropped.items()})
        count = sum(map(len, splits.values()))
        done[task] = TaskText(splits | {"train": train}, count, counts, dropped_lines=dropped)
    if isinstance(rule, PairsByHash):
        splits_of = by_hash({task: text.splits["train"] for task, text in done.items()}, rule)
        for task, text in done.items():
            text.splits = splits_of[task]
    return done

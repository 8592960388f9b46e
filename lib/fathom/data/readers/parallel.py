"""Pairs with a file for each side: plain text, or the sgm of shared tasks.

Codes are names of files, in whatever folder of their archive: the n-th of a task and the n-th of
the pivot are one text. A name that ends in `.sgm` has a sentence in each `seg`. A split by file
drops what `published` says, one by hash what `usable` says.
"""

from collections import Counter
from pathlib import Path

from fathom.config.schema.dataset import SPLITS, PairsByHash, ParallelDataset
from fathom.data.archives import read_pairs
from fathom.data.split import Pair, TaskText, by_hash, published, usable


def read(files: dict[str, Path], dataset: ParallelDataset) -> dict[str, TaskText[Pair]]:
    """Read the files of all tasks from the archive of each source."""
    texts: dict[str, TaskText[Pair]] = {}
    rule = dataset.split
    for task in dataset.tasks:
        splits: dict[str, list[Pair]] = {split: [] for split in SPLITS}
        for source, archive in files.items():
            sides = dataset.codes(source, task), dataset.codes(source, dataset.pivot)
            for names in zip(*sides, strict=False):
                split = "train" if isinstance(rule, PairsByHash) else rule.split_of(names[0])
                splits[split] += read_pairs(archive, names)[0]
        if isinstance(rule, PairsByHash):
            pairs, numbers = usable(splits["train"])
            dropped = Counter({name: len(lines) for name, lines in numbers.items()})
            texts[task] = TaskText(by_hash(pairs, rule), len(splits["train"]), dropped)
        else:
            texts[task] = published(splits, rule.clean)
    return texts

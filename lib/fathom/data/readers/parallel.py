"""Pairs with a file for each side: plain text, or the sgm of shared tasks.

Codes are names of files, in whatever folder of their archive: the n-th of a task and the n-th of
the pivot are one text. A name that ends in `.sgm` has a sentence in each `seg`. The split is by
file, and `published` says what is dropped.
"""

import html
import re
from pathlib import Path

from fathom.config.schema.dataset import SPLITS, ParallelDataset
from fathom.data.archives import named, one_length, text_of
from fathom.data.split import published
from fathom.data.texts import Pair, TaskText

_SEGMENT = re.compile(rb"<seg\b[^>]*>(.*?)</seg>", re.DOTALL | re.IGNORECASE)


def read(files: dict[str, Path], dataset: ParallelDataset) -> dict[str, TaskText[Pair]]:
    """Read the files of all tasks from the archive of each source."""
    texts: dict[str, TaskText[Pair]] = {}
    for task in dataset.tasks:
        splits: dict[str, list[Pair]] = {split: [] for split in SPLITS}
        for source, archive in files.items():
            sides = dataset.codes(source, task), dataset.codes(source, dataset.pivot)
            for own, english in zip(*sides, strict=False):
                splits[dataset.split.split_of(own)] += _pairs(archive, own, english)
        texts[task] = published(splits, dataset.split.clean)
    return texts


def _pairs(archive: Path, own: str, english: str) -> list[Pair]:
    """Return the pairs of two files of an archive."""
    texts: dict[str, list[str]] = {}
    for name, where, lines in named(archive, (own, english)):
        segments = _SEGMENT.findall(b"".join(lines)) if name.endswith(".sgm") else lines
        read = [text_of(line, f"{where}, line {n}") for n, line in enumerate(segments, start=1)]
        texts[name] = [html.unescape(text) for text in read] if name.endswith(".sgm") else read
    one_length({name: len(texts[name]) for name in (own, english)}, archive)
    return [Pair(*lines) for lines in zip(texts[own], texts[english], strict=True)]

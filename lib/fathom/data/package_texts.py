"""The raw pairs of packages, each read as the card of the data set says."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from fathom.config.schema.dataset import (
    Compiled,
    JsonFiles,
    PackageDataset,
    PackageLineDataset,
    Verses,
    kind_of,
)
from fathom.data.catalogues import catalogues_of, messages, translations
from fathom.data.json_files import json_pairs
from fathom.data.texts import Pair
from fathom.data.verses import verses


def raw_pairs(
    files: Mapping[str, Path],
    dataset: PackageDataset | PackageLineDataset,
    dropped: dict[str, Counter[str]],
) -> Iterator[tuple[str, Pair]]:
    """Yield the raw pairs of all sources, each with its text.

    The text of English, if there is one, has pairs of two equal sides.

    Args:
        files: the file of each source.
        dataset: texts, codes and how each source is read.
        dropped: where messages without a pair are counted, by text.

    Raises:
        FathomError: a file lacks what a code names, or has something that cannot be read.
    """
    for source, file in files.items():
        how = dataset.reads[source]
        if isinstance(how, Verses):
            yield from verses(source, file, dataset, how)
        elif isinstance(how, JsonFiles):
            yield from json_pairs(source, file, dataset, how, dropped)
        elif how == "json":
            yield from json_pairs(source, file, dataset, None, dropped)
        else:
            yield from _of_catalogues(source, file, dataset, dropped)


def _of_catalogues(
    source: str,
    file: Path,
    dataset: PackageDataset | PackageLineDataset,
    dropped: dict[str, Counter[str]],
) -> Iterator[tuple[str, Pair]]:
    """Yield the pairs of message catalogues."""
    how = dataset.reads[source]
    kind = "po" if kind_of(how) == "po" else "mo"
    both = dataset.cleaning.equal_plurals == "both"
    for catalogue in catalogues_of(source, file, dataset, kind):
        text, counts = catalogue.task, dropped[catalogue.task]
        if text == dataset.english:
            # English is the messages; a catalogue of English translates none.
            pairs = (Pair(message, message) for message in messages(catalogue, counts))
        else:
            pairs = translations(catalogue, counts, both)
        if isinstance(how, Compiled):
            pairs = _of_windows(pairs, how, counts)
        yield from ((text, pair) for pair in pairs)


def _of_windows(pairs: Iterator[Pair], how: Compiled, dropped: Counter[str]) -> Iterator[Pair]:
    """Yield pairs without marks of keys; drop those with markup."""
    marks = re.escape(how.accelerators)
    # A language without Latin letters adds the key at the end: 파일(~F).
    key = re.compile(rf"\s*\([{marks}]\w\)|[{marks}](?=\w)")
    for pair in pairs:
        if any(mark in side for mark in how.without for side in pair):
            dropped["markup"] += 1
        else:
            yield Pair(*(key.sub("", side) for side in pair))

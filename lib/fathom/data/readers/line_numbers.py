"""Plain text with a file for each side, and files of line numbers that choose the splits.

The files of a text count as one: its sources in the card's order, and each source's names in
theirs. The name `Corpus.en-fr` has the members `Corpus.en-fr.en` and `Corpus.en-fr.fr`, in whatever
folder; where a source has names of the pivot, all its names are codes of archives.read_pairs.
Numbers count from 0, and a number that is there twice gives its pair twice. Only the lines
that are needed are kept in memory. `published` says what is dropped.
"""

from collections.abc import Container, Iterable
from dataclasses import replace
from pathlib import Path

from fathom.config.measurement_keys import short_code
from fathom.config.schema.dataset import SPLITS, NumberedDataset
from fathom.data.archives import REMEDY, named, read_pairs
from fathom.data.split import Pair, TaskText, published
from fathom.io.errors import FathomError


def read(files: dict[str, Path], dataset: NumberedDataset) -> dict[str, TaskText[Pair]]:
    """Read the lines of all tasks from the archive of each source."""
    numbers = _numbers(files[dataset.split.source], dataset)
    texts: dict[str, TaskText[Pair]] = {}
    for text in dataset.texts:
        tasks = [task for task in dataset.tasks if dataset.text_of(task) == text]
        needed = {line for task in tasks for split in SPLITS for line in numbers[task][split]}
        pairs, count = _pairs(text, needed, files, dataset)
        doubt = _doubt(text, count, dataset)
        for line in needed - pairs.keys():
            what = f"the line number {line:,} is beyond the last line of '{text}'"
            where = dataset.place("sources")
            raise FathomError(what, where, "name all files of the text, in their order")
        for task in tasks:
            splits = {split: [pairs[line] for line in numbers[task][split]] for split in SPLITS}
            texts[task] = replace(published(splits, dataset.split.clean), doubt=doubt)
    return texts


def _doubt(text: str, count: int, dataset: NumberedDataset) -> str:
    """Refuse a text of fewer lines than the card says; return that it has too many, if it has."""
    least = dataset.least_lines.get(text, 0)
    what = f"'{text}' has {count:,} lines, not at least {least:,}: another release of its files"
    if count < least:
        raise FathomError(what, dataset.place("least_lines"), REMEDY)
    if least and 1000 * (count - least) > least:
        return f"'{text}' has {count:,} lines, and the greatest number needs {least:,}"
    return ""


def _numbers(archive: Path, dataset: NumberedDataset) -> dict[str, dict[str, list[int]]]:
    files = dataset.split.files
    names = {name for of_task in files.values() for _, name in of_task}
    read: dict[str, list[int]] = {}
    for name, where, lines in named(archive, names):
        read[name] = []
        for line in map(bytes.strip, lines):
            if not line.isdigit():
                shown = line[:20].decode("utf-8", "replace")
                raise FathomError(f"'{shown}' is not a number of a line", where, REMEDY)
            read[name].append(int(line))
    return {task: {split: read[name] for split, name in of_task} for task, of_task in files.items()}


def _pairs(
    text: str, needed: Container[int], files: dict[str, Path], dataset: NumberedDataset
) -> tuple[dict[int, Pair], int]:
    """Return the needed lines of a text, which are counted through all of its files, and all."""
    pairs: dict[int, Pair] = {}
    start = 0
    for source in dataset.sources:
        for names in _names(source, text, dataset):
            read, count = read_pairs(files[source], names, needed, start)
            numbers = (number for number in range(start, start + count) if number in needed)
            pairs |= zip(numbers, read, strict=True)
            start += count
    return pairs, start


def _names(source: str, text: str, dataset: NumberedDataset) -> Iterable[tuple[str, str]]:
    """Return the names of both sides of each file that a source has of a text."""
    codes, pivots = dataset.codes(source, text), dataset.codes(source, dataset.pivot)
    if pivots:
        return zip(codes, pivots, strict=False)
    task = next(task for task in dataset.tasks if dataset.text_of(task) == text)
    foreign, pivot = map(short_code, dataset.languages_of(task))
    return [(f"{name}.{foreign}", f"{name}.{pivot}") for name in codes]

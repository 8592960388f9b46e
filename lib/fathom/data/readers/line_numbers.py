"""Plain text with a file for each side, and files of line numbers that choose the splits.

The files of a text count as one: its sources in the card's order, and each source's names in
theirs. The name `Corpus.en-fr` has the members `Corpus.en-fr.en` and `Corpus.en-fr.fr`, in whatever
folder. Numbers count from 0, and a number that is there twice gives its pair twice. Only the lines
that are needed are kept in memory. `published` says what is dropped.
"""

from collections.abc import Container, Sequence
from pathlib import Path
from typing import IO

from fathom.config.measurement_keys import short_code
from fathom.config.schema.dataset import SPLITS, NumberedDataset
from fathom.data.archives import REMEDY, one_length, plain, require, text_of, visit
from fathom.data.split import published
from fathom.data.texts import Pair, TaskText
from fathom.io.errors import FathomError


def read(files: dict[str, Path], dataset: NumberedDataset) -> dict[str, TaskText[Pair]]:
    """Read the lines of all tasks from the archive of each source."""
    numbers = _numbers(files[dataset.split.source], dataset)
    texts: dict[str, TaskText[Pair]] = {}
    for text in dataset.texts:
        tasks = [task for task in dataset.tasks if dataset.text_of(task) == text]
        needed = {line for task in tasks for split in SPLITS for line in numbers[task][split]}
        pairs = _pairs(text, needed, files, dataset)
        for line in needed - pairs.keys():
            what = f"the line number {line:,} is beyond the last line of '{text}'"
            where = f"config/datasets/{dataset.name}.yaml: sources"
            raise FathomError(what, where, "name all files of the text, in their order")
        for task in tasks:
            splits = {split: [pairs[line] for line in numbers[task][split]] for split in SPLITS}
            texts[task] = published(splits, dataset.split.clean)
    return texts


def _numbers(archive: Path, dataset: NumberedDataset) -> dict[str, dict[str, list[int]]]:
    """Return the numbers of each task and split."""
    files = dataset.split.files
    names = {getattr(of_task, split) for of_task in files.values() for split in SPLITS}
    read: dict[str, list[int]] = {}

    def take(member: str, stream: IO[bytes]) -> None:
        lines = [line.strip() for line in stream]
        for line in lines:
            if not line.isdigit():
                where = f"{archive.name}: {member}"
                shown = line[:20].decode("utf-8", "replace")
                raise FathomError(f"'{shown}' is not a number of a line", where, REMEDY)
        read[plain(member)] = [int(line) for line in lines]

    visit(archive, lambda member: plain(member) in names, take)
    require(names, read, archive)
    return {
        task: {split: read[getattr(of_task, split)] for split in SPLITS}
        for task, of_task in files.items()
    }


def _pairs(
    text: str, needed: Container[int], files: dict[str, Path], dataset: NumberedDataset
) -> dict[int, Pair]:
    """Return the needed lines of a text, which are counted through all of its files."""
    task = next(task for task in dataset.tasks if dataset.text_of(task) == text)
    sides = [short_code(language) for language in dataset.languages_of(task)]
    pairs: dict[int, Pair] = {}
    start = 0
    for source in dataset.sources:
        for name in dataset.codes(source, text) if source != dataset.split.source else ():
            members = [f"{name}.{side}" for side in sides]
            read = _lines(files[source], members, needed, start)
            counts = {member: read[member][1] - start for member in members}
            start += one_length(counts, files[source])
            foreign, pivot = (read[member][0] for member in members)
            pairs |= {line: Pair(foreign[line], pivot[line]) for line in foreign}
    return pairs


def _lines(
    archive: Path, members: Sequence[str], needed: Container[int], start: int
) -> dict[str, tuple[dict[int, str], int]]:
    """Return the needed lines of each member by number, and the number after its last line.

    `start` is the number of the first line.
    """
    read: dict[str, tuple[dict[int, str], int]] = {}

    def take(member: str, stream: IO[bytes]) -> None:
        lines, number = {}, start
        for line in stream:
            if number in needed:
                where = f"{archive.name}: {member}, line {number - start + 1}"
                lines[number] = text_of(line, where)
            number += 1
        read[plain(member)] = lines, number

    visit(archive, lambda member: plain(member) in members, take)
    require(members, read, archive)
    return read

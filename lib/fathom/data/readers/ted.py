"""The TED talks archive of Qi et al.: three tables with a column for each language.

Tab-separated, a header row, no quoting: a bare double quote is a character like any other. Columns
are found by name. The published split is kept, and so are duplicates and the tokenisation, since
the papers score on it. A row gives a task no pair for the first of these reasons that applies:

1. too_many_cells: the row has more cells than the header, so that its columns are not certain;
2. no_cell: the row ends before one of the two columns;
3. missing_mark: one of the marks of a missing translation is anywhere in either cell;
4. empty: nothing is left of a cell when blanks are trimmed.

Entities are unescaped; characters that some reader takes for the end of a line become blanks.
"""

import html
from collections.abc import Iterable, Iterator
from pathlib import Path

from fathom.config.schema.dataset import SPLITS, TalkDataset
from fathom.data.archives import REMEDY, named
from fathom.data.clean import one_line
from fathom.data.split import Pair, TaskText
from fathom.io.errors import FathomError, nearest

_FILES = ("all_talks_train.tsv", "all_talks_dev.tsv", "all_talks_test.tsv")
_SPLITS: dict[str, str] = dict(zip(_FILES, SPLITS, strict=True))
_REASONS = ("too_many_cells", "no_cell", "missing_mark", "empty")

Texts = dict[str, TaskText[Pair]]


def read(files: dict[str, Path], dataset: TalkDataset) -> Texts:
    """Read the talks of all tasks from the archive of each source."""
    texts: Texts = {task: TaskText({split: [] for split in SPLITS}) for task in dataset.tasks}
    for source, archive in files.items():
        columns = _columns(source, dataset)
        for name, where, lines in named(archive, _SPLITS):
            _read_table(lines, where, columns, _SPLITS[name], dataset, texts)
    return texts


def _columns(source: str, dataset: TalkDataset) -> dict[str, str]:
    """Return the column's name of each task that a source has, and of the pivot."""
    languages = (*dataset.tasks, dataset.pivot)
    columns = {language: dataset.codes(source, language)[0:1] for language in languages}
    if not columns[dataset.pivot]:
        where = dataset.place("sources", source)
        what = f"the column of the pivot '{dataset.pivot}' is not given"
        raise FathomError(what, where, "add it to the tasks' columns")
    return {language: names[0] for language, names in columns.items() if names}


def _read_table(
    lines: Iterable[bytes],
    where: str,
    columns: dict[str, str],
    split: str,
    dataset: TalkDataset,
    texts: Texts,
) -> None:
    """Add a table's pairs to each task's split, and count the rows that give none."""
    rows = _rows(lines, where)
    header = next(rows, [])
    places = {language: _place(header, column, where) for language, column in columns.items()}
    pivot_place = places.pop(dataset.pivot)
    marks = dataset.cleaning.missing_marks
    pairs: dict[str, list[Pair]] = {task: [] for task in places}
    for row in rows:
        # Once for all tasks: the pivot's cell is the same.
        pivot, pivot_fault = _cell(row, pivot_place, marks)
        for task, place in places.items():
            text, text_fault = _cell(row, place, marks)
            faults = {pivot_fault, text_fault}
            if len(row) > len(header):
                faults = {"too_many_cells"}
            texts[task].read += 1
            if faults == {""}:
                pairs[task].append(Pair(text, pivot))
            else:
                texts[task].dropped[next(fault for fault in _REASONS if fault in faults)] += 1
    for task, read in pairs.items():
        before = texts[task].splits
        texts[task].splits = {**before, split: [*before[split], *read]}


def _rows(lines: Iterable[bytes], where: str) -> Iterator[list[str]]:
    """Yield the cells of each row; only LF, or CR and LF, ends a row."""
    for number, line in enumerate(lines, start=1):
        try:
            row = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise FathomError("not UTF-8", f"{where}, line {number}", REMEDY) from None
        yield row.removesuffix("\n").removesuffix("\r").split("\t")


def _place(header: list[str], column: str, where: str) -> int:
    if header.count(column) != 1:
        what = f"{header.count(column)} columns are called '{column}', not one"
        raise FathomError(what, where, nearest(column, header))
    return header.index(column)


def _cell(row: list[str], place: int, marks: tuple[str, ...]) -> tuple[str, str]:
    """Return a cell's text, and the reason why it has none, or nothing."""
    if place >= len(row):
        return "", "no_cell"
    if any(mark in row[place] for mark in marks):
        return "", "missing_mark"
    text = one_line(html.unescape(row[place])).strip()
    return text, "" if text else "empty"

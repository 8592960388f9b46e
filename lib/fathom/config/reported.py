"""Reported cells: a paper's table as CSV, each cell as printed."""

import csv
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from io import StringIO
from pathlib import Path

from fathom.config.inventory import Inventory
from fathom.config.schema.table import DIFFERENCE, WITH_DIFFERENCE
from fathom.config.tables import Cell, Table, mark_faults
from fathom.config.yaml_values import name_of, text_of_file
from fathom.io.errors import FathomError, closest, nearest, refuse

OUTCOMES = ("diverged", "failed to train")
EMPTY = "N/A as printed"
EQUAL = "="
_PRINTED_AS = ", printed "  # what follows an outcome
_OF_A_HUNDRED = ("BLEU", "chrF")
# Python also reads digits of other scripts, and 1_000, as numbers.
_PRINTED, _SIGNED = re.compile(r"-?[0-9]+([.][0-9]+)?"), re.compile(r"[+-]?[0-9]+([.][0-9]+)?")


@dataclass(frozen=True)
class Reported:
    """A cell as the paper prints it; all fields but the last are columns of the CSV."""

    row: str  # the id of its row, as in `Cell.id`
    column: str
    value: str  # the digits as printed; empty where the paper has no number
    stderr: str  # the printed standard error
    mark: str  # what the print of the cell claims, such as `bold`; the table says what it means
    right: str  # the number that is compared, if the printed one is a misprint
    # The outcome of a run without a result, as `diverged, printed NA`, or EMPTY; what is printed
    # with a number.
    note: str
    where: str  # its file and line

    @property
    def number(self) -> float | None:
        """The number that is compared: the correct one of a misprint."""
        return float(self.right or self.value) if self.value else None

    @property
    def difference(self) -> float | None:
        """The difference to another cell that is printed with the number; `=` is none at all."""
        if self.note == EQUAL:
            return 0.0
        return float(self.note) if self.value and _SIGNED.fullmatch(self.note) else None

    @property
    def deviation(self) -> float | None:
        """The printed standard error as a number."""
        return float(self.stderr) if self.stderr else None

    @property
    def outcome(self) -> str:
        """How a run without a result ended, in words; empty for a number and for N/A."""
        return "" if self.value or self.note == EMPTY else self.note.partition(_PRINTED_AS)[0]

    @property
    def sign(self) -> str:
        """What is printed in the place of a number."""
        return self.note.partition(_PRINTED_AS)[2] or self.note.removesuffix(" as printed")

    @property
    def decimals(self) -> int:
        """How many digits are printed after the point."""
        return len(self.value.partition(".")[2])


HEADER = tuple(field.name for field in fields(Reported))[:-1]
# Row and column of a cell.
Place = tuple[str, str]


def read(path: Path, cells: Iterable[Cell], root: Path) -> tuple[Reported, ...]:
    """Read the reported cells of a table, in the order of the file; messages leave out `root`.

    Each of the table's cells that the paper has must be reported, once.
    """
    reported, findings = _read(path, name_of(path, root), cells)
    refuse(findings)
    return tuple(reported)


def _read(path: Path, name: str, cells: Iterable[Cell]) -> tuple[list[Reported], list[FathomError]]:
    """Return the lines that are at a place of the table, and what is wrong with any line."""
    places = {(cell.id, cell.column): cell for cell in cells}
    printed = {place: None for place, cell in places.items() if not cell.ours}
    reported: dict[Place, Reported] = {}
    findings: list[FathomError] = []
    lines = [*_lines(path, name)]
    for line in lines:
        if isinstance(line, FathomError):
            findings.append(line)
            continue
        findings += [*_form(line), *_position(line, places, printed, reported)]
        reported.setdefault((line.row, line.column), line)
    # A misspelled line is one finding, not also one of the cell that it means.
    meant = {_meant(place, printed) for place in reported}
    # Which cell a line with a missing field reports is not certain.
    whole = not any(isinstance(line, FathomError) for line in lines)
    for row, column in printed if whole else ():
        if (row, column) not in meant and places[row, column].kind != "unread":
            what = f"no reported cell for row '{row}' and column '{column}'"
            line = StringIO()
            csv.writer(line, lineterminator="").writerow([row, column, "<number>", *[""] * 4])
            findings.append(FathomError(what, name, f"add {line.getvalue()} or note {EMPTY}"))
    return [line for place, line in reported.items() if place in printed], findings


def form_faults(path: Path, root: Path) -> Iterator[FathomError]:
    """Yield what is wrong with a file and with each of its lines alone."""
    for line in _lines(path, name_of(path, root)):
        yield from [line] if isinstance(line, FathomError) else _form(line)


def reported_faults(
    path: Path, table: Table, cells: tuple[Cell, ...], inventory: Inventory
) -> Iterator[FathomError]:
    """Yield what is wrong between a table's reported cells, its cells and its runs."""
    reported, findings = _read(path, name_of(path, inventory.root), cells)
    yield from findings
    places = {(cell.id, cell.column): cell for cell in cells}
    used: dict[str, Reported] = {}
    for item in reported:
        used.setdefault(item.mark, item)
        yield from _mark(item, table)
        cell = places[item.row, item.column]
        unit = table.vocabulary.measurement(cell.value).unit if cell.value else ""
        number, mark = item.right or item.value, table.marks.get(item.mark)
        least = -math.inf if mark and mark.means == DIFFERENCE else 0
        most = 100 if unit in _OF_A_HUNDRED else math.inf
        if cell.value and _PRINTED.fullmatch(number) and not least <= float(number) <= most:
            bound = "more than 100" if float(number) > most else "less than 0"
            what = f"{number} is {bound} {unit}".rstrip()
            remedy = "write the digits as printed, and what a misprint means as `right`"
            yield FathomError(what, item.where, remedy)
        if item.stderr and cell.kind == "run" and len(inventory.seeds(cell.source, None)) < 2:
            what = f"± of a run with one seed, {cell.source}"
            yield FathomError(what, item.where, "give the run `seeds`")
    for name, mark in table.marks.items():
        # The table's own marks are checked with the table.
        if name in used and table.settings.marks is None:
            yield from mark_faults(table, mark, cells, inventory, used[name].where)


def _mark(item: Reported, table: Table) -> Iterator[FathomError]:
    """Yield a mark without a meaning, or without the number that it announces."""
    mark = table.marks.get(item.mark)
    if item.mark and mark is None:
        remedy = f"leave the field empty if it only means the best, or explain '{item.mark}'"
        remedy += " under `marks`"
        if closest(item.mark, table.marks) is not None:
            remedy = nearest(item.mark, table.marks)
        yield FathomError(f"mark '{item.mark}' has no meaning", item.where, remedy)
    if mark and mark.means == WITH_DIFFERENCE and item.difference is None:
        what = f"'{item.note}' is not a difference, which the mark '{item.mark}' says it is"
        yield FathomError(what, item.where, f"write it as -0.6, or {EQUAL}")


def _lines(path: Path, name: str) -> Iterator[Reported | FathomError]:
    """Yield each line below the header, or that it has another number of fields."""
    # Excel begins a file with a mark that no one sees.
    text = text_of_file(path, name, "copy the paper's numbers into it", "utf-8-sig")
    reader = csv.reader(StringIO(text), strict=True)
    try:
        lines = list(reader)
    except csv.Error as error:
        where = f"{name}:{reader.line_num}"
        raise FathomError(f"not CSV ({error})", where, "correct the line") from None
    if not lines or tuple(lines[0]) != HEADER:
        raise FathomError("another header", f"{name}:1", f"write {','.join(HEADER)}")
    for number, values in enumerate(lines[1:], start=2):
        where = f"{name}:{number}"
        if len(values) == len(HEADER):
            yield Reported(*values, where=where)
        else:
            remedy = f"write {len(HEADER)}; quote an id that has a comma"
            yield FathomError(f"{len(values)} fields", where, remedy)


def _form(item: Reported) -> Iterator[FathomError]:
    for text in (item.value, item.stderr, item.right):
        negative = text == item.stderr and text.startswith("-")
        if text and (negative or not _PRINTED.fullmatch(text)):
            what = f"'{text}' is not a number"
            yield FathomError(what, item.where, "write the digits as printed")
    if not item.value and item.note != EMPTY and item.outcome not in OUTCOMES:
        what = f"no outcome '{item.note}'" if item.note else "neither a number nor an outcome"
        yield FathomError(what, item.where, nearest(item.note, (*OUTCOMES, EMPTY)))
    if not item.value and (item.stderr or item.mark or item.right):
        what = "stderr, mark or right without a number"
        yield FathomError(what, item.where, "write the value, or clear them")


def _position(
    item: Reported,
    places: Mapping[Place, Cell],
    printed: Collection[Place],
    seen: Mapping[Place, Reported],
) -> Iterator[FathomError]:
    place = (item.row, item.column)
    if place not in printed:
        columns = [column for row, column in printed if row == item.row]
        what = f"row '{item.row}' has no column '{item.column}'"
        near = nearest(item.column, columns)
        if not columns:
            rows = dict.fromkeys(row for row, _ in printed)
            what, near = f"no row '{item.row}'", nearest(item.row, rows)
        yield FathomError(what, item.where, near)
    elif place in seen:
        what = f"this cell is also in line {seen[place].where.rpartition(':')[2]}"
        yield FathomError(what, item.where, "delete one of the two")
    elif item.note == EMPTY and places[place].kind not in ("empty", "unread"):
        what = f"N/A, where the table has {places[place].source}"
        yield FathomError(what, item.where, "name the column in the row's `empty`")
    elif item.note != EMPTY and places[place].kind == "empty":
        yield FathomError("this cell is empty in the table", item.where, f"note {EMPTY}")


def _meant(place: Place, printed: Collection[Place]) -> Place:
    """Return the printed cell that a line's row and column mean: itself, or the nearest one."""
    if place in printed:
        return place
    row = closest(place[0], dict.fromkeys(row for row, _ in printed)) or place[0]
    columns = [column for each, column in printed if each == row]
    return row, closest(place[1], columns) or place[1]

"""Reported cells: a paper's table as CSV, each cell as printed."""

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from fathom.config.cells import Cell
from fathom.config.known import Known
from fathom.config.schema.table import WITH_DIFFERENCE
from fathom.config.tables import Table, mark_findings
from fathom.config.yaml_files import name_of
from fathom.io.errors import Dependent, FathomError, Partly, closest, nearest

HEADER = ("row", "column", "value", "stderr", "mark", "right", "note")
OUTCOMES = ("diverged", "failed to train")
EMPTY = "N/A as printed"
_OF_A_HUNDRED = ("BLEU", "chrF")
# Python also reads digits of other scripts, and 1_000, as numbers.
_PRINTED = re.compile(r"-?[0-9]+([.][0-9]+)?")
_SIGNED, EQUAL = re.compile(r"[+-]?[0-9]+([.][0-9]+)?"), "="


@dataclass(frozen=True)
class Reported:
    """A cell as the paper prints it.

    Attributes:
        row: the id of its row, as in `Cell.id`.
        column: the id of its column.
        value: the digits as printed; empty where the paper has no number.
        stderr: the printed standard error; empty without one.
        mark: what the print of the cell claims, such as `bold`; the table says what it means.
        right: the number that is compared, where the printed one is a misprint.
        note: the outcome of a run without a result, or EMPTY; what else is printed with a number.
        where: its file and line.
    """

    row: str
    column: str
    value: str
    stderr: str
    mark: str
    right: str
    note: str
    where: str

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
        return self.note if not self.value and self.note != EMPTY else ""

    @property
    def decimals(self) -> int:
        """How many digits are printed after the point."""
        return len(self.value.partition(".")[2])


def read(path: Path, cells: Iterable[Cell], root: Path | None = None) -> tuple[Reported, ...]:
    """Read the reported cells of a table, in the order of the file.

    Args:
        path: the CSV, `reported/<table>.csv`.
        cells: the table's cells; those that the paper has must be reported, each once.
        root: the project's folder, which messages leave out.

    Raises:
        Partly: every line that is wrong, and every cell that is not reported; what is at a place of
            the table is right, also where its number is not.
    """
    name = name_of(path, root) if root else str(path)
    places = {(cell.id, cell.column): cell for cell in cells}
    findings: list[FathomError] = []
    reported: dict[tuple[str, str], Reported] = {}
    for number, fields in enumerate(_table(path, name), start=2):
        where = f"{name}:{number}"
        if len(fields) != len(HEADER):
            remedy = f"write {len(HEADER)}; quote an id that has a comma"
            findings.append(FathomError(f"{len(fields)} fields", where, remedy))
            continue
        cell = Reported(*fields, where=where)
        wrong = [*_form(cell), *_position(cell, places, reported)]
        findings += wrong
        reported.setdefault((cell.row, cell.column), cell)
    printed = [key for key, place in places.items() if not place.ours]
    # A misspelled line is one finding, not also one of the cell that it means.
    meant = {_meant(key, printed) for key in reported}
    for row, column in printed:
        if (row, column) not in meant:
            what = f"no reported cell for row '{row}' and column '{column}'"
            line = _line(row, column, "<number>", "", "", "", "")
            findings.append(FathomError(what, name, f"add {line} or note {EMPTY}"))
    if findings:
        right = {cell.where: cell for key, cell in reported.items() if key in places}
        raise Partly(findings, right, ())
    return tuple(reported.values())


def faults_of_form(path: Path, root: Path) -> Iterator[FathomError]:
    """Yield what is wrong with each line by itself, where the table's cells are not known.

    Args:
        path: the CSV.
        root: the project's folder, which messages leave out.
    """
    name = name_of(path, root)
    try:
        lines = _table(path, name)
    except FathomError as error:
        yield error
        return
    for number, fields in enumerate(lines, start=2):
        if len(fields) == len(HEADER):
            yield from _form(Reported(*fields, where=f"{name}:{number}"))


def findings(
    table: Table, cells: tuple[Cell, ...], reported: Iterable[Reported], known: Known
) -> Iterator[FathomError]:
    """Yield marks without a meaning, impossible scores, and standard errors of one seed."""
    places = {(cell.id, cell.column): cell for cell in cells}
    used: dict[str, Reported] = {}
    for item in reported:
        if item.mark and item.mark not in table.marks:
            what, remedy = f"mark '{item.mark}' has no meaning", _unknown_mark(item.mark, table)
            yield Dependent(what, item.where, remedy, [("mark", item.mark)])
        used.setdefault(item.mark, item)
        mark = table.marks.get(item.mark)
        if mark and mark.means == WITH_DIFFERENCE and item.difference is None:
            what = f"'{item.note}' is no difference, which the mark '{item.mark}' says it is"
            yield FathomError(what, item.where, f"write it as -0.6, or {EQUAL}")
        cell = places[item.row, item.column]
        unit = table.vocabulary.measurement(cell.value).unit if cell.value else ""
        number = item.right or item.value
        if unit in _OF_A_HUNDRED and _PRINTED.fullmatch(number) and abs(float(number)) > 100:
            what = f"{number} is more than 100 {unit}"
            remedy = "write the digits as printed, and what a misprint means as `right`"
            yield FathomError(what, item.where, remedy)
        if item.stderr and cell.kind == "run" and len(known.runs[cell.source].seeds) < 2:
            what = f"± of a run with one seed, {cell.source}"
            yield FathomError(what, item.where, "give the run `seeds`")
    for name, mark in table.marks.items():
        if name in used and table.settings.marks is None:
            for finding in mark_findings(table, name, mark, cells, known):
                yield FathomError(finding.what, used[name].where, finding.remedy)


def _unknown_mark(mark: str, table: Table) -> str:
    """Return the remedy of a mark that `marks` does not have."""
    if closest(mark, table.marks) is not None:
        return nearest(mark, table.marks)
    return f"leave the field empty if it only means the best, or explain '{mark}' under `marks`"


def _table(path: Path, name: str) -> list[list[str]]:
    """Return the lines of a CSV below its header."""
    try:
        # Excel begins a file with a mark that no one sees.
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise FathomError("no such file", name, "copy the paper's numbers into it") from None
    except UnicodeDecodeError as error:
        what = f"not UTF-8 at byte {error.start + 1}"
        raise FathomError(what, name, "save it as UTF-8") from None
    reader = csv.reader(StringIO(text), strict=True)
    try:
        lines = list(reader)
    except csv.Error as error:
        where = f"{name}:{reader.line_num}"
        raise FathomError(f"not CSV ({error})", where, "correct the line") from None
    if not lines or tuple(lines[0]) != HEADER:
        raise FathomError("another header", f"{name}:1", f"write {','.join(HEADER)}")
    return lines[1:]


def _form(cell: Reported) -> Iterator[FathomError]:
    """Yield what is wrong with a line by itself."""
    for text in (cell.value, cell.stderr, cell.right):
        negative = text == cell.stderr and text.startswith("-")
        if text and (negative or not _PRINTED.fullmatch(text)):
            yield FathomError(f"'{text}' is no number", cell.where, "write the digits as printed")
    if not cell.value and cell.note not in (*OUTCOMES, EMPTY):
        what = f"no outcome '{cell.note}'" if cell.note else "neither a number nor an outcome"
        yield FathomError(what, cell.where, nearest(cell.note, (*OUTCOMES, EMPTY)))
    if not cell.value and (cell.stderr or cell.mark or cell.right):
        what = "stderr, mark or right without a number"
        yield FathomError(what, cell.where, "write the value, or clear them")


def _position(
    cell: Reported,
    places: dict[tuple[str, str], Cell],
    seen: dict[tuple[str, str], Reported],
) -> Iterator[FathomError]:
    """Yield what is wrong with a line's place in the table."""
    key = (cell.row, cell.column)
    printed = {key for key, place in places.items() if not place.ours}
    rows = dict.fromkeys(row for row, _ in printed)
    if cell.row not in rows:
        yield FathomError(f"no row '{cell.row}'", cell.where, nearest(cell.row, rows))
    elif key not in printed:
        columns = [column for row, column in places if (row, column) in printed and row == cell.row]
        what = f"row '{cell.row}' has no column '{cell.column}'"
        yield FathomError(what, cell.where, nearest(cell.column, columns))
    elif key in seen:
        what = f"this cell is also in line {seen[key].where.rpartition(':')[2]}"
        yield FathomError(what, cell.where, "delete one of the two")
    elif (cell.note == EMPTY) != (places[key].kind == "empty"):
        what = f"N/A, where the table has {places[key].source}"
        if cell.note != EMPTY:
            yield FathomError("this cell is empty in the table", cell.where, f"note {EMPTY}")
        else:
            yield FathomError(what, cell.where, "name the column in the row's `empty`")


def _meant(key: tuple[str, str], printed: list[tuple[str, str]]) -> tuple[str, str]:
    """Return the printed cell that a line's row and column mean: itself, or the nearest one."""
    if key in printed:
        return key
    row = closest(key[0], dict.fromkeys(row for row, _ in printed)) or key[0]
    return row, closest(key[1], [column for other, column in printed if other == row]) or key[1]


def _line(*fields: str) -> str:
    """Return a line of a CSV."""
    text = StringIO()
    csv.writer(text, lineterminator="").writerow(fields)
    return text.getvalue()

"""Reported numbers: a paper's table as CSV, each cell as printed."""

import csv
from collections.abc import Iterator
from pathlib import Path

from fathom.errors import FathomError, Findings, nearest
from fathom.io.files import read_lines
from fathom.papers.paper import Artefact
from fathom.tables.verdicts import Reported

HEADER = ("row", "column", "value", "stderr", "note")
OUTCOMES = ("diverged", "failed to train")
EMPTY = "N/A as printed"
_MISPRINT = "misprint: "


def read(path: Path, artefact: Artefact) -> tuple[Reported, ...]:
    """Read the reported cells of an artefact, in the order of the file.

    A note `misprint: <value>` gives the value that is compared; the digits stay as printed. A cell
    without a number has an outcome as its note, or EMPTY where the paper has none either.

    Args:
        path: the CSV.
        artefact: the artefact whose rows and columns it must have.

    Raises:
        Findings: every line that is wrong.
    """
    try:
        lines = read_lines(path)
    except FileNotFoundError:
        raise FathomError("no such file", str(path), "copy the paper's numbers into it") from None
    except UnicodeDecodeError as error:
        what = f"not UTF-8 at byte {error.start + 1}"
        raise FathomError(what, str(path), "save it as UTF-8") from None
    table = list(csv.reader(lines))
    if not table or tuple(table[0]) != HEADER:
        raise FathomError("another header", f"{path}:1", f"write {','.join(HEADER)}")
    found: list[Reported] = []
    wrong: list[FathomError] = []
    seen: dict[tuple[str, str], int] = {}
    for number, fields in enumerate(table[1:], start=2):
        where = f"{path}:{number}"
        wrong.extend(_line_findings(fields, where, artefact, seen))
        if len(fields) == len(HEADER):
            seen[fields[0], fields[1]] = number
            if not wrong:
                found.append(_cell(*fields))
    if wrong:
        raise Findings(wrong)
    return tuple(found)


def _line_findings(
    fields: list[str], where: str, artefact: Artefact, seen: dict[tuple[str, str], int]
) -> Iterator[FathomError]:
    if len(fields) != len(HEADER):
        yield FathomError(
            f"{len(fields)} fields", where, f"write {len(HEADER)}; quote an id that has a comma"
        )
        return
    row, column, value, stderr, note = fields
    columns = [each.name for each in artefact.columns]
    if row not in artefact.rows:
        yield FathomError(f"no row '{row}'", where, nearest(row, artefact.rows))
    if column not in columns:
        yield FathomError(f"no column '{column}'", where, nearest(column, columns))
    if (row, column) in seen:
        yield FathomError(
            f"the cell stands in line {seen[row, column]} too", where, "delete one of the two"
        )
    corrected = note.removeprefix(_MISPRINT) if note.startswith(_MISPRINT) else ""
    for text in (value, stderr, corrected):
        if text and not _is_number(text):
            yield FathomError(f"'{text}' is no number", where, "write the digits as printed")
    if not value and not note:
        yield FathomError(
            "neither a number nor a note", where, f"note an outcome: {' or '.join(OUTCOMES)}"
        )
    elif not value and note not in (*OUTCOMES, EMPTY):
        yield FathomError(f"no outcome '{note}'", where, nearest(note, (*OUTCOMES, EMPTY)))


def _cell(row: str, column: str, value: str, stderr: str, note: str) -> Reported:
    """Build a cell from fields that have been checked."""
    compared = note.removeprefix(_MISPRINT) if note.startswith(_MISPRINT) else value
    return Reported(
        row=row,
        column=column,
        digits=value,
        value=float(compared) if compared else None,
        outcome=note if note in OUTCOMES else "",
        note=note if note.startswith(_MISPRINT) else "",
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip().lower() not in ("nan", "inf", "-inf", "infinity", "-infinity")

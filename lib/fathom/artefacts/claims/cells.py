"""Cells that claims show, by row and column."""

import math
from collections.abc import Iterable, Sequence

from fathom.artefacts.claims.language import RESULTS, TASKS, Key, Reference
from fathom.artefacts.claims.numbers import Slice, Sum, Term, Unfit
from fathom.config.tables import Cell
from fathom.config.vocabulary import Vocabulary
from fathom.io.errors import nearest

NO_CELL = "not in this scale's table"


def places(reference: Reference, cells: Iterable[Cell]) -> list[tuple[str, str]]:
    """Return the row and column of each cell that a claim shows, row by row.

    `:` are all that the paper prints; a row alone is its results, which are not parameters.
    """
    shown = [cell for cell in cells if cell.kind != "empty"]
    printed = dict.fromkeys(cell.column for cell in shown if not cell.ours)
    rows, columns = (*reference.keys, Key(every=RESULTS, several=True))[:2]
    every_row = dict.fromkeys(cell.id for cell in shown if not cell.ours)
    there = {(cell.id, cell.column) for cell in shown}
    return [
        (row, column)
        for row in rows.ids or every_row
        for column in columns.ids
        or [
            cell.column
            for cell in shown
            if cell.id == row and cell.column in printed and _is_meant(columns, cell)
        ]
        if rows.ids or (row, column) in there
    ]


def _is_meant(columns: Key, cell: Cell) -> bool:
    """Return whether a name of several columns means a cell."""
    if columns.every == TASKS:
        return cell.task is not None
    is_parameters = cell.value is not None and cell.value.measurement == "parameters"
    return columns.every != RESULTS or not is_parameters


def quantity(reference: Reference, terms: Sequence[Term]) -> Sum | Slice:
    """Return a number where each key names one row or column, or else a slice.

    Where a scale has none of the cells, it is one number that is missing.
    """
    terms = terms or [Term(reference.artefact, math.nan, NO_CELL, missing=True)]
    numbers = tuple(Sum({term: 1.0}) for term in terms)
    single = len(reference.keys) == 2 and not any(key.several for key in reference.keys)
    return numbers[0] if single else Slice(numbers)


def check_cells(reference: Reference, cells: Sequence[Cell]) -> None:
    """Refuse rows and columns that a table does not have.

    Raises:
        Unfit: the first of them.
    """
    table = reference.artefact
    if len(reference.keys) > 2:
        raise Unfit(f"{table} has rows and columns only", "give one or two keys")
    rows, columns = (*reference.keys, Key(every=RESULTS))[:2]
    if rows.every in (TASKS, RESULTS):
        raise Unfit(f"`{rows.every}` is not a row of {table}", "write `:` for all rows")
    names = dict.fromkeys(cell.id for cell in cells)
    for row in rows.ids:
        if row not in names:
            raise Unfit(f"{table} has no row '{row}'", nearest(row, names))
    for row in rows.ids or [None]:
        where = table if row is None else f"{table}, row '{row}',"
        line = {cell.column: cell for cell in cells if row in (None, cell.id)}
        for column in columns.ids:
            if column not in line:
                raise Unfit(f"{where} has no column '{column}'", nearest(column, line))
            if row is not None and line[column].kind == "empty":
                raise Unfit(f"{where} is empty in column '{column}'", "name another cell")
    if not places(reference, cells):
        what = f"{table} prints nothing in these rows and columns"
        raise Unfit(what, "name other rows or columns")


def worst(cell: Cell, vocabulary: Vocabulary) -> float:
    """Return the bad end of what a cell measures; nan where it has none."""
    better = vocabulary.measurement(cell.value).better if cell.value else None
    return {"higher": -math.inf, "lower": math.inf}.get(better or "", math.nan)


def name_of(artefact: str, place: tuple[str, str]) -> str:
    """Return what the output calls a cell: `table5 “12/12” avg`."""
    return f"{artefact} “{place[0]}” {place[1]}"

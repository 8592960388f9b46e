"""Which cells a claim shows, and what their numbers are where there is no result."""

import math
from collections.abc import Iterable, Sequence

from fathom.artefacts.claims.expressions import RESULTS, TASKS, Key, Reference
from fathom.artefacts.claims.quantities import Number, Quantity, Slice, Sum, Term
from fathom.config.tables import Cell
from fathom.config.vocabulary import Vocabulary

NO_CELL = "not in this scale's table"


def places(reference: Reference, cells: Iterable[Cell]) -> list[tuple[str, str]]:
    """Return the row and column of each cell that a claim shows, row by row.

    `:` are all that the paper prints; a row alone is its results, which are no parameters.

    Args:
        reference: a table with its keys.
        cells: of the table.
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
    return columns.every != RESULTS or not _is_parameters(cell)


def _is_parameters(cell: Cell) -> bool:
    return cell.value is not None and cell.value.measurement == "parameters"


def quantity(reference: Reference, numbers: Sequence[Number]) -> Quantity:
    """Return a number where each key names one row or column, or else a slice.

    Where a scale has none of the cells, it is one number that is missing.
    """
    one = len(reference.keys) == 2 and not any(key.several for key in reference.keys)
    none = Sum({Term(reference.artefact, math.nan, NO_CELL, missing=True): 1.0})
    return numbers[0] if one else Slice(tuple(numbers) or (none,))


def worst(cell: Cell, vocabulary: Vocabulary) -> float:
    """Return the bad end of what a cell measures; nan where it has none."""
    better = vocabulary.measurement(cell.value).better if cell.value else None
    return {"higher": -math.inf, "lower": math.inf}.get(better or "", math.nan)


def name_of(reference: Reference, place: tuple[str, str]) -> str:
    """Return what the output calls a cell: `table5 “12/12” avg`."""
    return f"{reference.artefact} “{place[0]}” {place[1]}"

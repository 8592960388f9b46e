"""What claims name: cells of tables by row and column."""

from collections.abc import Sequence

from fathom.artefacts.claims.language import RESULTS, TASKS, Key, Reference
from fathom.artefacts.claims.numbers import Unfit
from fathom.config.tables import Cell
from fathom.io.errors import nearest

Place = tuple[str, str]  # the row and the column of a cell


def places(reference: Reference, cells: Sequence[Cell]) -> list[Place]:
    """Return the row and column of each cell that a claim shows, row by row.

    `:` are all that the paper prints; a row alone is its results, which are not parameters.
    """
    shown = [cell for cell in cells if cell.kind != "empty"]
    there = {(cell.id, cell.column) for cell in shown}
    printed = {cell.column for cell in shown if not cell.ours}
    rows, columns = (*reference.keys, Key(every=RESULTS))[:2]
    meant_places = []
    for row in rows.ids or dict.fromkeys(cell.id for cell in shown if not cell.ours):
        of_row = [cell for cell in shown if cell.id == row and cell.column in printed]
        if columns.every == TASKS:
            of_row = [cell for cell in of_row if cell.task is not None]
        elif columns.every == RESULTS:
            sizes = ("parameters", "setting")
            of_row = [c for c in of_row if c.value is None or c.value.measurement not in sizes]
        meant = columns.ids or [cell.column for cell in of_row]
        meant_places += [(row, column) for column in meant if rows.ids or (row, column) in there]
    return meant_places


def check_cells(reference: Reference, cells: Sequence[Cell]) -> None:
    """Refuse the first row or column that a table does not have."""
    table = reference.table
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

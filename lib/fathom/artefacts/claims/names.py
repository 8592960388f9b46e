"""Names in claims: tables, rows and columns, figures and their labels must exist."""

from collections.abc import Iterable, Iterator, Mapping

from fathom.artefacts.claims import shapes
from fathom.artefacts.claims.expressions import (
    RESULTS,
    TASKS,
    Key,
    Reference,
    placed,
    references,
)
from fathom.config.claims import ClaimPart
from fathom.config.figures import Figure
from fathom.config.project import Project
from fathom.config.tables import Cell
from fathom.io.errors import FathomError, nearest


def findings(
    part: ClaimPart,
    cells: Mapping[str, tuple[Cell, ...]],
    figures: Mapping[str, Figure],
    project: Project,
) -> Iterator[FathomError]:
    """Yield names in a claim that do not exist, or else what does not fit together.

    Args:
        part: a part of a claim.
        cells: the cells of each of its paper's tables.
        figures: the paper's figures.
        project: its runs, whose tasks label pictures.
    """
    try:
        expressions = [*placed(part)]
    except FathomError as error:
        yield error
        return
    wrong = [
        finding
        for expression, where in expressions
        for shown in references(expression)
        for finding in _findings(shown, where, cells, figures)
    ]
    yield from wrong or shapes.findings(part, cells, figures, project)


def _findings(
    shown: Reference,
    where: str,
    cells: Mapping[str, tuple[Cell, ...]],
    figures: Mapping[str, Figure],
) -> Iterator[FathomError]:
    """Yield a table or figure that does not exist, or rows and columns that a table lacks."""
    if shown.artefact in cells:
        yield from _table_findings(shown, cells[shown.artefact], where)
    elif shown.artefact not in figures:
        yield _unknown_artefact(shown.artefact, where, (*cells, *figures))


def _unknown_artefact(name: str, where: str, valid: tuple[str, ...]) -> FathomError:
    return FathomError(f"no table or figure '{name}'", where, nearest(name, valid))


def _table_findings(shown: Reference, cells: Iterable[Cell], where: str) -> Iterator[FathomError]:
    """Yield rows and columns that a table does not have."""
    table = shown.artefact
    by_row: dict[str, dict[str, Cell]] = {}
    for cell in cells:
        by_row.setdefault(cell.id, {})[cell.column] = cell
    if len(shown.keys) > 2:
        yield FathomError(f"{table} has rows and columns only", where, "give one or two keys")
        return
    rows, columns = (*shown.keys, Key(every=RESULTS))[:2]
    if rows.every in (TASKS, RESULTS):
        yield FathomError(f"`{rows.every}` is no row of {table}", where, "write `:` for all rows")
    for row in rows.ids:
        if row in by_row:
            yield from _row_findings(f"{table}, row '{row}'", by_row[row], columns, where)
        else:
            yield FathomError(f"{table} has no row '{row}'", where, nearest(row, by_row))
    names = {column: None for line in by_row.values() for column in line}
    for column in columns.ids if rows.every else ():
        if column not in names:
            yield FathomError(f"{table} has no column '{column}'", where, nearest(column, names))


def _row_findings(
    row: str, cells: Mapping[str, Cell], columns: Key, where: str
) -> Iterator[FathomError]:
    """Yield the columns that a row does not have."""
    for column in columns.ids:
        if column not in cells:
            yield FathomError(f"{row}, has no column '{column}'", where, nearest(column, cells))
        elif cells[column].kind == "empty":
            what = f"{row}, is empty in column '{column}'"
            yield FathomError(what, where, "name another cell")
    if columns.every == TASKS and not any(cell.task for cell in cells.values()):
        yield FathomError(f"{row}, has no tasks", where, "write `:` for all columns")

"""Names in claims: tables, rows and columns, figures and their labels must exist."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fathom.claims.claims import Claim, ClaimPart
from fathom.claims.expressions import (
    RESULTS,
    TASKS,
    Arithmetic,
    Call,
    Expression,
    Key,
    Reference,
    Word,
    parts,
)
from fathom.claims.functions import FUNCTIONS, OF_SEVERAL
from fathom.claims.references import places
from fathom.errors import Dependent, FathomError, closest, nearest
from fathom.papers.cells import Cell
from fathom.papers.figures import Figure
from fathom.papers.known import Known, full_name

# Keys of a figure whose mapping's keys, or whose items, are labels of what is drawn.
_LABELLED = ("panels", "lines", "bars", "labels", "at", "not_drawn")
# Axes along which curves and pictures are summarised, for functions such as sd(c, axis).
_AXES = ("x", "rows", "columns", "points", "line_by")


def findings(
    claims: Iterable[Claim],
    cells: Mapping[str, tuple[Cell, ...]],
    figures: Mapping[str, Figure],
    known: Known,
) -> Iterator[FathomError]:
    """Yield names in claims that do not exist.

    Args:
        claims: a paper's claims.
        cells: the cells of each of its tables.
        figures: its figures.
        known: runs and corpora, whose tasks label pictures.
    """
    labels = {name: _labels(figure, known) for name, figure in figures.items()}
    for claim in claims:
        for part in claim.parts:
            for shown in part.shown():
                if shown.artefact in cells:
                    yield from _table_findings(shown, cells[shown.artefact], part)
                elif shown.artefact in figures:
                    yield from _figure_findings(shown, labels[shown.artefact], part)
                else:
                    yield _unknown_artefact(shown.artefact, part.where, (*cells, *figures))
            for call in [inside for inside in part.everything() if isinstance(inside, Call)]:
                yield from _word_findings(call, part.where, figures, labels)
                yield from _number_findings(call, part.where, cells)


def _unknown_artefact(name: str, where: str, valid: tuple[str, ...]) -> Dependent:
    on = [("table", name), ("figure", name)]
    remedy, misspelled = nearest(name, valid), closest(name, valid) is not None
    return Dependent(f"no table or figure '{name}'", where, remedy, on, misspelled)


def _table_findings(
    shown: Reference, cells: Iterable[Cell], part: ClaimPart
) -> Iterator[FathomError]:
    """Yield rows and columns that a table does not have."""
    where, table = part.where, shown.artefact
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


def _figure_findings(
    shown: Reference, labels: Iterable[str], part: ClaimPart
) -> Iterator[FathomError]:
    for key in shown.keys:
        for label in key.ids:
            if label not in labels:
                what, on = f"{shown.artefact} has no label '{label}'", [("label", shown.artefact)]
                yield Dependent(what, part.where, nearest(label, labels), on)


def _word_findings(
    call: Call, where: str, figures: Mapping[str, Figure], labels: Mapping[str, tuple[str, ...]]
) -> Iterator[FathomError]:
    """Yield words in a function that are no label and no axis of the figure they are used with."""
    drawn = [item.artefact for item in parts(call) if isinstance(item, Reference)]
    if not drawn or drawn[0] not in figures:
        return
    values = figures[drawn[0]].entry.values
    axes = [str(values[key]) for key in _AXES if key in values]
    valid = (*axes, *labels[drawn[0]])
    for word in call.arguments:
        if isinstance(word, Word) and word.text not in valid:
            what = f"{drawn[0]} has no label and no axis '{word.text}'"
            yield Dependent(what, where, nearest(word.text, valid), [("label", drawn[0])])


def _number_findings(
    call: Call, where: str, cells: Mapping[str, Sequence[Cell]]
) -> Iterator[FathomError]:
    """Yield a function of several numbers that gets one."""
    if call.function in OF_SEVERAL and _is_one(call.arguments[0], cells):
        remedy = "name several cells, or `:` for all"
        yield FathomError(f"{call.function} needs several numbers, and gets one", where, remedy)


def _is_one(expression: Expression, cells: Mapping[str, Sequence[Cell]]) -> bool:
    """Return whether an expression is one number, whatever the scale."""
    if isinstance(expression, Arithmetic):
        return _is_one(expression.left, cells) and _is_one(expression.right, cells)
    if isinstance(expression, Reference):
        own = cells.get(expression.artefact)
        return own is not None and len(places(expression, own)) == 1
    if isinstance(expression, Call) and expression.function == "abs":
        return _is_one(expression.arguments[0], cells)
    return not (isinstance(expression, Call) and FUNCTIONS[expression.function].curve)


def _labels(figure: Figure, known: Known) -> tuple[str, ...]:
    """Return the labels of a figure: of panels, lines and bars, and the tasks of its runs."""
    labels: dict[str, None] = {}

    def collect(value: Any, labelled: bool) -> None:
        if isinstance(value, dict):
            for key, inside in value.items():
                if labelled:
                    labels[str(key)] = None
                collect(inside, key in _LABELLED)
        elif isinstance(value, list):
            labels.update(dict.fromkeys(map(str, value)) if labelled else {})
        elif isinstance(value, str):
            run = known.runs.get(full_name(figure.paper, value))
            labels.update(dict.fromkeys(run.tasks if run else ()))

    collect(figure.entry.values, False)
    return tuple(labels)

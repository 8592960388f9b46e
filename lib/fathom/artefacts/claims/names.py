"""What claims name: cells of tables by row and column, curves and pictures of figures by labels."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fathom.artefacts.claims.language import RESULTS, TASKS, Key, Reference
from fathom.artefacts.claims.numbers import VALUE, Curve, Slice, Sum, Term, Unfit
from fathom.artefacts.table.sources import NOT_RUN, lost_words
from fathom.config.figures import Figure
from fathom.config.project import Project
from fathom.config.schema.figures import Drawn
from fathom.config.spec import full_name
from fathom.config.tables import Cell
from fathom.io.errors import nearest

if TYPE_CHECKING:
    from pandas import DataFrame

NO_CELL = "not in this scale's table"
NOT_HERE = "not in this scale's figure"
_AWAITED = (NOT_RUN, "not recorded")
_SMOOTHED = "smoothed"  # as it is drawn
# The columns of a figure's csv that have its axes, by how many these are.
_COLUMNS = {1: ("x",), 2: ("row", "column")}
Place = tuple[str, str]  # the row and the column of a cell


# Cells


def places(reference: Reference, cells: Iterable[Cell]) -> list[Place]:
    """Return the row and column of each cell that a claim shows, row by row.

    `:` are all that the paper prints; a row alone is its results, which are not parameters.
    """
    shown = [cell for cell in cells if cell.kind != "empty"]
    there = {(cell.id, cell.column) for cell in shown}
    printed = {cell.column for cell in shown if not cell.ours}
    rows, columns = (*reference.keys, Key(every=RESULTS))[:2]
    found = []
    for row in rows.ids or dict.fromkeys(cell.id for cell in shown if not cell.ours):
        of_row = [cell for cell in shown if cell.id == row and cell.column in printed]
        meant = columns.ids or [cell.column for cell in of_row if _is_meant(columns, cell)]
        found += [(row, column) for column in meant if rows.ids or (row, column) in there]
    return found


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
        Unfit: If there are any, the first of them.
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


# Curves and pictures


@dataclass(frozen=True)
class Labelled:
    """What labels of a figure name: a curve, a picture, or a field of one."""

    name: str  # what the output calls it: `figure3 “Valid” “wide”`
    drawn: Drawn
    chosen: Mapping[str, str]  # the label in each column of the figure's csv
    axes: tuple[str, ...]  # that are left
    rows: tuple[str, ...]  # the labels of a picture's rows, where they are known

    def made(self, **parts: Any) -> Curve:
        """Return it with its points."""
        return Curve(self.name, self.axes, rows=self.rows, **parts)


def labelled(reference: Reference, figure: Figure, project: Project) -> Labelled:
    """Return what labels of a figure name: panel, then line; or panel, row and column.

    Raises:
        Unfit: If the labels name nothing, or several curves.
    """
    artefact, left = reference.artefact, figure.settings.drawn()
    if not left:
        tables = " or ".join(figure.settings.tables)
        remedy = f"name cells of {tables}" if tables else "name another table or figure"
        raise Unfit(f"{artefact} draws no curve and no picture that has labels", remedy)
    if any(key.every for key in reference.keys):
        raise Unfit(f"{artefact} has labels only", "name a panel and its line")
    labels = [label for key in reference.keys for label in key.ids]
    rest, chosen = [*labels], {}
    for part in ("panel", "label"):
        fitting = [drawn for drawn in left if rest and getattr(drawn, part) == rest[0]]
        if fitting:
            left, chosen[part] = fitting, rest.pop(0)
    if len(left) > 1:
        panels = [*dict.fromkeys(drawn.panel for drawn in left)]
        lines = [*dict.fromkeys(drawn.label for drawn in left)]
        if rest:
            raise _no_label(artefact, rest[0], [*filter(None, (*panels, *lines))])
        choices = " or ".join(panels if len(panels) > 1 else lines)
        raise Unfit(f"{artefact} names several curves", f"add {choices}")

    # The labels that are left name a row or a column of a picture, or both.
    drawn, axes = left[0], [*left[0].axes]
    free = _places(drawn, figure.paper, project)
    rows = free[0][2] if free else ()
    for label in rest:
        at = next((at for at, (*_, valid) in enumerate(free) if label in valid), None)
        if at is None:
            raise _no_label(artefact, label, [name for *_, valid in free for name in valid])
        column, axis, _ = free[at]
        chosen[column] = label
        axes.remove(axis)
        free = free[at + 1 :]
    name = " ".join([artefact, *(f"“{label}”" for label in labels)])
    return Labelled(name, drawn, chosen, tuple(axes), rows if len(axes) == 2 else ())


def _places(drawn: Drawn, paper: str, project: Project) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the columns of a picture with their axes and labels; nothing for a curve."""
    if len(drawn.axes) == 1:
        return []
    run = full_name(paper, drawn.run)
    tasks = project.spec(run).data.tasks if project.has_run(run) else ()
    rows, columns = (tasks if axis.startswith("task") else () for axis in drawn.axes)
    return [("row", drawn.axes[0], drawn.rows or rows), ("column", drawn.axes[1], columns)]


def _no_label(figure: str, label: str, valid: list[str]) -> Unfit:
    remedy = nearest(label, valid) if valid else "leave it out"
    remedy = "write the panel first, then the line" if label in valid else remedy
    return Unfit(f"{figure} has no label '{label}'", remedy)


def curve(
    what: Labelled, frames: "Mapping[int, DataFrame]", worst: float = math.nan
) -> Curve | Sum:
    """Return what labels name, of the seeds that have a result.

    Args:
        what: the curve, picture or field.
        frames: the points of its figure by seed, as the csv has them.
        worst: what takes the place of values where a run has no result; nan without a bad end.
    """
    by_seed, words, source = {}, [], ""
    for seed, frame in frames.items():
        points = _chosen(frame, what.chosen)
        reason = _words(points) if len(points) else NOT_HERE if len(frame) else NOT_RUN
        source = str(points["run"].iloc[0]) if len(points) else source
        if reason:
            words.append(reason)
        else:
            by_seed[seed] = _points(points, what.drawn.axes)
    outcomes = [reason for reason in words if reason not in (*_AWAITED, NOT_HERE)]
    missing = [reason for reason in words if reason in _AWAITED]
    lost = lost_words(outcomes, len(by_seed) + len(outcomes) + len(missing))
    if not by_seed and outcomes and not missing:
        return what.made(source=source, words=lost or outcomes[0], worst=worst)
    made = what.made(
        source=source,
        by_seed=by_seed,
        words="" if by_seed else next(iter([*missing, *words]), NOT_RUN),
        missing=not by_seed,
        worst=worst,
        lost=lost,
        awaited=len(missing),
    )
    is_field = by_seed and not what.axes
    return made.number("", lambda points: points.iloc[0]) if is_field else made


def _chosen(frame: "DataFrame", chosen: Mapping[str, str]) -> "DataFrame":
    """Return the points with some labels; those of a run without points have no place."""
    for column, label in chosen.items():
        # Lines that are close share a label: `0%, 20%`.
        shared = [str(text).split(", ") if column == "label" else () for text in frame[column]]
        names = zip(map(str, frame[column]), shared, strict=True)
        fits = [label == text or label in parts for text, parts in names]
        if any(fits) or not _words(frame):
            frame = frame.loc[fits]
    return frame


def _words(points: "DataFrame") -> str:
    """Return why there are no points; nothing where there are some."""
    words = [*points["words"].fillna("")]
    return str(words[0]) if words and all(words) else ""


def _points(points: "DataFrame", axes: tuple[str, ...]) -> "DataFrame":
    """Return the places of points by the names of their axes, and the values that are drawn."""
    from pandas import DataFrame

    named = {axis: points[column] for axis, column in zip(axes, _COLUMNS[len(axes)], strict=True)}
    value = points[_SMOOTHED if _SMOOTHED in points else VALUE].astype(float)
    return DataFrame({**named, VALUE: value})

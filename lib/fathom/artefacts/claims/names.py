"""What claims name: cells of tables by row and column, curves and pictures of figures by labels."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fathom.artefacts.claims.language import RESULTS, TASKS, Key, Reference
from fathom.artefacts.claims.numbers import Curve, Sum, Term, Unfit
from fathom.artefacts.figures.inputs import VALUE
from fathom.artefacts.table.sources import NOT_RUN, SERIES_LOST, lost_words
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
_AWAITED = (NOT_RUN, "not recorded", SERIES_LOST)
_SMOOTHED = "smoothed"  # as it is drawn
_PLACES = ("row", "column")  # of a picture, in a figure's csv
Place = tuple[str, str]  # the row and the column of a cell


# Cells


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
    rows: tuple[str, ...] = ()  # the labels of a picture's rows, where they are known

    def with_points(self, term: Term, frames: "Mapping[int, DataFrame]") -> Curve | Sum:
        """Return its points by seed, with what a term says of them; of a field the number."""
        places = zip(_PLACES[-len(self.drawn.axes) :], self.drawn.axes, strict=True)
        axes = tuple(axis for place, axis in places if place not in self.chosen)
        made = Curve(term, axes, frames, self.rows if len(axes) == 2 else ())
        return made if axes or not frames else made.number("", lambda points: points.iloc[0])


def labelled(reference: Reference, figure: Figure, project: Project) -> Labelled:
    """Return the one thing that labels name: panel, then line; or panel, row and column."""
    artefact, left = reference.artefact, [*figure.settings.drawn()]
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
    panels = [*dict.fromkeys(drawn.panel for drawn in left)]
    lines = [*dict.fromkeys(drawn.label for drawn in left)]
    if len(left) > 1 and not rest:
        choices = " or ".join(panels if len(panels) > 1 else lines)
        raise Unfit(f"{artefact} names several curves", f"add {choices}")

    # The labels that are left name a row or a column of a picture, or both.
    names = {} if len(left) > 1 else _places(left[0], figure.paper, project)
    rows = names.get("row", ())
    for label in rest:
        place = next((place for place, valid in names.items() if label in valid), None)
        if place is None:
            valid = [name for valid in names.values() for name in valid]
            valid = [*filter(None, (*panels, *lines))] if len(left) > 1 else valid
            remedy = nearest(label, valid) if valid else "leave it out"
            remedy = "write the panel first, then the line" if label in valid else remedy
            raise Unfit(f"{artefact} has no label '{label}'", remedy)
        chosen[place] = label
        names = {} if place == "column" else {"column": names["column"]}
    name = " ".join([artefact, *(f"“{label}”" for label in labels)])
    return Labelled(name, left[0], chosen, rows)


def _places(drawn: Drawn, paper: str, project: Project) -> dict[str, tuple[str, ...]]:
    """Return the labels of a picture's rows and columns; nothing for a curve."""
    if len(drawn.axes) == 1:
        return {}
    run = full_name(paper, drawn.run)
    tasks = project.spec(run).data.tasks if project.has_run(run) else ()
    rows, columns = (tasks if axis.startswith("task") else () for axis in drawn.axes)
    return {"row": drawn.rows or rows, "column": columns}


def curve(
    what: Labelled, frames: "Mapping[int, DataFrame]", worst: float = math.nan
) -> Curve | Sum:
    """Return the curve, picture or field that labels name, of the seeds that have a result.

    `frames` are the points of its figure by seed, as the csv has them; `worst` takes the place of
    values where a run has no result, and is nan without a bad end.
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
    outcomes = [reason for reason in words if not reason.startswith((*_AWAITED, NOT_HERE))]
    missing = [reason for reason in words if reason.startswith(_AWAITED)]
    lost = lost_words(outcomes, len(by_seed) + len(outcomes) + len(missing))
    term = Term(what.name, worst=worst, source=source, lost=lost, awaited=len(missing))
    if not by_seed and outcomes and not missing:
        term = replace(term, words=lost or outcomes[0], lost="")
    elif not by_seed:
        term = replace(term, words=next(iter([*missing, *words]), NOT_RUN), missing=True)
    return what.with_points(term, by_seed)


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

    columns = ("x",) if len(axes) == 1 else _PLACES
    named = {axis: points[column] for axis, column in zip(axes, columns, strict=True)}
    value = points[_SMOOTHED if _SMOOTHED in points else VALUE].astype(float)
    return DataFrame({**named, VALUE: value})

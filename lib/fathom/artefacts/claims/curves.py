"""Curves and pictures that claims show, by their labels."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fathom.artefacts.claims.language import Reference
from fathom.artefacts.claims.numbers import VALUE, Curve, Sum, Unfit
from fathom.artefacts.table.sources import NOT_RUN, lost_words
from fathom.config.figures import Figure
from fathom.config.project import Project
from fathom.config.schema.figures import Drawn
from fathom.config.spec import full_name
from fathom.io.errors import nearest

if TYPE_CHECKING:
    from pandas import DataFrame

NOT_RECORDED = "not recorded"
NOT_HERE = "not in this scale's figure"
_SMOOTHED = "smoothed"  # as it is drawn
_AWAITED = (NOT_RUN, NOT_RECORDED)
# The columns of a figure's csv that have its axes, by how many these are.
_COLUMNS = {1: ("x",), 2: ("row", "column")}


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

    Args:
        reference: the figure with its labels.
        figure: the figure.
        project: its runs, whose tasks label pictures.

    Raises:
        Unfit: the labels name nothing, or several curves.
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
        panels, lines = (
            [*dict.fromkeys(getattr(drawn, part) for drawn in left)] for part in ("panel", "label")
        )
        if rest:
            raise _no_label(artefact, rest[0], [*filter(None, (*panels, *lines))])
        choices = " or ".join(panels if len(panels) > 1 else lines)
        raise Unfit(f"{artefact} names several curves", f"add {choices}")
    drawn = left[0]
    axes, free = [*drawn.axes], _places(drawn, figure.paper, project)
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
    labels = {"task": project.spec(run).data.tasks if project.has_run(run) else ()}
    rows, columns = (labels.get(axis.removesuffix("_2"), ()) for axis in drawn.axes)
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
        if points.empty:
            words.append(NOT_HERE if len(frame) else NOT_RUN)
            continue
        source = str(points["run"].iloc[0])
        if reason := _words(points):
            words.append(reason)
            continue
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
        fits = [label in _names(column, text) for text in frame[column]]
        if any(fits) or not _words(frame):
            frame = frame.loc[fits]
    return frame


def _names(column: str, text: object) -> list[str]:
    """Return what a column calls a point; lines that are close share a label: `0%, 20%`."""
    return [str(text), *(str(text).split(", ") if column == "label" else ())]


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

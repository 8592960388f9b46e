"""A curve or a picture of a figure, chosen by its labels."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from fathom.artefacts.claims.expressions import Reference
from fathom.artefacts.claims.quantities import VALUE, Curve, Quantity
from fathom.artefacts.table.sources import NOT_RUN, lost_words

if TYPE_CHECKING:
    from pandas import DataFrame

# The columns of a figure's csv that have labels, in the order in which claims name them.
_LABELLED = ("panel", "label", "row", "column")
_SMOOTHED = "smoothed"  # as it is drawn
NOT_RECORDED = "not recorded"
NOT_HERE = "not in this scale's figure"
_AWAITED = (NOT_RUN, NOT_RECORDED)


def curve(
    reference: Reference,
    frames: "Mapping[int, DataFrame]",
    axes: Mapping[str, str],
    worst: float = math.nan,
) -> Quantity:
    """Return the curve or picture that labels name; one field of a picture is a number.

    The numbers are those of the seeds that have a result.

    Args:
        reference: a figure with its labels.
        frames: the points of the figure by seed, as its csv has them.
        axes: the axis that is drawn as `x`, or those drawn as `row` and `column`.
        worst: what takes the place of values where a run has no result; nan without a bad end.
    """
    labels = [label for key in reference.keys for label in key.ids]
    name = " ".join([reference.artefact, *(f"“{label}”" for label in labels)])
    by_seed, words, source = {}, [], ""
    one_field = False
    for seed, frame in frames.items():
        points, used = _chosen(frame, labels)
        if points.empty:
            words.append(NOT_HERE if len(frame) else NOT_RUN)
            continue
        source = str(points["run"].iloc[0])
        if reason := _words(points):
            words.append(reason)
            continue
        by_seed[seed] = _points(points, axes)
        one_field = {"row", "column"} <= {*used}
    outcomes = [reason for reason in words if reason not in (*_AWAITED, NOT_HERE)]
    missing = [reason for reason in words if reason in _AWAITED]
    lost = lost_words(outcomes, len(by_seed) + len(outcomes) + len(missing))
    if not by_seed and outcomes and not missing:
        return Curve(name, source, {}, lost or outcomes[0], worst=worst)
    reason = "" if by_seed else next(iter([*missing, *words]), NOT_RUN)
    made = Curve(name, source, by_seed, reason, not by_seed, worst, lost, len(missing))
    return made.number("", lambda points: points[VALUE].iloc[0]) if one_field and by_seed else made


def _chosen(frame: "DataFrame", labels: list[str]) -> "tuple[DataFrame, list[str]]":
    """Return the points that have some labels, and which columns the labels are in."""
    columns = [column for column in _LABELLED if column in frame]
    used: list[str] = []
    for label in labels:
        at = next((column for column in columns if _has(frame, column, label)), None)
        if at is None:
            # Without points there are no rows and columns to choose.
            return (frame if _words(frame) else frame.head(0)), used
        rows = [label in _names(column=at, text=text) for text in frame[at]]
        frame = frame.loc[rows]
        columns = columns[columns.index(at) + 1 :]
        used.append(at)
    return frame, used


def _has(frame: "DataFrame", column: str, label: str) -> bool:
    return any(label in _names(column, text) for text in frame[column].unique())


def _names(column: str, text: object) -> list[str]:
    """Return what a column calls a point; lines that are close share a label: `0%, 20%`."""
    return [str(text), *(str(text).split(", ") if column == "label" else ())]


def _words(points: "DataFrame") -> str:
    """Return why there are no points; nothing where there are some."""
    words = [*points["words"].fillna("")]
    return str(words[0]) if words and all(words) else ""


def _points(points: "DataFrame", axes: Mapping[str, str]) -> "DataFrame":
    """Return the places of points by the names of their axes, and the values that are drawn."""
    from pandas import DataFrame

    named = {}
    for place in ("x", "row", "column"):
        if place in points:
            named[axes[place]] = points[place]
    value = points[_SMOOTHED if _SMOOTHED in points else VALUE].astype(float)
    return DataFrame({**named, VALUE: value})

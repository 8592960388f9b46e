"""A curve or a picture of a figure, chosen by its labels."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fathom.claims.expressions import Reference
from fathom.claims.quantities import VALUE, Curve, Quantity
from fathom.tables.sources import NOT_RUN

if TYPE_CHECKING:
    from pandas import DataFrame

# Where a figure's points have labels: the first key that names none of a panel's names a line.
_LABELLED = ("panel", "label", "row", "column")
_SMOOTHED = "smoothed"  # as it is drawn
NOT_HERE = "not in this scale's figure"


def curve(
    reference: Reference, frames: "Mapping[int, DataFrame]", axes: Mapping[str, str]
) -> Quantity:
    """Return the curve or picture that labels name; one field of a picture is a number.

    Args:
        reference: a figure with its labels.
        frames: the points of the figure by seed, as its csv has them.
        axes: the axis that is drawn as `x`, `row` and `column`.
    """
    labels = [label for key in reference.keys for label in key.ids]
    name = " ".join([reference.artefact, *(f"“{label}”" for label in labels)])
    chosen, words, source = {}, {}, ""
    fields: tuple[str, ...] = ()
    for seed, frame in frames.items():
        points, fields = _chosen(frame, labels)
        sources = points["run"].dropna().unique()
        if not len(points) and len(frame):
            words.setdefault(NOT_HERE)
        elif len(points):
            source = str(sources[0])
            reason = "".join(points["words"].fillna("").unique())
            words |= {reason: None} if reason else {}
            chosen |= {} if reason else {seed: _points(points, axes)}
    if not chosen:
        reason = next(iter(words), NOT_RUN)
        missing = reason in (NOT_RUN, NOT_HERE, "not recorded")
        return Curve(name, source, {}, reason, missing)
    made = Curve(name, source, chosen)
    one_field = {"row", "column"} <= {*fields}
    return made.number("", lambda points: points[VALUE].iloc[0]) if one_field else made


def _chosen(frame: "DataFrame", labels: list[str]) -> "tuple[DataFrame, tuple[str, ...]]":
    """Return the points that have some labels, and which columns the labels are in."""
    columns = [column for column in _LABELLED if column in frame]
    used: list[str] = []
    for label in labels:
        if len(frame) and frame["words"].fillna("").astype(bool).all():
            break
        for column in columns[columns.index(used[-1]) + 1 if used else 0 :]:
            # Lines that are close share a label: `0%, 20%`.
            has = (
                frame[column].astype(str).str.split(", ").map(lambda names, one=label: one in names)
            )
            if has.any():
                frame = frame.loc[has]
                used.append(column)
                break
        else:
            return frame.iloc[:0], tuple(used)
    return frame, tuple(used)


def _points(points: "DataFrame", axes: Mapping[str, str]) -> "DataFrame":
    """Return the places of points by the names of their axes, and the values that are drawn."""
    value = points[_SMOOTHED if _SMOOTHED in points else VALUE].astype(float)
    places, named = [place for place in ("x", "row", "column") if place in points], {}
    for place in places:
        name = axes.get(place, place)
        named[f"{name}_2" if name in named else name] = points[place]
    return points.assign(**{VALUE: value})[[VALUE]].assign(**named)[[*named, VALUE]]

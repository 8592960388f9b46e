"""Places in a training, such as `50%` or `epoch 1`, and smoothed curves."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from fathom.artefacts.figures.inputs import RunFiles
from fathom.config.schema.figures import UPDATE
from fathom.io.errors import FathomError, nearest

if TYPE_CHECKING:
    from pandas import DataFrame, Series


def at_place(frame: "DataFrame", place: int | str, run: RunFiles) -> "DataFrame":
    """Return the rows of the recorded update that is nearest to a place in the training.

    A training that ended early has its last recorded update instead of later ones.

    Args:
        frame: a series in long form, with the column `update`.
        place: an update, a share of the planned updates (`50%`), or `epoch 1`, its end.
        run: the training.
    """
    recorded = frame[UPDATE].unique()
    update = min(_update(place, run), max(recorded))
    nearest = min(recorded, key=lambda item: (abs(item - update), item))
    return frame.loc[frame[UPDATE] == nearest]


def place_notes(frame: "DataFrame", places: Iterable[int | str], run: RunFiles) -> list[str]:
    """Return a note for each epoch whose end the training has not reached."""
    epochs = [place for place in places if str(place).startswith("epoch")]
    far = [epoch for epoch in epochs if math.isinf(_update(epoch, run))]
    return [f"{epoch} did not end, update {frame[UPDATE].max()} is drawn" for epoch in far]


def smoothed(values: "Series", points: int | None) -> "Series":
    """Return the centred moving median over a number of points; None leaves the values.

    So do fewer values than points: their median would be close to a constant.
    """
    if points is None or len(values) < points:
        return values
    return cast("Series", values.rolling(points, center=True, min_periods=1).median())


def smoothing_notes(recorded: int, points: int | None) -> list[str]:
    """Return a note where values are too few for a moving median."""
    if points is None or recorded >= points:
        return []
    return [f"{recorded} points, too few for the moving median over {points}"]


def in_order(labels: Iterable[object]) -> list[str]:
    """Return the labels of an axis in order: numbers by size, names as they come."""
    unique = [str(label) for label in dict.fromkeys(labels)]
    return sorted(unique, key=int) if all(label.isdigit() for label in unique) else unique


def selected(frame: "DataFrame", select: dict[str, str], run: RunFiles) -> "DataFrame":
    """Return the rows at a place on each axis: its first label, its last, or one by name.

    Args:
        frame: a series in long form, with a column for each axis.
        select: the place on each axis.
        run: the training.

    Raises:
        FathomError: the training has no such place; one at another scale may have it.
    """
    for axis, word in select.items():
        labels = in_order(frame[axis])
        label = {"first": labels[0], "last": labels[-1]}.get(word, word)
        if label not in labels:
            where = f"{run.name} seed {run.seed}"
            raise FathomError(f"no {axis} '{label}'", where, nearest(label, ("last", *labels)))
        frame = frame.loc[frame[axis].astype(str) == label]
    return frame


def _update(place: int | str, run: RunFiles) -> float:
    """Return the update of a place; infinity where the training has not come so far."""
    if isinstance(place, int):
        return place
    if place.endswith("%"):
        share = int(place[:-1]) / 100
        if isinstance(run.updates, int):
            return run.updates * share
        return run.epoch_ends(int(run.updates.split()[0]) * share)
    return run.epoch_ends(int(place.split()[1]))

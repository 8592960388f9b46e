"""Labelled points: the places of one axis, the others projected to a plane."""

from typing import TYPE_CHECKING, cast

from fathom.artefacts.figures.inputs import NOTE, VALUE, Inputs, named
from fathom.config.schema.figures import UPDATE, LabelledPoints, series_named

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing
    from numpy import ndarray
    from pandas import DataFrame


def rows(settings: LabelledPoints, inputs: Inputs) -> "DataFrame":
    """Return a line for each point: panel, run, label, x, y, and the variance that both explain.

    A series of a training is taken at its last recorded update.
    """
    from pandas import DataFrame, concat

    frames = []
    for title, name in settings.panels.items():
        run = inputs.runs[name]
        series = series_named(settings.series)
        frame = run.read(series)
        about = {"panel": title, "run": run.name, "seed": run.seed}
        if frame is None:
            frames.append(DataFrame([about | {"words": run.words}]))
            continue
        if UPDATE in frame:
            frame = frame[frame[UPDATE] == frame[UPDATE].max()].drop(columns=UPDATE)
        others = [axis for axis in frame.columns if axis not in (VALUE, settings.points)]
        grid = frame.pivot_table(
            index=settings.points, columns=others, values=VALUE, sort=False, dropna=False
        )
        points, explained = principal(grid.fillna(0.0).to_numpy())
        made = DataFrame(
            {"label": grid.index, "x": points[:, 0], "y": points[:, 1]}
            | {"explained_x": explained[0], "explained_y": explained[1]}
        )
        about[NOTE] = named(title, run.notes(series))
        shown = run.called(settings.points, grid.index)
        frames.append(made.assign(**about, words="", shown=shown))
    columns = ["panel", "run", "seed", "label", "x", "y", "explained_x", "explained_y", "words"]
    columns += [NOTE, "shown"]
    return concat(frames, ignore_index=True).reindex(columns=columns)


def principal(vectors: "ndarray") -> "tuple[ndarray, ndarray]":
    """Return the first two principal components of some vectors.

    The sign of a component is not determined; its largest weight, the last of equal ones, is made
    positive.

    Args:
        vectors: (N, D), one for each point; N and D are 2 or more.

    Returns:
        Coordinates (N, 2), and the share of the variance that each of both explains (2,); equal
        vectors explain nothing.
    """
    import numpy as np

    centred = vectors - vectors.mean(axis=0)
    left, sizes, right = np.linalg.svd(centred, full_matrices=False)
    # Masks are 0 or 1, so weights may be equal but for rounding, which differs between machines.
    largest = right.shape[1] - 1 - np.abs(right).round(9)[:, ::-1].argmax(axis=1)
    signs = np.where(right[np.arange(len(right)), largest] < 0, -1.0, 1.0)
    total = (sizes**2).sum()
    explained = sizes[:2] ** 2 / total if total > 0 else np.zeros(2)
    return (left * sizes * signs)[:, :2], explained


def draw(settings: LabelledPoints, frame: "DataFrame") -> "Drawing":
    """Return the figure: panels next to each other, each point with its name."""
    from fathom.artefacts.figures import drawing

    figure, axes = drawing.panels(len(settings.panels), height=3.0)
    for panel, _, points in drawing.titled(axes, settings.panels, frame):
        panel.plot(points["x"], points["y"], "o", color=drawing.look(0).color, markersize=3)
        # Equal points share one place, and their names one text. From left to right names are above
        # and below their points, and those of the right half to the left of theirs.
        middle = (points["x"].min() + points["x"].max()) / 2
        places = points.groupby([points["x"].round(9), points["y"].round(9)])
        for at, (place, group) in enumerate(places):
            x, y = cast("tuple[float, float]", place)
            right, below = bool(x > middle), at % 2
            panel.annotate(
                ", ".join(group["shown"]),
                (x, y),
                (-3 if right else 3, -3 if below else 3),
                textcoords="offset points",
                ha="right" if right else "left",
                va="top" if below else "bottom",
                fontsize=7,
            )
        panel.set_xlabel(f"component 1 ({points['explained_x'].iloc[0]:.0%} of the variance)")
        panel.set_ylabel(f"component 2 ({points['explained_y'].iloc[0]:.0%})")
        panel.margins(0.15)
    return figure

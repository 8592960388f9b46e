"""Labelled points: the places of one axis, the others projected to a plane."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from fathom.artefacts.figures.inputs import NOTE, VALUE, Inputs, Parts, RunFiles
from fathom.config.schema.figures import MASKS, UPDATE, LabelledPoints

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing
    from numpy import ndarray
    from pandas import DataFrame

SEEDS = "names at the first, lines to small marks for the others, turned to be near"
# Where a name may stand beside its point: to the right and above, or else. Below comes before left:
# there the name of the lower of two points would be beside the upper.
SIDES = ((1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1))
DIGITS = 9  # of a weight that are beyond the rounding of a decomposition


def rows(settings: LabelledPoints, inputs: Inputs) -> "DataFrame":
    """Return a line for each point: panel, run, label, x, y, and the variance that both explain.

    A series of a training is taken at its last recorded update.
    """
    from pandas import concat

    frames = []
    for title, name in settings.panels.items():
        points = partial(_points, settings)
        frames += inputs.runs[name].csv_lines(settings.series, title, {"panel": title}, points)
    columns = ["panel", "run", "seed", "label", "x", "y", "explained_x", "explained_y", "words"]
    columns += [NOTE, "shown", "updated"]
    return concat(frames, ignore_index=True).reindex(columns=columns)


def _points(settings: LabelledPoints, run: RunFiles, frame: "DataFrame") -> Parts:
    """Yield the points of one panel and seed."""
    from pandas import DataFrame

    if UPDATE in frame:
        frame = frame.loc[frame[UPDATE] == frame[UPDATE].max()].drop(columns=UPDATE)
    dimensions = [axis for axis in frame.columns if axis not in (VALUE, settings.points)]
    grid = frame.pivot_table(
        index=settings.points, columns=dimensions, values=VALUE, sort=False, dropna=False
    )
    points, explained = principal(grid.fillna(0.0).to_numpy())
    about = {"explained_x": explained[0], "explained_y": explained[1]}
    about["shown"] = run.called(settings.points, grid.index)
    untrained = run.untrained_tasks() if settings.series == MASKS else []
    names = ", ".join(run.called("task", untrained))
    notes = [f"no update of {names} (hollow)"] if untrained else []
    about["updated"] = ~grid.index.isin(untrained)
    yield about, notes, DataFrame({"label": grid.index, "x": points[:, 0], "y": points[:, 1]})


def principal(vectors: "ndarray") -> "tuple[ndarray, ndarray]":
    """Return the first two principal components of N vectors, (N, D), N and D 2 or more.

    They are coordinates (N, 2), and the share of the variance that each explains (2,); equal
    vectors explain nothing. The sign of a component is not determined; its largest weight is made
    positive, of equally large ones the last. Columns of masks are often opposites, and their
    weights equal but for the sign and for rounding, which differs between CPUs.
    """
    import numpy as np

    centred = vectors - vectors.mean(axis=0)
    left, sizes, right = np.linalg.svd(centred, full_matrices=False)
    from_last = right[:, ::-1]
    largest = np.abs(from_last).round(DIGITS).argmax(axis=1)
    signs = np.where(from_last[np.arange(len(right)), largest] < 0, -1.0, 1.0)
    total = (sizes**2).sum()
    explained = sizes[:2] ** 2 / total if total > 0 else np.zeros(2)
    return (left * sizes * signs)[:, :2], explained


def draw(settings: LabelledPoints, frame: "DataFrame") -> "Drawing":
    """Return the figure: panels next to each other, each point of the first seed with its name.

    Those of other seeds are small marks, turned so that they are nearest to the first seed's. The
    points of tasks that no update has moved are hollow.
    """
    import numpy as np
    from matplotlib import rcParams

    from fathom.artefacts.figures import drawing

    figure, axes = drawing.panels(len(settings.panels), height=3.0)
    for panel, _, points in drawing.titled(axes, settings.panels, frame):
        first, *others = (of_seed for _, of_seed in points.groupby("seed", sort=False))
        named = first.set_index("label")[["x", "y"]]
        for position, seed in enumerate([first, *others]):
            size, look = (1.5 if position else 3), drawing.look(position)
            turned = _turned(seed, first)
            ends = np.stack([named.loc[seed["label"]].to_numpy(), turned])
            panel.plot(*ends.transpose(2, 0, 1), color="#BBBBBB", linewidth=0.4, zorder=1)
            for updated, colour in ((True, look.color), (False, rcParams["axes.facecolor"])):
                marks = turned[(seed["updated"] == updated).to_numpy()]
                panel.plot(*marks.T, "o", color=look.color, markerfacecolor=colour, markersize=size)
        panel.margins(0.15)
        # Equal points share one place, and their names one text.
        places = first.groupby([first["x"].round(9), first["y"].round(9)])["shown"]
        _write_names(panel, {place: ", ".join(names) for place, names in places})
        panel.set_xlabel(f"component 1 ({first['explained_x'].iloc[0]:.0%} of the variance)")
        panel.set_ylabel(f"component 2 ({first['explained_y'].iloc[0]:.0%})")
    return figure


def _write_names(panel: "Axes", names: "Mapping[Any, str]") -> None:
    """Write each name beside its place, where it covers the fewest marks and other names."""
    import numpy as np

    def at(places: Any) -> "ndarray":  # in points of print
        return panel.transData.transform(places) * 72 / panel.figure.dpi

    panel.autoscale_view()
    taken = at(np.concatenate([line.get_xydata() for line in panel.lines]))
    for place, name in names.items():
        half = 1.7 * len(name)  # of the name's width
        centres = at(place) + np.multiply(SIDES, (half + 4, 6))
        covered = (abs(taken - centres[:, None]) < (half + 2, 5)).all(axis=2).sum(axis=1)
        centre = centres[covered.argmin()]
        edges = (centre + np.linspace((-half, y), (half, y), 9) for y in (-4, 4))
        taken = np.concatenate([taken, *edges])
        style = {"textcoords": "offset points", "ha": "center", "va": "center", "fontsize": 7}
        panel.annotate(name, place, tuple(centre - at(place)), **style)


def _turned(points: "DataFrame", onto: "DataFrame") -> "ndarray":
    """Return points (N, 2), turned or mirrored to be nearest to those of the same labels."""
    import numpy as np

    ours, theirs = (frame.set_index("label")[["x", "y"]] for frame in (points, onto))
    left, _, right = np.linalg.svd(ours.T.to_numpy() @ theirs.reindex(ours.index).to_numpy())
    return ours.to_numpy() @ left @ right

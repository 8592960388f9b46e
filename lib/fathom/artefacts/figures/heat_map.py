"""Heat maps: a series over two axes, one panel for each run."""

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from fathom.artefacts.figures.inputs import (
    NOTE,
    VALUE,
    Inputs,
    Parts,
    RunFiles,
    at_places,
    in_order,
    shared_title,
    smoothed,
    smoothing_notes,
)
from fathom.config.schema.figures import LOWEST, MASKS, NONE, UPDATE, HeatMap, Map, series_named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Drawing
    from matplotlib.image import AxesImage
    from pandas import DataFrame

TICKS = 6
LONG = 5  # letters of a name; longer ones are turned below the axis


def rows(settings: HeatMap, inputs: Inputs) -> "DataFrame":
    """Return a line for each field: panel, run, row, column, the value and its moving median."""
    from pandas import concat

    frames = []
    for title, part in settings.parts().items():
        run = inputs.runs[part.run or ""]
        fields = partial(_fields, settings, part, run)
        frames += run.csv_lines(part.series or "", title or run.name, {"panel": title}, fields)
    columns = [
        "panel", "run", "seed", UPDATE, "row", "column", VALUE, "lowest", "words", NOTE,
        "row_shown", "column_shown",
    ]  # fmt: skip
    return concat(frames, ignore_index=True).reindex(columns=columns)


def _fields(settings: HeatMap, part: Map, run: RunFiles, frame: "DataFrame") -> Parts:
    """Yield the fields of one panel; what is neither row nor column is averaged."""
    frame, notes = at_places(frame, part.places, run)
    row, column = part.axes
    row = "place" if part.rows == NONE else row
    named = frame.assign(row=frame[row].astype(str), column=frame[column].astype(str))
    updates = {UPDATE: "last"} if UPDATE in named and UPDATE not in (row, column) else {}
    fields = named.groupby(["row", "column"], sort=False, as_index=False).agg(
        {VALUE: "mean", **updates}
    )
    if part.smooth:
        fields[VALUE] = fields.groupby("row", sort=False)[VALUE].transform(smoothed, part.smooth)
    notes += smoothing_notes(max(fields["row"].value_counts()), part.smooth)
    about: dict[str, Any] = {
        f"{axis}_shown": run.called(str(places), fields[axis])
        for axis, places in (("row", part.rows), ("column", part.columns))
    }
    about["lowest"] = _lowest(run) if settings.range and settings.range[0] == LOWEST else None
    yield about, notes, fields


def draw(settings: HeatMap, frame: "DataFrame") -> "Drawing":
    """Return the figure: panels next to each other with one range of colours."""
    from fathom.artefacts.figures import drawing

    parts = settings.parts()
    figure, axes = drawing.panels(len(parts))
    low, high = _range(settings, frame)
    images = []
    for panel, title, fields in drawing.titled(axes, parts, frame):
        images.append(_draw_map(panel, fields, parts[title], low, high))
    first = next(iter(parts.values()))
    axes[0].set_ylabel("" if first.rows == NONE else first.rows or "")
    if images:
        title = shared_title(part.series or "" for part in parts.values())
        figure.colorbar(images[-1], ax=axes, label=title)
    return figure


def _draw_map(axes: "Axes", fields: "DataFrame", part: Map, low: float, high: float) -> "AxesImage":
    """Draw one panel, its first row at the bottom for layers and at the top for names."""
    row_labels = [name for name in part.order] or in_order(fields["row"])
    column_labels = in_order(fields["column"])
    if part.order and part.columns == part.rows:
        column_labels = list(part.order)
    grid = fields.pivot(index="row", columns="column", values=VALUE).astype(float)
    grid = grid.reindex(index=row_labels, columns=column_labels)
    numbered = row_labels[0].isdigit()
    image = axes.imshow(
        grid, aspect="auto", vmin=low, vmax=high, origin="lower" if numbered else "upper"
    )
    _ticks(axes.xaxis, column_labels, fields["column"], fields["column_shown"])
    _ticks(axes.yaxis, row_labels, fields["row"], fields["row_shown"])
    if max(map(len, fields["column_shown"])) > LONG:
        axes.tick_params(axis="x", rotation=45)
        for words in axes.get_xticklabels():
            words.set(ha="right", rotation_mode="anchor")
    axes.set_xlabel(part.columns or "")
    if part.numbers:
        middle = (low + high) / 2
        for at_row, values in enumerate(grid.to_numpy()):
            for at_column, value in enumerate(values):
                style = {"color": "black" if value > middle else "white", "fontsize": 5}
                axes.text(at_column, at_row, f"{value:.2f}", ha="center", va="center", **style)
    return image


def _ticks(axis: "Axis", labels: list[str], named: Iterable[str], names: Iterable[str]) -> None:
    """Name a few places of a numbered axis, evenly spread, or all places of another one."""
    shown = dict(zip(named, names, strict=True))
    step = -(-len(labels) // TICKS) if labels and labels[0].isdigit() else 1
    places = range(0, len(labels), step)
    axis.set_ticks(list(places), [shown.get(labels[place], labels[place]) for place in places])


def _range(settings: HeatMap, frame: "DataFrame") -> tuple[float, float]:
    """Return the values at both ends of the colours; without a range those of the data."""
    values = frame.loc[:, VALUE].astype(float)
    low, high = settings.range or (None, None)
    if low == LOWEST:
        low = frame.loc[:, "lowest"].astype(float).min()
    low = values.min() if low is None else low
    return float(low), float(values.max() if high is None else high)


def _lowest(run: RunFiles) -> float | None:
    """Return the least share of active groups that two masks can have in common, (2k - n) / k.

    k of n groups are active at each site. None where no masks were measured.
    """
    masks = run.read(series_named(MASKS))
    if masks is None:
        return None
    task, site = masks["task"].iloc[0], masks["site"].iloc[0]
    groups = masks.loc[(masks["task"] == task) & (masks["site"] == site), VALUE]
    return max(0.0, (2 * groups.sum() - len(groups)) / groups.sum())

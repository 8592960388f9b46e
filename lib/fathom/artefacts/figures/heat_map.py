"""Heat maps: a series over two axes, one panel for each run, as the mean over its seeds.

Of a table they have one panel: each run has a field with its cell of a column.

Fields that say little are hatched: of gates whose side of ½ is chance or differs between seeds, and
of tasks that no update has moved.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby, product
from typing import TYPE_CHECKING, Any

from fathom.artefacts.figures.inputs import (
    METRIC,
    NOTE,
    NOTES,
    VALUE,
    Inputs,
    Parts,
    RunFiles,
    at_places,
    in_order,
    is_number,
    named,
    shared_title,
    smoothed,
    smoothing_notes,
)
from fathom.artefacts.table.comparison import ComparedTable
from fathom.artefacts.table.notes import metrics_of
from fathom.artefacts.table.sources import NOT_RUN
from fathom.config.measurement_keys import UNDECIDED
from fathom.config.schema.figures import LOWEST, MASKS, NONE, UPDATE, HeatMap, Map, series_named
from fathom.config.spec import full_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Drawing
    from matplotlib.image import AxesImage
    from pandas import DataFrame

ALPHA, LITTLE = "alpha", "undecided"  # of a field: mean α, and the share that is undecided
HATCHED, DISAGREE = "//////", "++++++"
SEEDS = "mean"
TICKS, DIGITS = 6, 16  # at most, and the digits that they have together
LONG = 5  # letters of a name; longer ones are turned below the axis


def rows(settings: HeatMap, inputs: Inputs) -> "DataFrame":
    """Return a line for each field: panel, run, row, column, the value and its moving median."""
    from pandas import concat

    if settings.table is not None:
        return _of_table(settings, inputs.tables[settings.table])
    frames = []
    for title, part in settings.parts().items():
        run = inputs.runs[part.run or ""]
        fields = partial(_fields, settings, part)
        frames += run.csv_lines(part.series or "", title or run.name, {"panel": title}, fields)
    columns = [
        "panel", "run", "seed", UPDATE, "row", "column", VALUE, ALPHA, LITTLE, "lowest", "words",
        NOTE, "row_shown", "column_shown",
    ]  # fmt: skip
    frame = concat(frames, ignore_index=True).reindex(columns=columns)
    frame.loc[:0, NOTE] = NOTES.join([*frame.loc[:0, NOTE].dropna(), *_gate_notes(frame)])
    return frame


def _of_table(settings: HeatMap, table: ComparedTable) -> "DataFrame":
    """Return a line for each cell that is drawn: its run and place, and its number or words."""
    from pandas import DataFrame

    results = {
        item.result.cell.source: item.result
        for item in table.cells
        if item.result.cell.column == settings.value
    }
    lines: list[dict[str, Any]] = []
    for label, run in settings.cells.items():
        name, (row, column) = full_name(table.table.paper, run), label.split(", ")
        result, vocabulary = results[name], table.table.vocabulary
        shown = result.cell.value
        unit = vocabulary.measurement(shown).unit if shown else ""
        about = {"panel": "", "run": name, "row": row, "column": column, VALUE: result.value}
        words = result.words or (NOT_RUN if result.value is None else "")
        about |= {"stderr": result.stderr, "seeds": result.seeds, "unit": unit, "words": words}
        about[NOTE] = named(result.cell.row, filter(None, [result.note]))
        about[METRIC] = NOTES.join(metrics_of([result], vocabulary))
        lines.append(about | {"row_shown": row, "column_shown": column})
    return DataFrame(lines)


def _fields(settings: HeatMap, part: Map, run: RunFiles, frame: "DataFrame") -> Parts:
    """Yield the fields of one panel and seed; what is neither row nor column is averaged."""
    frame, notes = at_places(_with_gates(part.series or "", run, frame), part.places, run)
    row, column = part.axes
    row = "place" if part.rows == NONE else row
    named = frame.assign(row=frame[row].astype(str), column=frame[column].astype(str))
    updates = {UPDATE: "last"} if UPDATE in named and UPDATE not in (row, column) else {}
    fields = named.groupby(["row", "column"], sort=False, as_index=False).agg(
        {VALUE: "mean", **updates} | {name: "mean" for name in (ALPHA, LITTLE) if name in named}
    )
    untrained = run.untrained_tasks() if part.rows == part.columns else []
    if untrained:
        fields[LITTLE] = (fields["row"].isin(untrained) | fields["column"].isin(untrained)) * 1.0
        notes.append(f"no update of {', '.join(run.called('task', untrained))} (hatched)")
    if part.smooth:
        fields[VALUE] = fields.groupby("row", sort=False)[VALUE].transform(smoothed, part.smooth)
    notes += smoothing_notes(max(fields["row"].value_counts()), part.smooth)
    about: dict[str, Any] = {
        f"{axis}_shown": run.called(str(places), fields[axis])
        for axis, places in (("row", part.rows), ("column", part.columns))
    }
    about["lowest"] = _lowest(run) if settings.range and settings.range[0] == LOWEST else None
    yield about, notes, fields


def _with_gates(name: str, run: RunFiles, frame: "DataFrame") -> "DataFrame":
    """Return a series of gates with their α and the share of them that is undecided."""
    from numpy import log

    series = series_named(name)
    if not series.gates:
        return frame
    measured = UPDATE not in frame
    gates = frame if measured else run.read(series_named(f"{ALPHA}.{series.gates}"))
    if gates is None:
        return frame
    gates = gates.assign(alpha=log(gates[VALUE] / (1 - gates[VALUE])) if measured else gates[VALUE])
    gates[LITTLE] = gates[ALPHA].abs() < UNDECIDED
    axes, means = list(series.axes), {name: "mean" for name in (ALPHA, LITTLE)}
    return frame.merge(gates.groupby(axes, as_index=False).agg(means), on=axes, how="left")


def _gate_notes(frame: "DataFrame") -> "Iterator[str]":
    """Yield which gates are hatched, and their share in each panel."""
    gates = frame.loc[frame[ALPHA].notna()]
    # A panel below another one may have the same gates.
    titles = gates.drop_duplicates(["run", "seed", "row", "column", ALPHA])["panel"].unique()
    panels = {title: _over_seeds(gates.loc[gates["panel"] == title]) for title in titles}
    for column, words in (
        (LITTLE, f"Lines: gates whose α is smaller than {UNDECIDED} in size"),
        (DISAGREE, "Grid: seeds differ in the side of ½"),
    ):
        shares = {title: fields[column].mean() for title, fields in panels.items()}
        if any(shares.values()):
            parts = (f"{share:.0%} of {title}" for title, share in shares.items())
            yield f"{words} ({', '.join(part.removesuffix(' of ') for part in parts)})"


def draw(settings: HeatMap, frame: "DataFrame") -> "Drawing":
    """Return the figure: panels next to each other with one range of colours."""
    from fathom.artefacts.figures import drawing

    parts = settings.parts()
    figure, axes = drawing.panels(len(parts))
    low, high = _range(settings, frame)
    images = []
    for panel, title, _ in drawing.titled(axes, parts, frame):
        fields = frame.loc[(frame["panel"] == title) & frame["row"].notna()]
        images.append(_draw_map(panel, fields, parts[title], low, high))
    drawing.share_labels(axes)
    first = next(iter(parts.values()))
    axes[0].set_ylabel("training" if first.rows == NONE else first.rows or "")
    if images:
        title = shared_title(part.series or "" for part in parts.values())
        if settings.table is not None:
            title = f"{settings.value} {frame['unit'].iloc[0] or ''}"
        bar = figure.colorbar(images[-1], ax=axes, label=title)
        if (low, high) == (0.0, 1.0):
            bar.ax.axhline(0.5, color="white", linewidth=1.5)
            bar.ax.set_yticks((0, 0.25, 0.5, 0.75, 1), ("0", "", "½", "", "1"))
    return figure


def _draw_map(axes: "Axes", fields: "DataFrame", part: Map, low: float, high: float) -> "AxesImage":
    """Draw one panel, its first row at the bottom for layers and at the top for names."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path
    from matplotlib.transforms import Affine2D

    row_labels = [name for name in part.order] or in_order(fields["row"])
    column_labels = in_order(fields["column"])
    if part.order and part.columns == part.rows:
        column_labels = list(part.order)
    over_seeds = _over_seeds(fields)

    def shown(name: str) -> "DataFrame":
        grid = over_seeds.pivot(index="row", columns="column", values=name)
        return grid.reindex(index=row_labels, columns=column_labels)

    grid = shown(VALUE)
    origin = "lower" if is_number(row_labels[0]) else "upper"
    # Without interpolation a field is a pixel of an SVG file.
    image = axes.imshow(
        grid, aspect="auto", vmin=low, vmax=high, origin=origin, interpolation="none"
    )
    style: dict[str, Any] = {"facecolor": "none", "edgecolor": "white", "linewidth": 0}
    for hatch in (HATCHED, DISAGREE):
        # Neighbours in a row are one box: a series has thousands of fields.
        lines = enumerate(shown(hatch).eq(True).to_numpy())
        runs = ((row, run) for row, line in lines for run in _runs(line))
        places = (
            Affine2D().scale(len(run), 1).translate(run[0] - 0.5, row - 0.5) for row, run in runs
        )
        boxes = [Path.unit_rectangle().transformed(place) for place in places]
        if boxes:  # a hatch of nothing is written to an SVG file, too
            axes.add_patch(PathPatch(Path.make_compound_path(*boxes), hatch=hatch, **style))
    axes.tick_params(length=0)  # a label is beside its fields
    _ticks(axes.xaxis, column_labels, fields["column"], fields["column_shown"])
    _ticks(axes.yaxis, row_labels, fields["row"], fields["row_shown"])
    if max(map(len, fields["column_shown"])) > LONG:
        axes.tick_params(axis="x", rotation=45)
        for words in axes.get_xticklabels():
            words.set(ha="right", rotation_mode="anchor")
    axes.set_xlabel(part.columns or "")
    # Into each field its number, or the words in its place.
    places = zip(fields["row"], fields["column"], strict=True)
    words = dict(zip(places, fields["words"], strict=True))
    for (at_row, row), (at_column, column) in product(
        enumerate(grid.index), enumerate(grid.columns)
    ):
        value = grid.to_numpy()[at_row, at_column]
        number = f"{value:.2f}" if part.numbers and value == value else ""
        if text := words.get((row, column)) or number:
            # The ground hides a hatch behind the number.
            ground = {"facecolor": image.to_rgba(value), "edgecolor": "none", "pad": 0.5}
            style = {"color": "white" if value <= (low + high) / 2 else "black", "fontsize": 5}
            axes.text(at_column, at_row, text, ha="center", va="center", bbox=ground, **style)
    return image


def _runs(line: "Iterable[bool]") -> "Iterator[list[int]]":
    """Yield the places of each run of true neighbours."""
    for is_true, run in groupby(enumerate(line), lambda place: bool(place[1])):
        if is_true:
            yield [at for at, _ in run]


def _over_seeds(fields: "DataFrame") -> "DataFrame":
    """Return the mean of each field over seeds, and whether it is hatched.

    `HATCHED` are fields that say little, `DISAGREE` others whose side of ½ differs between seeds.
    """
    # Cells of a table have no α.
    columns = dict.fromkeys((VALUE, ALPHA, LITTLE), float)
    numbers = fields.reindex(columns=["row", "column", *columns]).astype(columns)
    means = {VALUE: (VALUE, "mean"), LITTLE: (LITTLE, "mean")}
    means |= {"low": (ALPHA, "min"), "high": (ALPHA, "max")}
    over = numbers.groupby(["row", "column"], as_index=False).agg(**means)
    little = over[LITTLE] >= 0.5
    differ = (over["low"] < 0) & (over["high"] >= 0) & ~little
    return over.assign(**{HATCHED: little, DISAGREE: differ})


def _ticks(axis: "Axis", labels: list[str], named: Iterable[str], names: Iterable[str]) -> None:
    """Name a few places of a numbered axis, evenly spread, or all places of another one."""
    shown = dict(zip(named, names, strict=True))
    most = min(TICKS, DIGITS // max(map(len, labels), default=1))
    step = -(-len(labels) // most) if labels and labels[0].isdigit() else 1
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

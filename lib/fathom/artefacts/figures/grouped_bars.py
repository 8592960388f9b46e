"""Grouped bars: rows of a table less one of its rows, a group of bars for each column."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fathom.artefacts.figures.inputs import METRIC, NOTE, NOTES, Inputs, named
from fathom.artefacts.table.comparison import ComparedCell, ComparedTable
from fathom.artefacts.table.differences import difference
from fathom.artefacts.table.notes import metrics_of
from fathom.artefacts.table.sources import NOT_RUN, ResultSource
from fathom.config.schema.figures import GroupedBars
from fathom.config.tables import Cell

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure as Drawing
    from pandas import DataFrame

TASKS = "tasks"
MARK = "×"


def columns_of(settings: GroupedBars, cells: Sequence[Cell]) -> list[str]:
    """Return the columns that are drawn, `tasks` replaced by the columns of single tasks."""
    tasks = dict.fromkeys(cell.column for cell in cells if cell.task and not cell.ours)
    return [column for name in settings.columns for column in (tasks if name == TASKS else (name,))]


def rows(settings: GroupedBars, inputs: Inputs) -> "DataFrame":
    """Return a line for each bar: our difference with its interval, and the paper's difference.

    `low` and `high` are the ends of the interval that `interval` names; `p` and `p_sacrebleu` come
    from the same draws. The note says why a bar has none.
    """
    from pandas import DataFrame

    table = inputs.tables[settings.table]
    items = {(item.result.cell.id, item.result.cell.column): item for item in table.cells}
    columns = columns_of(settings, [item.result.cell for item in table.cells])
    records = [
        {"column": column, "row": row, "label": label, "less": settings.less}
        | _bar(items[row, column], items[settings.less, column], table)
        | {"scale": inputs.scale}
        for row, label in settings.rows.items()
        for column in columns
    ]
    return DataFrame(records)


def _bar(item: ComparedCell, base: ComparedCell, table: ComparedTable) -> dict[str, object]:
    """Return one bar's numbers, or the words in its place, and how they were computed."""
    less = difference(item.result, base.result, table.sources)
    value, half, paired = less.result.value, less.half, less.paired
    low = high = None
    if value is not None and half is not None:
        low, high = value - half, value + half
    printed, of_base = (part.reported.number if part.reported else None for part in (item, base))
    shown, vocabulary = item.result.cell.value, table.table.vocabulary
    return {
        "value": value,
        "low": low,
        "high": high,
        "interval": less.method,
        "p": paired.p if paired else None,
        "p_sacrebleu": paired.p_sacrebleu if paired else None,
        "reported": None if printed is None or of_base is None else printed - of_base,
        "words": less.result.words or (NOT_RUN if value is None else ""),
        NOTE: _notes(item, base, less.result.note, table.sources),
        "unit": vocabulary.measurement(shown).unit if shown else "",
        METRIC: NOTES.join(metrics_of([item.result], vocabulary)),
    }


def _notes(
    item: ComparedCell, base: ComparedCell, note: str, sources: Mapping[str, ResultSource]
) -> str:
    """Return the notes of a bar: those of its difference, and seeds that both rows have too."""
    cells = [part.result.cell for part in (item, base)]
    seeds = [sources[cell.source].unused_words if cell.source in sources else "" for cell in cells]
    notes = zip(cells, ([*note.split(NOTES), seeds[0]], seeds[1:]), strict=True)
    parts = (named(cell.row, filter(None, of_row)) for cell, of_row in notes)
    return NOTES.join(filter(None, parts))


def draw(settings: GroupedBars, frame: "DataFrame") -> "Drawing":
    """Return the figure: our bars filled, the paper's outlined over them."""
    from fathom.artefacts.figures import drawing

    figure, (axes,) = drawing.panels(1)
    shown = frame.loc[frame["label"] != ""]
    columns = list(dict.fromkeys(shown["column"]))
    labels = list(settings.bars)

    def heights(part: str) -> list[list[float]]:  # of each label's bars; NaN draws nothing
        grid = shown.astype({part: float}).pivot(index="label", columns="column", values=part)
        return [grid.loc[label, columns].tolist() for label in labels]

    style = {"edgecolor": drawing.ink(), "linewidth": 0.4}
    ours = axes.grouped_bar(heights("value"), tick_labels=columns, labels=labels, **style)
    # matplotlib declares a list, and returns what holds one.
    containers = ours.bar_containers  # pyright: ignore[reportAttributeAccessIssue]
    bars = dict(zip(labels, containers, strict=True))
    for position, container in enumerate(containers):
        look = drawing.look(position)
        for patch in container:
            patch.set(facecolor=look.color, hatch=look.hatch)
    if shown["reported"].notna().any():
        outlined = {"edgecolor": drawing.ink(), "linewidth": 0.7, "zorder": 3}
        paper = axes.grouped_bar(heights("reported"), **outlined)
        for container in paper.bar_containers:  # pyright: ignore[reportAttributeAccessIssue]
            for patch in container:
                patch.set(facecolor="none", linestyle=(0, (3, 1)))
    for label, container in bars.items():
        _whiskers(axes, shown.loc[shown["label"] == label], container)
    axes.axhline(0.0, color=drawing.ink(), linewidth=0.6)
    unit = "/".join(filter(None, dict.fromkeys(shown["unit"])))
    axes.set_ylabel(f"Δ {unit} over {settings.less}")
    axes.grid(axis="y")
    _legend(axes, bars, shown)
    return figure


def _whiskers(axes: "Axes", bars: "DataFrame", container: "BarContainer") -> None:
    """Draw the intervals of one label's bars, and a mark in the place of each missing bar."""
    from fathom.artefacts.figures.drawing import ink

    places = [patch.get_x() + patch.get_width() / 2 for patch in container]
    color = container.patches[0].get_facecolor()
    columns = (bars["words"], bars["low"], bars["high"])
    for place, words, low, high in zip(places, *columns, strict=True):
        if words:
            axes.text(place, 0.0, MARK, ha="center", va="center", color=color, fontweight="bold")
        elif low is not None and low == low:
            axes.vlines(place, low, high, color=ink(), linewidth=0.6, zorder=4)


def _legend(axes: "Axes", bars: Mapping[str, "BarContainer"], frame: "DataFrame") -> None:
    """Name the bars, the paper's outlines and the whiskers."""
    from matplotlib.patches import Patch

    from fathom.artefacts.figures.drawing import ink

    handles: list[Artist] = [container.patches[0] for container in bars.values()]
    names = [_name(label, frame.loc[frame["label"] == label]) for label in bars]
    if any(frame["reported"].notna()):
        handles.append(Patch(facecolor="none", edgecolor=ink(), linestyle=(0, (3, 1))))
        names.append("paper")
    whiskers = "; ".join(filter(None, dict.fromkeys(frame["interval"])))
    axes.legend(
        handles,
        names,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.1),
        ncols=min(len(names), 5),
        title=f"Whiskers: {whiskers}" if whiskers else None,
    )


def _name(label: str, bars: "DataFrame") -> str:
    """Return a label, with what takes the place of its missing bars."""
    missing = bars[bars["words"] != ""]
    if missing.empty:
        return label
    words = "; ".join(dict.fromkeys(missing["words"]))
    which = "" if len(missing) == len(bars) else f" for {', '.join(missing['column'])}"
    return f"{label} ({MARK} {words}{which})"

"""Curves: a series over updates or layers, one line for each run or for each place on an axis."""

from collections.abc import Sequence
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
    selected,
    shared_title,
    smoothed,
    smoothing_notes,
)
from fathom.config.schema.figures import UPDATE, Lines, Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing
    from pandas import DataFrame

SMOOTHED, SEEDS = "smoothed", "median, with the range"


def rows(settings: Lines, inputs: Inputs) -> "DataFrame":
    """Return a line for each point: panel, line, run, update, x, value and its moving median.

    A seed that recorded nothing has one row with words.
    """
    from pandas import concat

    frames = []
    for title, part in settings.parts().items():
        for label in part.lines:
            line = part.line(label)
            run = inputs.runs[line.run]
            about = {"panel": title, "line": label, "label": label}
            frames += run.csv_lines(line.series or "", label, about, partial(_curves, part))
    columns = ["panel", "line", "label", "run", "seed", UPDATE, "x", VALUE, SMOOTHED, "words", NOTE]
    return concat(frames, ignore_index=True).reindex(columns=columns)


def _curves(part: Panel, run: RunFiles, frame: "DataFrame") -> Parts:
    """Yield the names, the notes and the points of each line of a run, from left to right."""
    frame, notes = at_places(frame, [] if part.at is None else [part.at], run)
    frame = selected(frame, part.select, run)
    groups: list[tuple[dict[str, Any], DataFrame]] = [({}, frame)]
    if part.line_by:
        places = frame[part.line_by].astype(str)
        lines = in_order(places)
        labels = _labels(part.labels, len(lines)) or lines
        groups = [
            ({"line": line, "label": label}, frame.loc[places == line])
            for line, label in zip(lines, labels, strict=True)
        ]
    for names, group in groups:
        points = group.assign(x=group[part.x].astype(float)).sort_values("x")
        median = smoothed(points.loc[:, VALUE], part.smooth)
        few = smoothing_notes(len(points), part.smooth)
        yield names, [*notes, *few], points.assign(**{SMOOTHED: median})


def _labels(given: Sequence[str], lines: int) -> list[str]:
    """Return a label for each of some lines, the given ones spread evenly; most may be empty."""
    last = max(len(given) - 1, 1)
    places = [round(at * (lines - 1) / last) for at in range(len(given))]
    return [
        ", ".join(name for at, name in zip(places, given, strict=True) if at == line)
        for line in range(lines)
        if given
    ]


def draw(settings: Lines, frame: "DataFrame") -> "Drawing":
    """Return the figure: panels next to each other, each with its lines.

    A line is the median over the seeds, below it their range.
    """
    from fathom.artefacts.figures import drawing

    parts = settings.parts()
    figure, axes = drawing.panels(len(parts))
    for panel, (title, part) in zip(axes, parts.items(), strict=True):
        lines = frame.loc[frame["panel"] == title]
        _draw_lines(panel, lines, part)
        panel.set_title(title, loc="left")
        panel.set_xlabel(part.x or "")
        series = [part.line(label).series or "" for label in part.lines]
        panel.set_ylabel(shared_title(series))
        if lines[SMOOTHED].isna().all():
            panel.set(xticks=[], yticks=[])
        if part.log_y and (lines[SMOOTHED] > 0).any():
            panel.set_yscale("log")
        if part.reference is not None:
            panel.axhline(part.reference, color=drawing.ink(), linewidth=0.6)
        # By itself a legend leaves out names that begin with _, as matplotlib's own ones do.
        names = {line: str(line.get_label()) for line in panel.get_lines()}
        names = {line: name for line, name in names.items() if not name.startswith("_child")}
        if part.line_by:
            # Curves of one run spread over the panel and leave no corner empty.
            place: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1, 0.5)}
            panel.legend([*names], [*names.values()], title=part.line_by, **place)
        else:
            panel.legend([*names], [*names.values()])
    return figure


def _draw_lines(axes: "Axes", lines: "DataFrame", part: Panel) -> None:
    from fathom.artefacts.figures import drawing

    numbered = lines.loc[lines[SMOOTHED].notna()]
    if part.line_by and len(numbered):
        lines = numbered  # A seed without numbers is in the notes.
    names = list(dict.fromkeys(lines["line"]))
    for position, name in enumerate(names):
        points = lines.loc[lines["line"] == name]
        label = "".join(points["label"].unique())
        words, points = drawing.with_numbers(points)
        over_seeds = drawing.over_seeds(points, SMOOTHED)
        look = drawing.look(position)
        color = part.colours.get(label, look.color)
        if part.line_by:
            color = drawing.ramp(position, len(names))
        drawing.draw_seeds(
            axes,
            over_seeds,
            color,
            linestyle="-" if part.line_by else look.line,
            marker="." if len(over_seeds) < 3 else None,
            label=f"{label} ({words})" if words else label or None,
        )

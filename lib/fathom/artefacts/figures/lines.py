"""Curves: a series over updates or layers, one line for each run or for each place on an axis."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fathom.artefacts.figures.inputs import (
    NOTE,
    VALUE,
    Inputs,
    RunFiles,
    at_place,
    in_order,
    named,
    place_notes,
    selected,
    shared_title,
    smoothed,
    smoothing_notes,
)
from fathom.config.schema.figures import UPDATE, Lines, Panel, series_named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing
    from pandas import DataFrame

SMOOTHED = "smoothed"


def rows(settings: Lines, inputs: Inputs) -> "DataFrame":
    """Return a line for each point: panel, line, run, update, x, value and its moving median.

    A line whose run recorded nothing has one row with words.
    """
    from pandas import DataFrame, concat

    frames = []
    for title, part in settings.parts().items():
        for label in part.lines:
            line = part.line(label)
            run = inputs.runs[line.run]
            series = series_named(line.series or "")
            frame = run.read(series)
            about = {"panel": title, "line": label, "label": label}
            about |= {"run": run.name, "seed": run.seed}
            if frame is None:
                frames.append(DataFrame([about | {"words": run.words}]))
                continue
            places = [] if part.at is None else [part.at]
            for names, points in _curves(frame, part, run):
                notes = [*run.notes(series), *place_notes(frame, places, run)]
                notes += smoothing_notes(len(points), part.smooth)
                about |= {**names, NOTE: named(label, notes), "words": ""}
                frames.append(points.assign(**about))
    columns = ["panel", "line", "label", "run", "seed", UPDATE, "x", VALUE, SMOOTHED, "words", NOTE]
    return concat(frames, ignore_index=True).reindex(columns=columns)


def _curves(
    frame: "DataFrame", part: Panel, run: RunFiles
) -> Iterator[tuple[dict[str, str], "DataFrame"]]:
    """Yield the names and the points of each line of a run, points from left to right."""
    if part.at is not None:
        frame = at_place(frame, part.at, run)
    frame = selected(frame, part.select, run)
    groups: list[tuple[dict[str, str], DataFrame]] = [({}, frame)]
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
        yield names, points.assign(**{SMOOTHED: smoothed(points.loc[:, VALUE], part.smooth)})


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
    """Return the figure: panels next to each other, each with its lines."""
    from fathom.artefacts.figures import drawing

    parts = settings.parts()
    figure, axes = drawing.panels(len(parts))
    for panel, (title, part) in zip(axes, parts.items(), strict=True):
        lines = frame.loc[frame["panel"] == title]
        _draw_lines(panel, lines, part)
        panel.set_title(title, loc="left")
        panel.set_xlabel(part.x or "")
        drawn = [part.line(label).series or "" for label in part.lines]
        panel.set_ylabel(shared_title(drawn))
        if part.log_y and (lines[SMOOTHED] > 0).any():
            panel.set_yscale("log")
        if part.reference is not None:
            panel.axhline(part.reference, color="black", linewidth=0.6)
        if part.line_by:
            # Curves of one run spread over the panel and leave no corner empty.
            panel.legend(title=part.line_by, loc="center left", bbox_to_anchor=(1, 0.5))
        else:
            panel.legend()
    return figure


def _draw_lines(axes: "Axes", lines: "DataFrame", part: Panel) -> None:
    from fathom.artefacts.figures import drawing

    names = list(dict.fromkeys(lines["line"]))
    for position, name in enumerate(names):
        points = lines.loc[lines["line"] == name]
        words, label = ("".join(points[key].unique()) for key in ("words", "label"))
        look = drawing.look(position)
        color = part.colours.get(label, look.color)
        if part.line_by:
            color = drawing.ramp(position, len(names))
        axes.plot(
            [] if words else points["x"],
            [] if words else points[SMOOTHED],
            color=color,
            linestyle=look.line,
            marker="." if len(points) < 3 else None,
            label=f"{label} ({words})" if words else label or None,
        )

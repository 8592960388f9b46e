"""Kinds of figures: each is a module of this room, imported when a figure names it.

A module has `rows` (the numbers of the csv) and `draw`.
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from fathom.artefacts.figures.inputs import METRIC, NOTE, NOTES, Inputs
from fathom.artefacts.table.sources import NOT_RUN, SERIES_LOST, outcome_words
from fathom.artefacts.table.view import label
from fathom.config.figures import Figure
from fathom.config.schema.figures import series_named
from fathom.io.files import write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing
    from pandas import DataFrame


def rows(figure: Figure, inputs: Inputs) -> "DataFrame":
    """Return the numbers of a figure's csv."""
    return _module(figure.settings.kind).rows(figure.settings, inputs)


def draw(figure: Figure, inputs: Inputs, stem: Path) -> list[str]:
    """Write a figure's numbers as csv and its drawing as png and pdf, to a path without a suffix.

    Equal numbers give equal bytes. Returns a note on each training whose series is lost.
    """
    from fathom.artefacts.figures.drawing import save, sign

    frame = rows(figure, inputs)
    write_text(stem.with_suffix(".csv"), frame.to_csv(index=False, lineterminator="\n"))
    with _drawn(figure, frame) as picture:
        sign(picture, figure, inputs, [*inputs.warnings, *_notes(figure, frame)])
        save(picture, stem)
    if NOTE not in frame or "words" not in frame:
        return []
    return [*dict.fromkeys(frame.loc[frame["words"] == SERIES_LOST, NOTE])]


def svg(figure: Figure, inputs: Inputs, links: Mapping[str, str]) -> tuple[str, list[str]]:
    """Return a figure's drawing as SVG within a page, and its notes, which the page prints.

    The drawing is empty where nothing has a number. `links` are addresses of runs by name, and of
    tables' cells by `<table>/<row>/<column>`.
    """
    from fathom.artefacts.figures.drawing import inline

    frame = rows(figure, inputs)
    if not (frame["words"] == "").to_numpy().any():
        return "", []
    with _drawn(figure, frame) as picture:
        title = label(figure.name, figure.settings.title)
        shown = inline(picture, figure.name, title, links)
    return shown, [*inputs.warnings, *_notes(figure, frame)]


@contextmanager
def _drawn(figure: Figure, frame: "DataFrame") -> "Iterator[Drawing]":
    """Give a figure's drawing, in the style that it must be saved with."""
    import matplotlib

    from fathom.artefacts.figures import drawing

    with matplotlib.rc_context(drawing.style()):
        yield _module(figure.settings.kind).draw(figure.settings, frame)


def _notes(figure: Figure, frame: "DataFrame") -> list[str]:
    """Return what several seeds are drawn as, and all metrics and notes of a csv, each once."""
    seeds = len({*frame["seed"]}) if "seed" in frame else 0
    several = [f"{seeds} seeds: {_module(figure.settings.kind).SEEDS}"] if seeds > 1 else []
    metrics = dict.fromkeys(frame[METRIC]) if METRIC in frame else ()
    # What several panels have in common is said once.
    named: dict[str, dict[str, None]] = {}
    for note in (note for field in frame[NOTE].dropna() for note in field.split(NOTES)):
        name, colon, words = note.partition(": ")
        named.setdefault(words if colon else note, {})[name if colon else ""] = None
    return [
        *several,
        *(f"Metric: {metric}" for metric in metrics if metric),
        *(
            ": ".join(filter(None, (", ".join(names), words)))
            for words, names in named.items()
            if words
        ),
    ]


def _module(kind: str) -> ModuleType:
    return import_module(f"fathom.artefacts.figures.{kind}")


def by_seed(figure: Figure, inputs: Inputs) -> "dict[int, DataFrame]":
    """Return the numbers of a figure's csv for each seed; a training under way is not run.

    A training without a result has its outcome in place of numbers, where these have a bad end.
    Where no training was started there are no numbers, for which pandas would be loaded.
    """
    if not any(
        at.parent.exists() for of in inputs.runs.values() for at in of.source.folders.values()
    ):
        return {}
    frames, judged = {}, not math.isnan(worst(figure))
    for seed in sorted({seed for run in inputs.runs.values() for seed in run.source.folders}):
        runs = {name: run.with_seed(seed) for name, run in inputs.runs.items()}
        points = rows(figure, replace(inputs, runs=runs))
        for run in runs.values():
            training = run.source.training(run.seed)
            words = outcome_words(training) if training else NOT_RUN
            if words and (judged or training is None):
                points.loc[points["run"] == run.name, "words"] = words
        frames[seed] = points.loc[points["seed"] == seed]
    return frames


def worst(figure: Figure) -> float:
    """Return the bad end of what is drawn; nan unless all series of the figure have the same."""
    settings = figure.settings
    names = {name for run in settings.runs for name in settings.series_of(run)}
    bounds = {series_named(name).worst for name in names}
    return bounds.pop() if len(bounds) == 1 else math.nan

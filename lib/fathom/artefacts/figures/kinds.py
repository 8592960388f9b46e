"""Kinds of figures: each is a module of this room, imported when a figure names it.

A module has `findings` (names that do not exist), `rows` (the numbers of the csv) and `draw`.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from fathom.artefacts.figures.inputs import METRIC, NOTE, NOTES, Inputs
from fathom.config.figures import Figure
from fathom.config.project import Project
from fathom.config.tables import Table
from fathom.io.errors import FathomError

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing
    from pandas import DataFrame


def findings(
    figure: Figure, project: Project, tables: Mapping[str, Table]
) -> Iterator[FathomError]:
    """Yield runs, series, axes and rows that a figure names and that do not exist or do not fit.

    Args:
        figure: the figure.
        project: the project, with its runs and data sets.
        tables: the tables of its paper.
    """
    yield from _module(figure.kind).findings(figure, project, tables)


def rows(figure: Figure, inputs: Inputs) -> "DataFrame":
    """Return the numbers of a figure's csv.

    Raises:
        FathomError: a file that it is drawn from cannot be used.
    """
    return _module(figure.kind).rows(figure.settings, inputs)


def draw(figure: Figure, inputs: Inputs, stem: Path) -> None:
    """Write a figure's numbers as csv and its drawing as png and pdf.

    Equal numbers give equal bytes.

    Args:
        figure: the figure.
        inputs: what it is drawn from.
        stem: the files' common path, without a suffix.

    Raises:
        FathomError: a file that it is drawn from cannot be used.
    """
    from fathom.artefacts.figures import drawing
    from fathom.artefacts.table.comparison import write_csv

    frame = rows(figure, inputs)
    write_csv(frame, stem.with_suffix(".csv"))
    with _drawn(figure, inputs, frame) as drawn:
        drawing.save(drawn, stem)


def png(figure: Figure, inputs: Inputs) -> bytes:
    """Return a figure's drawing as a PNG: the bytes that `draw` writes.

    Raises:
        FathomError: a file that it is drawn from cannot be used.
    """
    from fathom.artefacts.figures import drawing

    frame = rows(figure, inputs)
    with _drawn(figure, inputs, frame) as drawn:
        return drawing.rendered(drawn, "png")


@contextmanager
def _drawn(figure: Figure, inputs: Inputs, frame: "DataFrame") -> "Iterator[Drawing]":
    """Give a figure's drawing, inside the style with which it must be saved."""
    import matplotlib

    from fathom.artefacts.figures import drawing

    with matplotlib.rc_context(drawing.style()):
        drawn = _module(figure.kind).draw(figure.settings, frame)
        drawing.sign(drawn, figure, inputs, [*inputs.warnings, *_notes(frame)])
        yield drawn


def _notes(frame: "DataFrame") -> list[str]:
    """Return the metrics and the notes of all lines of a csv, each once."""
    metrics = dict.fromkeys(frame[METRIC]) if METRIC in frame else ()
    notes = (note for field in frame[NOTE].dropna() for note in field.split(NOTES))
    return [
        *(f"Metric: {metric}" for metric in metrics if metric),
        *filter(None, dict.fromkeys(notes)),
    ]


def _module(kind: str) -> ModuleType:
    return import_module(f"fathom.artefacts.figures.{kind}")

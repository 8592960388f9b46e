"""Differences of a table's rows to one of them, as the CSV that a figure is drawn from."""

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from fathom.errors import FathomError
from fathom.io.files import replacing
from fathom.papers.columns import Column
from fathom.papers.paper import Artefact, Bars
from fathom.tables.grid import NOT_RUN, Cell, cells
from fathom.tables.layout import UNITS
from fathom.tables.manifests import Row

HEADER = ("task", "series", "label", "value", "low", "high", "words", "baseline", "scale")


def write(artefact: Artefact, rows: Sequence[Row], scale: str, path: Path) -> None:
    """Write the differences of a figure's rows to its baseline.

    A series without a label is in the file and not in the figure. `low` and `high` are the ends of
    a 95 % interval that takes both rows as independent: wider than a paired one.

    Args:
        artefact: a figure of bars.
        rows: its rows, with the places of their manifests.
        scale: the scale of the manifests.
        path: the CSV.

    Raises:
        FathomError: the artefact has no bars, or a manifest that exists cannot be used.
    """
    if artefact.bars is None:
        raise FathomError("nothing to subtract", artefact.name, "give the artefact `bars`")
    grid = cells(artefact, rows, scale)
    with replacing(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(_lines(artefact.bars, artefact.columns, grid, scale))


def _lines(
    bars: Bars,
    columns: Sequence[Column],
    grid: Mapping[str, Mapping[str, Cell]],
    scale: str,
) -> Iterator[tuple[str, ...]]:
    for series in (*bars.series, *bars.not_drawn):
        for column in columns:
            cell, base = grid[series][column.name], grid[bars.baseline][column.name]
            yield (
                column.title,
                series,
                bars.series.get(series, ""),
                *_difference(cell, base, UNITS[column.unit]),
                bars.baseline,
                scale,
            )


def _difference(cell: Cell, base: Cell, unit: float) -> tuple[str, str, str, str]:
    """Return value, low, high and words of one difference, in the column's unit."""
    if cell.value is None or base.value is None:
        words = cell.words if cell.value is None else f"baseline {base.words}"
        return "", "", "", words or NOT_RUN
    value = (cell.value - base.value) / unit
    spreads = [_half_width(each) for each in (cell, base)]
    if None in spreads:
        return repr(value), "", "", ""
    half = math.hypot(*spreads) / unit
    return repr(value), repr(value - half), repr(value + half), ""


def _half_width(cell: Cell) -> float | None:
    """Return half of a 95 % interval: over seeds where there are several, else the bootstrap's."""
    if cell.deviation is not None and cell.stderr is not None:
        return 1.96 * cell.stderr
    return cell.half_width

"""A table's files: CSV with every digit, and md, tex and html for reading."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from fathom.io.files import replacing, write_text
from fathom.papers.columns import Column
from fathom.papers.paper import Artefact
from fathom.tables import html, latex, markdown
from fathom.tables.grid import Cell, cells
from fathom.tables.layout import UNITS, Sheet, sheet
from fathom.tables.manifests import Row

HEADER = (
    "row",
    "column",
    "value",
    "stderr",
    "note",
    "half_width",
    "seeds",
    "sentences",
    "gates",
    "metric",
    "signature",
    "run",
    "scale",
)


def draw(artefact: Artefact, rows: Sequence[Row], scale: str, stem: Path) -> Sheet:
    """Draw a table from the manifests that exist; the rest is `not run`.

    Args:
        artefact: the table.
        rows: its rows, with the places of their manifests.
        scale: the scale of the manifests.
        stem: the files' common path, without a suffix.

    Returns:
        The table as it reads, for showing.

    Raises:
        FathomError: a manifest that exists cannot be used.
    """
    grid = cells(artefact, rows, scale)
    laid = sheet(artefact, grid, scale)
    label = f"tab:{stem.parent.name}-{artefact.name}".replace("_", "-")
    write_text(stem.with_suffix(".md"), markdown.page(laid))
    write_text(stem.with_suffix(".tex"), latex.page(laid, label))
    write_text(stem.with_suffix(".html"), html.page(laid))
    with replacing(stem.with_suffix(".csv")) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(lines(artefact.columns, grid, scale))
    return laid


def lines(
    columns: Iterable[Column], grid: Mapping[str, Mapping[str, Cell]], scale: str
) -> Iterable[tuple[str, ...]]:
    """Yield a line of fields for each cell, in the form of the reported numbers and more.

    Cells of columns that do not apply to a row are left out.
    """
    for row in grid.values():
        for column in columns:
            cell = row[column.name]
            if cell.value is None and not cell.words:
                continue
            unit = UNITS[column.unit]
            yield (
                cell.row,
                cell.column,
                _number(cell.value, unit),
                _number(cell.stderr, unit),
                cell.words or cell.note,
                _number(cell.half_width, unit),
                str(cell.seeds),
                "" if cell.sentences is None else str(cell.sentences),
                cell.gates,
                cell.metric,
                "; ".join(cell.signatures),
                cell.run,
                scale,
            )


def _number(value: float | None, unit: float) -> str:
    """Return a number with all its digits, in the column's unit; empty where there is none."""
    return "" if value is None else repr(value / unit)

"""The comparison: every reported cell beside the reproduced one, with a verdict."""

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fathom.io.files import replacing
from fathom.papers.paper import Artefact
from fathom.tables import html
from fathom.tables.grid import Cell, cells
from fathom.tables.layout import UNITS, Grid, Sheet, Shown
from fathom.tables.manifests import Row
from fathom.tables.verdicts import JUDGED_SCALE, Reported, Verdict, judge, tolerated

HEADER = (
    "paper",
    "table",
    "row",
    "column",
    "reported",
    "reproduced",
    "stderr",
    "seeds",
    "delta",
    "verdict",
    "cause",
    "run",
    "scale",
)


@dataclass(frozen=True)
class Judged:
    """A table to be compared: its paper's id, itself, the reported cells, its rows."""

    paper: str
    artefact: Artefact
    reported: tuple[Reported, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Comparison:
    """One line of the comparison."""

    paper: str
    table: str
    reported: Reported
    cell: Cell
    reproduced: float | None
    stderr: float | None
    verdict: Verdict
    scale: str

    @property
    def fields(self) -> tuple[str, ...]:
        """The line's fields, in the order of the header."""
        return (
            self.paper,
            self.table,
            self.cell.row,
            self.cell.column,
            self.reported.digits or self.reported.outcome,
            number(self.reproduced),
            number(self.stderr),
            str(self.cell.seeds),
            number(self.verdict.delta),
            self.verdict.words,
            self.verdict.cause,
            self.cell.run,
            self.scale,
        )


def compare(tables: Iterable[Judged], scale: str) -> tuple[Comparison, ...]:
    """Judge every reported cell of some tables; what has no manifest is `not run`.

    Args:
        tables: the tables, in the order of the comparison.
        scale: the scale of the manifests.

    Raises:
        FathomError: a manifest that exists cannot be used.
    """
    return tuple(
        _compared(table, reported, grid[reported.row][reported.column], scale)
        for table in tables
        for grid in [cells(table.artefact, table.rows, scale)]
        for reported in table.reported
        if reported.value is not None or reported.outcome
    )


def _compared(table: Judged, reported: Reported, cell: Cell, scale: str) -> Comparison:
    column = table.artefact.column(reported.column)
    unit = UNITS[column.unit]
    value = None if cell.value is None else cell.value / unit
    allowed = tolerated(column.tolerance, reported.value or 0.0, cell, unit)
    known = not column.expression.reads_scores or _metric_known(table.artefact, cell)
    return Comparison(
        paper=table.paper,
        table=table.artefact.name,
        reported=reported,
        cell=cell,
        reproduced=value,
        stderr=None if cell.stderr is None else cell.stderr / unit,
        verdict=judge(reported, cell, value, allowed, known, scale),
        scale=scale,
    )


def _metric_known(artefact: Artefact, cell: Cell) -> bool:
    """Return whether a score is known to be of the paper's metric."""
    metric = artefact.metric
    return metric is not None and metric.known_for(cell.column) and metric.name == cell.metric


def write(lines: Sequence[Comparison], table: Path, page: Path) -> None:
    """Write the comparison as CSV and as a page.

    Args:
        lines: the comparison.
        table: where the CSV goes.
        page: where the HTML goes.
    """
    with replacing(page) as stream:
        stream.write(html.page(sheet(lines)))
    with replacing(table) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(each.fields for each in lines)


def counts(lines: Iterable[Comparison]) -> dict[str, int]:
    """Return how many cells have each verdict, the most frequent first."""
    return dict(Counter(each.verdict.words for each in lines).most_common())


def sheet(lines: Sequence[Comparison]) -> Sheet:
    """Lay the comparison out for reading, with two decimals."""
    header = ("Paper", "Table", "Row", "Column", "Reported", "Reproduced", "Δ", "Verdict", "Cause")
    body = tuple(
        (
            *(Shown(text) for text in each.fields[:5]),
            Shown(rounded(each.reproduced) or each.cell.words),
            Shown(rounded(each.verdict.delta, signed=True)),
            Shown(each.verdict.words),
            Shown(each.verdict.cause),
        )
        for each in lines
    )
    scale = lines[0].scale if lines else JUDGED_SCALE
    told = ", ".join(f"{words}: {count}" for words, count in counts(lines).items())
    notes = [f"Scale: {scale}. {told or 'No table has reported cells'}."]
    if scale != JUDGED_SCALE:
        notes.append("Cells of this scale are never judged against a paper's.")
    grid = Grid("", header, body, texts=frozenset({0, 1, 2, 3, 7, 8}))
    return Sheet("Reported and reproduced", "Every reported cell, with a verdict.", (grid,), notes)


def number(value: float | None) -> str:
    """Return a number with all its digits; empty where there is none."""
    return "" if value is None else repr(value)


def rounded(value: float | None, signed: bool = False) -> str:
    """Return a number with two decimals, on request with its sign."""
    if value is None:
        return ""
    return f"{value:+.2f}" if signed else f"{value:.2f}"

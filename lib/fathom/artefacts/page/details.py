"""The details of a cell: numbers, interval, verdict, and which file of which run they come from."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fathom.artefacts.page.tables import PageCell, PageTable, minus
from fathom.artefacts.page.verdicts import NOT_JUDGED
from fathom.artefacts.table.comparison import ComparedTable
from fathom.artefacts.table.results import Number, number
from fathom.artefacts.table.sources import CORPUS
from fathom.artefacts.table.verdicts import allowed_difference
from fathom.config.reported import EMPTY

DIGITS = ".6g"


@dataclass(frozen=True)
class Detail:
    """A line of a cell's details; with a file, the text is a link to it."""

    name: str
    text: str
    file: Path | None = None


@dataclass(frozen=True)
class CellDetails:
    """The details of a cell of a table."""

    table: PageTable
    cell: PageCell
    lines: tuple[Detail, ...]


def details(
    table: PageTable, compared: ComparedTable, scale_title: str
) -> Iterator[tuple[str, CellDetails]]:
    """Yield the run or corpus of each cell (empty where it shows neither), and its details.

    Args:
        table: the table as the page shows it.
        compared: the table with its sources.
        scale_title: what the scale cuts down.
    """
    for cell in table.cells:
        source = cell.item.result.cell.source
        lines = [*_compared(cell, compared, scale_title), *_measured(cell, compared)]
        yield source, CellDetails(table, cell, tuple(lines))


def _compared(cell: PageCell, compared: ComparedTable, scale_title: str) -> Iterator[Detail]:
    item, own = cell.item, cell.item.result
    if cell.sign and cell.sign.words == NOT_JUDGED:
        yield Detail("Why", f"not the paper's own settings: {scale_title}")
    if item.verdict and item.verdict.cause:
        yield Detail("Cause", item.verdict.cause)
    if item.verdict and item.verdict.delta is not None and own.cell.value is not None:
        within = compared.table.vocabulary.measurement(own.cell.value).tolerance(own.cell.task)
        allowed = allowed_difference(within, item.reported and item.reported.number, own)
        yield Detail(
            "Difference", f"{cell.difference}; up to {allowed:{DIGITS}} counts as reproduced"
        )
    reported = item.reported
    if reported is None and own.cell.ours:
        yield Detail("Reported", "not in the paper")
    elif reported is None or reported.note == EMPTY:
        yield Detail("Reported", "nothing: the paper's cell is empty")
    elif reported.right:
        yield Detail("Misprint", f"printed {reported.value}, must mean {reported.right}")
    if reported and reported.mark:
        yield Detail("The paper's mark", reported.mark)
    if reported:
        yield Detail("Printed in", reported.where)


def _measured(cell: PageCell, compared: ComparedTable) -> Iterator[Detail]:
    own = cell.item.result
    if own.value is not None:
        seeds = f"mean of {own.seeds} seeds" if own.seeds > 1 else ""
        value = own.cell.value
        unit = value and (value.unit or compared.table.vocabulary.measurement(value).unit)
        words = ", ".join(filter(None, (f"{own.value:{DIGITS}}", unit, seeds)))
        yield Detail("Value", minus(words))
    if own.value is not None and own.interval is not None:
        low, high = own.value - own.interval, own.value + own.interval
        yield Detail("95 % interval", f"{low:{DIGITS}} to {high:{DIGITS}}, by bootstrap")
    if own.stderr is not None:
        over = "seeds" if own.deviation is not None else "test sentences or checkpoints"
        yield Detail("Standard error", f"{own.stderr:{DIGITS}} over {over}")
    if own.sentences is not None:
        yield Detail("Test sentences", str(own.sentences))
    if own.note:
        yield Detail("Note", own.note)
    if own.cell.key:
        yield Detail("Measurement", own.cell.key)
    for how in own.how:
        yield Detail("Computed", how)
    yield from _seeds(cell, compared)


def _seeds(cell: PageCell, compared: ComparedTable) -> Iterator[Detail]:
    """Yield the number of each seed with the file that it is read from."""
    own = cell.item.result
    if own.cell.kind == "empty":
        return
    source = compared.sources[own.cell.source]
    files = source.files(own.cell.key)
    readings = list(source.readings(own.cell.key))
    factor = own.cell.value.factor if own.cell.value else 1.0
    for seed, reading in readings:
        value = number(own.cell, reading)
        text = f"{value.value * factor:{DIGITS}}" if isinstance(value, Number) else value.words
        name = "Corpus" if seed == CORPUS else f"Seed {seed}"
        yield Detail(name, minus(text), files[seed] if files[seed].is_file() else None)

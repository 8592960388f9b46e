"""Tables on the page, and the details of each cell: numbers, verdict, files, what was learned."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from fathom.artefacts.page.runs import PageRun
from fathom.artefacts.table.comparison import ComparedTable
from fathom.artefacts.table.notes import notes_on_cells
from fathom.artefacts.table.results import SeedNumber, number
from fathom.artefacts.table.sources import CORPUS
from fathom.artefacts.table.verdicts import NOT_JUDGED, allowed_difference, bar
from fathom.artefacts.table.view import BlockView, ShownCell, blocks
from fathom.config.reported import EMPTY
from fathom.config.tables import Table

NOTHING = "–"  # where neither we nor the paper have anything
DIGITS = ".6g"


@dataclass(frozen=True)
class PageTable:
    """A table of the page."""

    compared: ComparedTable
    runs: Mapping[str, PageRun]  # the paper's, by full name

    @property
    def spec(self) -> Table:
        """What config says of it."""
        return self.compared.table

    @property
    def notes(self) -> list[str]:
        """What a reader must know of its numbers."""
        return list(notes_on_cells(self.compared))

    @cached_property
    def blocks(self) -> tuple[BlockView, ...]:
        """The paper's part of each block, and the columns that are not in the paper."""
        return tuple(blocks(self.compared))

    @cached_property
    def cells(self) -> tuple[ShownCell, ...]:
        """All of its cells."""
        return tuple(cell for block in self.blocks for row in block.cells for cell in row)

    @property
    def judged(self) -> bool:
        """Whether a cell was compared with the paper's."""
        return any(cell.sign.judged for cell in self.cells if cell.sign)

    @property
    def summary(self) -> str:
        """What the page says of it where nothing is judged: runs with an end, printed cells."""
        runs, signs = self._runs(self.cells), bar(cell.sign for cell in self.cells if cell.sign)
        ended = f"{sum(bool(run.ended) for run in runs)} of {len(runs)} runs have ended; "
        cells = ", ".join(f"{count} {sign.words}" for sign, count in signs.items())
        return f"{ended if runs else ''}printed cells: {cells or 'none'}"

    def shows_learned(self, block: BlockView) -> bool:
        """Return whether a block says how much its runs learned, since nothing is judged."""
        runs = any(cell.item.result.cell.kind == "run" for cell in self.cells)
        return runs and not self.judged and not block.added

    def learned(self, row: tuple[ShownCell, ...]) -> dict[str, Any]:
        """Return how far the runs of a row are below the unigram baseline.

        `nats` are the least and the most, `share` is that of the most in the table in percent, and
        `words` say why there are none.
        """
        nats, most = self._nats(row), max(self._nats(self.cells), default=0.0)
        # Two numbers that read the same are one.
        bounds = dict.fromkeys(f"{value:.2f}" for value in (nats[0], nats[-1])) if nats else ()
        return {
            "nats": [*map(minus, bounds)],
            "share": f"{100 * max(nats[-1], 0) / most if nats and most > 0 else 0:.0f}",
            "words": ", ".join(dict.fromkeys(run.words for run in self._runs(row))),
        }

    def right_language(self, cell: ShownCell) -> str:
        """Return the share of the hypotheses of a task's score that are in its language."""
        shown = cell.item.result.cell
        if not (shown.task and shown.value and shown.value.counts_sentences):
            return ""
        key = f"right_language.{shown.value.split or 'test'}.{shown.gates}"
        readings = self.compared.sources[shown.source].readings(key)
        of_seeds = [reading.record.tasks for _, reading in readings if reading.record]
        shares = [tasks[shown.task].value for tasks in of_seeds if shown.task in tasks]
        return f"{fmean(shares):.0%}" if shares else ""

    def _nats(self, cells: tuple[ShownCell, ...]) -> list[float]:
        """Return by how much the runs of cells are below the baseline, from low to high."""
        nats = (run.below_unigram for run in self._runs(cells))
        return sorted(value for value in nats if value is not None)

    def _runs(self, cells: tuple[ShownCell, ...]) -> list[PageRun]:
        names = dict.fromkeys(cell.item.result.cell.source for cell in cells)
        return [self.runs[name] for name in names if name in self.runs]


class Detail(NamedTuple):
    """A line of a cell's details; with a file, the text is a link to it."""

    name: str
    text: str
    file: Path | None = None


def details(cell: ShownCell, compared: ComparedTable, scale_title: str) -> list[Detail]:
    """Return the details of a cell: the comparison, then our numbers and their files."""
    lines = [*_comparison(cell, compared, scale_title), *_numbers(cell, compared)]
    return [*(Detail(name, text) for name, text in lines if text), *_seeds(cell, compared)]


def _comparison(
    cell: ShownCell, compared: ComparedTable, scale_title: str
) -> Iterator[tuple[str, str]]:
    result, reported, verdict = cell.item.result, cell.item.reported, cell.item.verdict
    if cell.sign and cell.sign.words == NOT_JUDGED:
        yield "Why", f"not the paper's own settings: {scale_title}"
    if verdict:
        yield "Cause", verdict.cause
    if verdict and verdict.delta is not None and result.cell.value is not None:
        measurement = compared.table.vocabulary.measurement(result.cell.value)
        within = measurement.tolerance(result.cell.task)
        printed = (reported.number, reported.decimals) if reported else (None, 0)
        allowed = allowed_difference(within, *printed, result)
        difference = minus(cell.difference)
        yield "Difference", f"{difference}; up to {allowed:{DIGITS}} counts as reproduced"
    if reported is None and result.cell.ours:
        yield "Reported", "not in the paper"
    elif not any(item.reported for item in compared.cells):
        return  # a study
    elif reported is None or reported.note == EMPTY:
        yield "Reported", "nothing: the paper's cell is empty"
    elif reported.right:
        yield "Misprint", f"printed {reported.value}, must mean {reported.right}"
    if reported:
        yield "The paper's mark", reported.mark
        yield "Printed in", reported.where


def _numbers(cell: ShownCell, compared: ComparedTable) -> Iterator[tuple[str, str]]:
    result, value = cell.item.result, cell.item.result.cell.value
    if result.value is not None:
        seeds = f"mean of {result.seeds} seeds" if result.seeds > 1 else ""
        unit = value and (value.unit or compared.table.vocabulary.measurement(value).unit)
        words = ", ".join(filter(None, (f"{result.value:{DIGITS}}", unit, seeds)))
        yield "Value", minus(words)
    against = cell.item.against
    if result.cell.less and against and against.low is not None:
        yield "Difference", f"{against.low:{DIGITS}} to {against.high:{DIGITS}}: {against.method}"
        yield "p", f"{against.p:{DIGITS}}"
    elif result.value is not None and result.interval is not None:
        low, high = result.value - result.interval, result.value + result.interval
        yield "95 % interval", f"{low:{DIGITS}} to {high:{DIGITS}}, by bootstrap"
    if result.stderr is not None:
        over = "seeds" if result.deviation is not None else "test sentences or checkpoints"
        yield "Standard error", f"{result.stderr:{DIGITS}} over {over}"
    if result.sentences is not None:
        yield "Test sentences", str(result.sentences)
    yield "Note", result.note
    yield "Measurement", result.cell.key
    for how in result.how:
        yield "Computed", how


def _seeds(cell: ShownCell, compared: ComparedTable) -> Iterator[Detail]:
    """Yield the number of each seed with the file that it is read from."""
    shown = cell.item.result.cell
    if shown.value is None or shown.less:
        return
    source = compared.sources[shown.source]
    files = source.files(shown.key)
    for seed, reading in source.readings(shown.key):
        value = number(shown, reading)
        is_number = isinstance(value, SeedNumber)
        text = f"{value.value * shown.value.factor:{DIGITS}}" if is_number else value.words
        name = "Corpus" if seed == CORPUS else f"Seed {seed}"
        yield Detail(name, minus(text), files[seed] if files[seed].is_file() else None)


def spoken(cell: ShownCell) -> str:
    """Return a cell in one sentence, for readers who cannot see where it is."""
    words = [f"{cell.row}, {cell.column}: ours {cell.ours.full or NOTHING}"]
    words += [f"reported {minus(cell.reported.full)}"] if cell.reported.text else []
    words += [cell.sign.words] if cell.sign else []
    return ", ".join(words)


def minus(text: str) -> str:
    """Return a number with a sign as wide as a plus."""
    return f"\u2212{text[1:]}" if text.startswith("-") and text[1:2].isdigit() else text

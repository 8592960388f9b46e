"""Tables on the page, and the details of each cell: numbers, verdict, files, what was learned."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fathom.artefacts.page.runs import PageRun
from fathom.artefacts.table.comparison import ComparedTable
from fathom.artefacts.table.notes import notes_on_cells
from fathom.artefacts.table.results import SeedNumber, number
from fathom.artefacts.table.sources import CORPUS
from fathom.artefacts.table.verdicts import NOT_JUDGED, allowed_difference
from fathom.artefacts.table.view import ShownCell, ShownPart, ShownRow, parts
from fathom.config.reported import EMPTY
from fathom.config.tables import Table

NOTHING = "–"  # where neither we nor the paper have anything
DIGITS = ".6g"


@dataclass(frozen=True)
class Learned:
    """How far the runs of a row are below the unigram baseline."""

    nats: tuple[str, ...]  # from low to high; empty where no run has a number
    share: str  # of the most in the table, in percent
    words: str  # why there are no nats


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
    def parts(self) -> tuple[ShownPart, ...]:
        """The paper's part of each block, and the columns that are not in the paper."""
        return tuple(parts(self.compared))

    @cached_property
    def cells(self) -> tuple[ShownCell, ...]:
        """All of its cells."""
        return tuple(cell for part in self.parts for row in part.rows for cell in row.cells)

    @cached_property
    def judged(self) -> bool:
        """Whether any cell is compared with the paper's."""
        return any(cell.sign.judged for cell in self.cells if cell.sign)

    def shows_learned(self, part: ShownPart) -> bool:
        """Return whether a part says how much its runs learned, since nothing is judged."""
        kinds = {cell.item.result.cell.kind for cell in self.cells}
        return "run" in kinds and not self.judged and not part.added

    def learned(self, row: ShownRow) -> Learned:
        """Return how much the runs of a row learned."""
        nats = self._nats(row)
        words = "" if nats else ", ".join(dict.fromkeys(run.words for run in self._runs(row)))
        # Two numbers that read the same are one.
        bounds = dict.fromkeys(f"{value:.2f}" for value in (nats[0], nats[-1])) if nats else ()
        share = 100 * max(nats[-1], 0) / self._most if nats and self._most > 0 else 0
        return Learned(tuple(map(minus, bounds)), f"{share:.0f}", words)

    @cached_property
    def _most(self) -> float:
        """The most nats that a run of it is below the baseline."""
        rows = (row for part in self.parts for row in part.rows)
        return max((nats for row in rows for nats in self._nats(row)), default=0.0)

    def _nats(self, row: ShownRow) -> list[float]:
        """Return by how much the runs of a row are below the baseline, from low to high."""
        nats = (run.below_unigram for run in self._runs(row))
        return sorted(value for value in nats if value is not None)

    def _runs(self, row: ShownRow) -> list[PageRun]:
        names = dict.fromkeys(cell.item.result.cell.source for cell in row.cells)
        return [self.runs[name] for name in names if name in self.runs]


@dataclass(frozen=True)
class Detail:
    """A line of a cell's details; with a file, the text is a link to it."""

    name: str
    text: str
    file: Path | None = None


def details(cell: ShownCell, compared: ComparedTable, scale_title: str) -> list[Detail]:
    """Return the details of a cell: the comparison, then our numbers and their files."""
    return [*_comparison(cell, compared, scale_title), *_numbers(cell, compared)]


def spoken(cell: ShownCell) -> str:
    """Return a cell in one sentence, for readers who cannot see where it is."""
    words = [f"{cell.row}, {cell.column}: ours {cell.ours.full or NOTHING}"]
    words += [f"reported {minus(cell.reported.full)}"] if cell.reported.text else []
    words += [cell.sign.words] if cell.sign else []
    return ", ".join(words)


def minus(text: str) -> str:
    """Return a number with a sign as wide as a plus."""
    return f"\u2212{text[1:]}" if text.startswith("-") and text[1:2].isdigit() else text


def _comparison(cell: ShownCell, compared: ComparedTable, scale_title: str) -> Iterator[Detail]:
    item, result, reported = cell.item, cell.item.result, cell.item.reported
    if cell.sign and cell.sign.words == NOT_JUDGED:
        yield Detail("Why", f"not the paper's own settings: {scale_title}")
    if item.verdict and item.verdict.cause:
        yield Detail("Cause", item.verdict.cause)
    if item.verdict and item.verdict.delta is not None and result.cell.value is not None:
        measurement = compared.table.vocabulary.measurement(result.cell.value)
        within = measurement.tolerance(result.cell.task)
        allowed = allowed_difference(within, reported and reported.number, result)
        words = f"{minus(cell.difference)}; up to {allowed:{DIGITS}} counts as reproduced"
        yield Detail("Difference", words)
    if reported is None and result.cell.ours:
        yield Detail("Reported", "not in the paper")
    elif reported is None or reported.note == EMPTY:
        yield Detail("Reported", "nothing: the paper's cell is empty")
    elif reported.right:
        yield Detail("Misprint", f"printed {reported.value}, must mean {reported.right}")
    if reported and reported.mark:
        yield Detail("The paper's mark", reported.mark)
    if reported:
        yield Detail("Printed in", reported.where)


def _numbers(cell: ShownCell, compared: ComparedTable) -> Iterator[Detail]:
    result = cell.item.result
    if result.value is not None:
        seeds = f"mean of {result.seeds} seeds" if result.seeds > 1 else ""
        value = result.cell.value
        unit = value and (value.unit or compared.table.vocabulary.measurement(value).unit)
        words = ", ".join(filter(None, (f"{result.value:{DIGITS}}", unit, seeds)))
        yield Detail("Value", minus(words))
    if result.value is not None and result.interval is not None:
        low, high = result.value - result.interval, result.value + result.interval
        yield Detail("95 % interval", f"{low:{DIGITS}} to {high:{DIGITS}}, by bootstrap")
    if result.stderr is not None:
        over = "seeds" if result.deviation is not None else "test sentences or checkpoints"
        yield Detail("Standard error", f"{result.stderr:{DIGITS}} over {over}")
    if result.sentences is not None:
        yield Detail("Test sentences", str(result.sentences))
    if result.note:
        yield Detail("Note", result.note)
    if result.cell.key:
        yield Detail("Measurement", result.cell.key)
    for how in result.how:
        yield Detail("Computed", how)
    yield from _seeds(cell, compared)


def _seeds(cell: ShownCell, compared: ComparedTable) -> Iterator[Detail]:
    """Yield the number of each seed with the file that it is read from."""
    shown = cell.item.result.cell
    if shown.kind == "empty":
        return
    source = compared.sources[shown.source]
    files = source.files(shown.key)
    factor = shown.value.factor if shown.value else 1.0
    for seed, reading in source.readings(shown.key):
        value = number(shown, reading)
        text = f"{value.value * factor:{DIGITS}}" if isinstance(value, SeedNumber) else value.words
        name = "Corpus" if seed == CORPUS else f"Seed {seed}"
        yield Detail(name, minus(text), files[seed] if files[seed].is_file() else None)

"""Each cell of a table with what the paper reports there, and the verdict; and all of them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from fathom.artefacts.table.differences import (
    Difference,
    difference,
    is_score,
    significantly_better,
)
from fathom.artefacts.table.results import CellResult, result
from fathom.artefacts.table.sources import MISSING, ResultSource
from fathom.artefacts.table.verdicts import BY_CONSTRUCTION, REPRODUCED, Verdict, judge
from fathom.config.reported import EMPTY, Reported
from fathom.config.schema.table import DIFFERENCE, GAIN, WITH_DIFFERENCE
from fathom.config.spec import full_name
from fathom.config.tables import Cell, Table
from fathom.scoring.students_t import holm

AGAINST = ("difference", "low", "high", "p", "p_holm")
COLUMNS = (
    "paper", "table", "row", "column", "reported", "reported_stderr", "mark", "reproduced",
    "stderr", "seeds", "delta", "verdict", "cause", "run", "scale",
)  # fmt: skip


@dataclass(frozen=True)
class Against:
    """A cell less that of the row with which a table compares."""

    difference: float
    low: float | None = None  # the 95 % interval
    high: float | None = None
    p: float | None = None  # None without an interval, and where no number could have differed
    p_holm: float | None = None  # corrected for all rows of the column
    method: str = ""  # what gives interval and p


@dataclass(frozen=True)
class ComparedCell:
    """A cell, what the paper reports there, and the verdict."""

    result: CellResult  # our value; a difference where the paper prints one
    reported: Reported | None = None  # None for a cell that the paper does not have
    verdict: Verdict | None = None  # None where there is nothing to compare
    # Our difference to another cell, where the paper prints one next to its number.
    delta: float | None = None
    mark: str = ""  # the paper's mark of a significant gain, where our cell passes its test
    tested: bool = False  # whether there was such a test; it needs a score in both rows
    # Of a column of differences, or in a table that compares all; None without both values.
    against: Against | None = None

    @property
    def turned(self) -> bool:
        """Whether we have a result where the paper has none, or the reverse."""
        if self.reported is None or self.reported.note == EMPTY or not self.result.shown:
            return False
        differ = (self.result.value is None) != (self.reported.number is None)
        return differ and not self.result.words.startswith(MISSING)


@dataclass(frozen=True)
class ComparedTable:
    """A table with all of its cells, for drawing and for the comparison."""

    table: Table
    scale: str  # of its runs
    cells: tuple[ComparedCell, ...]
    # Runs and corpora by name.
    sources: Mapping[str, ResultSource] = field(default_factory=dict, repr=False)

    @property
    def shown_as(self) -> dict[str, str]:
        """What tasks are called whose text is not what their name says."""
        names = (source.shown_as.items() for source in self.sources.values())
        return dict(chain.from_iterable(names))

    def called(self, name: str) -> str:
        """Return what a row or column is called; a task may have another text than its name."""
        name = self.table.settings.labels.get(name, name)
        called = {task.lower(): words for task, words in self.shown_as.items()}
        return called.get(name.lower(), self.table.vocabulary.title(name))


def compare_table(
    table: Table,
    cells: Sequence[Cell],
    reported: Iterable[Reported],
    sources: Mapping[str, ResultSource],
    scale: str,
) -> ComparedTable:
    """Return every cell of a table with its value and, where the paper has one, a verdict."""
    printed = {(item.row, item.column): item for item in reported}
    compared = []
    for cell in cells:
        (ours, against), less = _shown(cell, cells, sources), None
        item = None if cell.ours else printed.get((cell.id, cell.column))
        mark = table.marks.get(item.mark) if item else None
        if mark and mark.means in (DIFFERENCE, WITH_DIFFERENCE):
            to = mark.to  # a row, a column or a run
            run = replace(cell, row=to, source=full_name(table.paper, to))
            base = result(_meeting(cell, cells, to) or run, sources)
            less = difference(ours, base, sources).result
        if less and mark and mark.means == DIFFERENCE:
            ours, less = less, None
        verdict = None
        if item and cell.value is not None:
            tolerance = table.vocabulary.measurement(cell.value).tolerance(cell.task)
            verdict = judge(item, ours, tolerance, scale, less)
            if verdict.words == REPRODUCED and cell.key in sources[cell.source].by_construction:
                verdict = replace(verdict, words=BY_CONSTRUCTION)
        gains = _gains(table, ours, cells, sources)
        gain = next((name for name, passed in gains.items() if passed), "")
        delta = less.value if less else None
        compared.append(ComparedCell(ours, item, verdict, delta, gain, bool(gains), against))
    return ComparedTable(table, scale, tuple(_with_against(table, compared, sources)), sources)


def _shown(
    cell: Cell, cells: Sequence[Cell], sources: Mapping[str, ResultSource]
) -> tuple[CellResult, Against | None]:
    """Return a cell's value; of a column of differences, less that of the row that it names.

    That row itself shows nothing.
    """
    ours, base = result(cell, sources), _meeting(cell, cells, cell.less) if cell.less else None
    if not cell.less or cell.kind == "empty":
        return ours, None
    if base is None or base == cell:
        return CellResult(cell, comparable=ours.comparable), None
    less = difference(ours, result(base, sources), sources)
    return less.result, None if less.result.value is None else against_of(less)


def _with_against(
    table: Table, cells: Sequence[ComparedCell], sources: Mapping[str, ResultSource]
) -> Sequence[ComparedCell]:
    """Return cells with their difference to those of the row or run that the table names."""
    if (row := table.settings.against) is None:
        return cells
    base_cells = [item.result for item in cells if is_base(table, row, item.result.cell)]
    compared: dict[int, Against] = {}
    for at, item in enumerate(cells):
        cell = item.result.cell
        bases = [each for each in base_cells if each.cell.column == cell.column]
        base = next((each for each in bases if each.cell.block == cell.block), None)
        base = base or next(iter(bases), None)
        if base is None or cell.less or is_base(table, row, cell):
            continue
        # A swept value may be the one that the base has: then both cells show one number.
        runs = [sources[each.source].folders for each in (cell, base.cell) if each.source]
        if cell.key == base.cell.key and len(runs) == 2 and runs[0] == runs[1]:
            continue
        less = difference(item.result, base, sources)
        if less.result.value is not None:
            compared[at] = against_of(less)
    by_column: dict[str, dict[int, float]] = {}
    for at, against in compared.items():
        if against.p is not None:
            by_column.setdefault(cells[at].result.cell.column, {})[at] = against.p
    for p_values in by_column.values():
        for at, p_holm in zip(p_values, holm([*p_values.values()]), strict=True):
            compared[at] = replace(compared[at], p_holm=p_holm)
    return [replace(item, against=compared.get(at, item.against)) for at, item in enumerate(cells)]


def is_base(table: Table, row: str, cell: Cell) -> bool:
    """Return whether a cell is of the row or run with which others are compared."""
    return cell.source == full_name(table.paper, row) or row in (cell.row, cell.id)


def against_of(less: Difference) -> Against:
    """Return a difference that has a value, with its interval and p."""
    value, half = less.result.value or 0.0, less.half
    if half is None or not (half or is_score(less.result)):
        return Against(value)
    return Against(value, value - half, value + half, less.p, method=less.method)


def _meeting(cell: Cell, cells: Iterable[Cell], to: str) -> Cell | None:
    """Return the cell of the same block where a row or column meets the column or row of a cell."""
    places = ((cell.block, to, cell.column), (cell.block, cell.row, to))
    return next((each for each in cells if (each.block, each.row, each.column) in places), None)


def _gains(
    table: Table, ours: CellResult, cells: Sequence[Cell], sources: Mapping[str, ResultSource]
) -> dict[str, bool]:
    """Return the paper's marks of significant gains that can be tested, and who passes."""
    if ours.cell.value is None:
        return {}
    gains = {}
    lower = table.vocabulary.measurement(ours.cell.value).better == "lower"
    for name, mark in table.marks.items():
        base = _meeting(ours.cell, cells, mark.to) if mark.means == GAIN else None
        if base in (None, ours.cell):
            continue
        better = significantly_better(mark, ours, result(base, sources), sources, lower)
        gains |= {} if better is None else {name: better}
    return gains


def lines(tables: Iterable[ComparedTable]) -> list[dict[str, Any]]:
    """Return the comparison: a line for each reported cell, in the order of the tables."""
    lines = []
    for table in tables:
        name = (table.table.paper, table.table.name)
        for item in table.cells:
            printed, ours, verdict = item.reported, item.result, item.verdict
            if printed is not None and verdict is not None:
                said = printed.value or printed.outcome or printed.note
                reported = (printed.row, printed.column, said, printed.stderr, printed.mark)
                reproduced = (ours.value, ours.stderr, ours.seeds)
                judged = (verdict.delta, verdict.words, verdict.cause)
                line = (*name, *reported, *reproduced, *judged, ours.cell.source, table.scale)
                lines.append(dict(zip(COLUMNS, line, strict=True)))
    return lines


def counts(tables: Iterable[ComparedTable]) -> dict[str, int]:
    """Return how many reported cells have each verdict, the most frequent first."""
    verdicts = [item.verdict for table in tables for item in table.cells if item.verdict]
    return dict(Counter(verdict.words for verdict in verdicts).most_common())

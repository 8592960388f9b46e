"""Tables on the page: what ran, gains over a base row, how much runs learned, details of cells."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from fathom.artefacts.page.runs import PageRun
from fathom.artefacts.table.comparison import (
    Against,
    ComparedCell,
    ComparedTable,
    against_of,
    is_base,
)
from fathom.artefacts.table.differences import difference, factor_of
from fathom.artefacts.table.notes import notes_on_cells
from fathom.artefacts.table.results import SeedNumber, number
from fathom.artefacts.table.sources import MISSING, WITHOUT_RESULT
from fathom.artefacts.table.verdicts import allowed_difference, signed
from fathom.artefacts.table.view import BlockView, ShownCell, blocks
from fathom.config.schema.table import DIFFERENCE
from fathom.config.tables import Cell, Table

FEW = ".4g"
SIGNS = 5  # of fewer differences the signs say nothing
MARGIN = 6  # percent of a cell's width that stays free beside the outermost mark
# Pixels of a character of a number, of marks after it and of its ±, and of a gap, by page.css, in a
# wide font such as DejaVu Sans.
WIDE, MARK, SMALL, GAP = 9.4, 8.0, 7.8, 2
_NUMBER = re.compile(r"([+\u2212-]?[\d,]+)(\.\d+)?(?=$|[^\d.])")


@dataclass(frozen=True)
class Gain:
    """A cell less that of the table's base row, in the unit of the cell."""

    ours: Against
    paper: float | None  # the same of the printed numbers; None without both
    base: str  # what the paper prints in place of the base's number, in a word
    decimals: int
    low: float  # ends of the scale that all gains of the column have
    high: float

    @property
    def sure(self) -> bool | None:
        """Whether our interval excludes 0; None without an interval."""
        low, high = self.ours.low, self.ours.high
        return None if low is None or high is None else low > 0 or high < 0

    def place(self, value: float) -> str:
        """Return where a difference is in its column, in percent of the width."""
        share = (100 - 2 * MARGIN) / ((self.high - self.low) or 1.0)
        return f"{MARGIN + share * (value - self.low):.0f}"

    @property
    def style(self) -> str:
        """The places of our difference, its interval and the paper's difference."""
        points = {"o": self.ours.difference, "l": self.ours.low, "h": self.ours.high}
        points["p"] = self.paper
        places = {name: value for name, value in points.items() if value is not None}
        return ";".join(f"--{name}:{self.place(value)}" for name, value in places.items())

    def text(self, value: float) -> str:
        """Return a difference with its sign; of a sure one that rounds to 0 with a digit more."""
        text = signed(value, self.decimals)
        if self.sure and value == self.ours.difference and not float(text):
            text = signed(value, self.decimals + 1)
        return minus(text)

    @property
    def words(self) -> str:
        """The gain with its interval."""
        words = self.text(self.ours.difference)
        if self.ours.low is not None and self.ours.high is not None:
            words += f" [{self.text(self.ours.low)}, {self.text(self.ours.high)}]"
        return words


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
        """What a reader must know of its numbers, and what their intervals are of."""
        methods = dict.fromkeys(gain.ours.method for gain in self.gains.values())
        words = [f"Differences: {method}." for method in methods if method]
        shown = (cell.item.result for cell in self.cells)
        if any(each.interval is not None and not each.cell.less for each in shown):
            words.append("[ ] in details of a cell: 95 % over test sentences.")
        for margin in {run.spec.outcome.failed_margin: 0 for run in self._runs(self.cells)}:
            if margin:
                below = f"less than {margin:g} nats below the unigram baseline"
                words.append(f"Failed to train: here, a run that ends {below}, or above it.")
        return [*words, *notes_on_cells(self.compared)]

    @property
    def came_out(self) -> str:
        """How many gains are certain, and, of enough, how many of these have the paper's sign."""
        gains = [gain for gain in self.gains.values() if gain.sure is not None]
        sure = [gain for gain in gains if gain.sure]
        both = [gain for gain in sure if gain.paper]
        agree = sum(gain.ours.difference * (gain.paper or 0) > 0 for gain in both)
        words = f"{len(sure)} of {len(gains)} differences from {self.base} are significant"
        words += " (95 % intervals that leave out 0, each by itself)"
        signs = f". For {len(both)} of these the paper prints a difference, with the same sign for "
        signs += f"{agree}; chance alone gives {len(both) / 2:g}"
        return (words + signs * (len(both) >= SIGNS)) if gains else ""

    @cached_property
    def blocks(self) -> tuple[BlockView, ...]:
        """The paper's part of each block, and the columns that are not in the paper."""
        return tuple(blocks(self.compared))

    @cached_property
    def cells(self) -> tuple[ShownCell, ...]:
        """All of its cells."""
        return tuple(cell for block in self.blocks for row in block.cells for cell in row)

    @cached_property
    def judged(self) -> bool:
        """Whether a cell was compared with the paper's."""
        return any(cell.sign.judged for cell in self.cells if cell.sign)

    @cached_property
    def ended(self) -> float:
        """The share of its cells that have a result or an outcome of a training or a text."""
        shown = (item.result for item in self.compared.cells if item.result.shown)
        words = [item.words for item in shown if item.cell.key not in (*WITHOUT_RESULT, "")]
        return sum(not each.startswith(MISSING) for each in words) / (len(words) or 1)

    @cached_property
    def base(self) -> str:
        """What the row is called from which gains are shown; empty where there are none."""
        return self.compared.called(str(self.spec.settings.base_row)) if self.gains else ""

    @cached_property
    def gains(self) -> dict[str, Gain]:
        """The gains of cells over the base row, by the id of the cell: of the paper's columns."""
        row, gains = self.spec.settings.base_row, dict[str, Gain]()
        for block in self.blocks if row and self.ended else ():
            for column in zip(*(() if block.added else block.cells), strict=True):
                items = {each.id: each.item for each in column if self._may_gain(each.item)}
                bases = [at for at in items if is_base(self.spec, str(row), items[at].result.cell)]
                pairs = dict(self._pairs(items, items.pop(bases[0]))) if bases else {}
                points = [0.0]
                for ours, paper, _ in pairs.values():
                    points += filter(None, (ours.difference, ours.low, ours.high, paper))
                fractions = [point(each.ours.text)[1] for each in column if each.id in items]
                decimals = max(map(len, fractions), default=1) - 1
                ends = max(decimals, 0), min(points), max(points)
                gains |= {name: Gain(*pair, *ends) for name, pair in pairs.items()}
        return gains

    def _may_gain(self, item: ComparedCell) -> bool:
        """Return whether a cell has a number that a training gives, and no difference itself."""
        cell, mark = (
            item.result.cell,
            self.spec.marks.get(item.reported.mark if item.reported else ""),
        )
        return self._of_run(item) and not cell.less and (mark is None or mark.means != DIFFERENCE)

    def _of_run(self, item: ComparedCell) -> bool:
        """Return whether what a cell shows is measured of what a training made."""
        value = item.result.cell.value
        return bool(value) and self.spec.vocabulary.measurement(value).of == "run"

    def _pairs(
        self, items: Mapping[str, ComparedCell], base: ComparedCell
    ) -> Iterator[tuple[str, tuple[Against, float | None, str]]]:
        """Yield our difference of each cell to the base with its id, and what the paper has."""
        outcome = base.reported.outcome.partition(" ")[0] if base.reported else ""
        for name, item in items.items():
            less = difference(item.result, base.result, self.compared.sources)
            if less.result.value is not None:
                ours, other = (of.reported.number if of.reported else None for of in (item, base))
                paper = None if ours is None or other is None else ours - other
                yield name, (against_of(less), paper, outcome)

    def less_is_better(self, cell: ShownCell) -> bool:
        """Return whether a cell heads a column with gains of which the lower ones are good."""
        value = cell.item.result.cell.value
        better = value and self.spec.vocabulary.measurement(value).better
        gaining = (each.column for each in self.cells if each.id in self.gains)
        return better == "lower" and cell.column in gaining

    def has_details(self, cell: ShownCell) -> bool:
        """Return whether a cell has a result or an outcome of which there is more to say.

        The size of a network has no seeds: it has details where it was compared, or has a note.
        """
        result = cell.item.result
        run, value = self.runs.get(result.cell.source), result.cell.value
        ended = run is None or bool(run.ended)
        if value and self.spec.vocabulary.measurement(value).of == "network":
            ended &= any((*self._comparison(cell), result.note))
        return ended and result.shown and not result.words.startswith(MISSING)

    def space(self, block: BlockView, place: int) -> str:
        """Return the style of a column's cells: pixels to the right of decimal points, place of 0.

        `--w` is the space of numbers with what follows them, and `--f` that of gains, beside which
        nothing follows numbers (`--n`); `--z` is where a gain of 0 is.
        """
        views = [view for row in block.cells for view in (row[place].ours, row[place].reported)]
        parts = [(*point(view.text), view.spread) for view in views]
        wide = (
            len(fraction) * WIDE + len(rest) * MARK + len(spread) * SMALL
            for head, fraction, rest, spread in parts
            if head
        )
        style = f"--w:{max(wide, default=-GAP) + GAP:.0f}px"
        ids = (row[place].id for row in block.cells)
        for gain in (self.gains[name] for name in ids if name in self.gains):
            digits = gain.decimals + bool(gain.decimals)
            return f"{style};--f:{digits * WIDE + GAP:.0f}px;--n:none;--z:{gain.place(0)}"
        return style

    def shows_learned(self, block: BlockView) -> bool:
        """Return whether a block says how much its runs learned, since nothing is judged."""
        runs = any(cell.item.result.cell.kind == "run" for cell in self.cells)
        return runs and not self.judged and not block.added

    def learned(self, row: tuple[ShownCell, ...]) -> dict[str, Any]:
        """Return how far the runs of a row are below the unigram baseline.

        `nats` are the least and the most, `share` is that of the most in the table in percent, and
        `words` say why there are none.
        """
        row = tuple(cell for cell in row if self._of_run(cell.item))  # and not of its network
        nats, most = self._nats(row), max(self._nats(self.cells), default=0.0)
        # Two numbers that read the same are one.
        bounds = dict.fromkeys(f"{value:.2f}" for value in (nats[0], nats[-1])) if nats else ()
        return {
            "nats": [*map(minus, bounds)],
            "share": f"{100 * max(nats[-1], 0) / most if nats and most > 0 else 0:.0f}",
            "words": ", ".join(dict.fromkeys(run.words for run in self._runs(row))),
        }

    def here(self, row: tuple[ShownCell, ...]) -> str:
        """Return depths and width of a row's runs, where they are other ones than the paper's."""
        widths = {run.spec.model.width: 0 for run in self._runs(row) if run.has_other_width}
        width = f"width {' and '.join(map(str, widths))}" if widths else ""
        return ", ".join(filter(None, (row[0].here, width)))

    def details(self, cell: ShownCell) -> str:
        """Return what is known of a cell: its digits, interval, seeds, comparison and notes."""
        facts = (*self._number_facts(cell), *self._comparison(cell), cell.item.result.note)
        return minus("; ".join(filter(None, facts)))

    def _number_facts(self, cell: ShownCell) -> Iterator[str]:
        result, value = cell.item.result, cell.item.result.cell.value
        against, reported, gain = cell.item.against, cell.item.reported, self.gains.get(cell.id)
        if result.value is None:
            yield result.words + self._seeds(result.cell)
        else:
            unit = value and (value.unit or self.spec.vocabulary.measurement(value).unit)
            spread = f"±{result.stderr:{FEW}}" if result.stderr else ""
            ends, p = "", ""
            if result.cell.less and against and against.low is not None:
                ends, p = f"[{against.low:{FEW}}, {against.high:{FEW}}]", f"; p {against.p:{FEW}}"
            elif result.interval is not None:
                low, high = result.value - result.interval, result.value + result.interval
                ends = f"[{low:{FEW}}, {high:{FEW}}]"
            words = (f"{result.value:{FEW}}", unit, spread, ends)
            yield " ".join(filter(None, words)) + p + self._seeds(result.cell)
        if reported and (printed := reported.outcome or cell.reported.full):
            yield f"paper {printed}"
        yield f"minus {self.base}: {gain.words}" if gain else ""
        share = self.right_language(cell)
        yield f"{share} of hypotheses in the right language" if share not in ("", "100%") else ""

    def _seeds(self, shown: Cell) -> str:
        """Return the number of each seed, where they differ."""
        if shown.less or not shown.source:
            return ""
        readings = self.compared.sources[shown.source].readings(shown.key)
        numbers = [number(shown, reading) for _, reading in readings]
        texts = [
            minus(f"{each.value * factor_of(shown):{FEW}}")
            if isinstance(each, SeedNumber)
            else each.words
            for each in numbers
        ]
        return f", seeds {', '.join(texts)}" if len({*texts}) > 1 else ""

    def _comparison(self, cell: ShownCell) -> Iterator[str]:
        result, reported, verdict = cell.item.result, cell.item.reported, cell.item.verdict
        if verdict and verdict.cause:
            yield f"cause: {verdict.cause}"
        if verdict and verdict.delta is not None and result.cell.value is not None:
            measurement = self.spec.vocabulary.measurement(result.cell.value)
            within = measurement.tolerance(result.cell.task)
            printed = (reported.number, reported.decimals) if reported else (None, 0)
            allowed = allowed_difference(within, *printed, result)
            yield f"{minus(cell.difference)} to the paper's; up to {allowed:{FEW}} is reproduced"
        if reported and reported.right:
            yield f"misprint: printed {reported.value}, must mean {reported.right}"
        if reported and reported.mark:
            yield f"the paper's mark: {reported.mark}"

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


def point(text: str) -> tuple[str, str, str]:
    """Return a number's digits before its decimal point, those after it, and what follows.

    Of what does not begin with a number, all follows.
    """
    match = _NUMBER.match(minus(text))
    return (match[1], match[2] or "", minus(text)[match.end() :]) if match else ("", "", text)


def minus(text: str) -> str:
    """Return a number with a sign as wide as a plus."""
    return f"\u2212{text[1:]}" if text.startswith("-") and text[1:2].isdigit() else text

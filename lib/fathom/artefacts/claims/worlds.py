"""Where the numbers of claims come from: the paper's own cells, or our results."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from statistics import NormalDist, fmean
from typing import Any

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.claims.language import RESULTS, TASKS, Key, Reference
from fathom.artefacts.claims.numbers import Sum, Term, Unfit
from fathom.artefacts.claims.truths import Interval
from fathom.artefacts.table.comparison import ComparedCell, ComparedTable
from fathom.artefacts.table.differences import (
    drawn_sum,
    is_score,
    numbers_by_seed,
    parts_over_seeds,
)
from fathom.artefacts.table.notes import DOUBTFUL
from fathom.artefacts.table.sources import MISSING, ResultSource
from fathom.config.paper import Paper
from fathom.config.project import Project
from fathom.config.schema.columns import Vocabulary
from fathom.config.schema.table import DIFFERENCE, GAIN
from fathom.config.tables import Cell
from fathom.io.errors import nearest
from fathom.scoring.students_t import half_interval

NOT_PRINTED = "not printed"
NO_CELL = "not in this scale's table"
DIGITS = "digits as printed"
PRINTED = "{} interval of printed standard errors"
EXACT = "the same for each training"
SEEDS = "{{}} interval over {} seeds{}, Student's t"
DRAWN = "{{}} bootstrap interval, {:,} draws of the test sets{}"
PAIRED = ", in pairs"
NO_INTERVAL = "{}, no interval: the numbers alone decide"
Place = tuple[str, str]  # the row and the column of a cell


class _World(ABC):
    """The numbers of one origin; each table is read once."""

    def __init__(self, project: Project, paper: Paper):
        self.project, self.paper = project, paper
        self._table = cache(self._read)

    def shown(self, reference: Reference) -> Any:
        """Return cells; a name that does not exist is Unfit."""
        name = reference.table
        if name in self.paper.figures:
            what = f"{name} is a figure, and only cells of tables are compared"
            raise Unfit(what, f"write `figures: [{name}]` in place of `claim` (docs/claims.md)")
        if name not in self.paper.tables:
            raise Unfit(f"no table '{name}'", nearest(name, self.paper.tables))
        cells, terms = self._table(name)
        meant = places(reference, cells)
        for place in meant:
            terms.setdefault(place, _bare(name, place, words=NO_CELL, missing=True))
        # Where a scale has none of the cells, it is one number that is missing.
        terms_shown = [terms[place] for place in meant] or [Term(name, words=NO_CELL, missing=True)]
        numbers = tuple(Sum({term: 1.0}) for term in terms_shown)
        single = len(reference.keys) == 2 and not any(key.several for key in reference.keys)
        return numbers[0] if single else numbers

    @abstractmethod
    def _read(self, name: str) -> tuple[list[Cell], dict[Place, Term]]:
        """Return the cells of a table, and their numbers."""


class Printed(_World):
    """The numbers that a paper prints; names that do not exist are refused here."""

    unread: frozenset[str] = frozenset()  # tables whose reported cells are not asked for

    def shown(self, reference: Reference) -> Any:
        """Return printed cells."""
        if reference.table in self.paper.tables:
            check_cells(reference, self.project.outlined(self.paper.tables[reference.table]))
        return super().shown(reference)

    def interval(self, weights: Mapping[Term, float]) -> Interval:
        """Return the normal interval of printed standard errors, or that the digits decide."""
        errors = [factor * term.stderr for term, factor in weights.items() if term.stderr]
        if not errors:
            return Interval(None, DIGITS)
        normal = NormalDist(sigma=math.hypot(*errors))
        return Interval(lambda outside: -normal.inv_cdf(outside / 2), PRINTED)

    def _read(self, name: str) -> tuple[list[Cell], dict[Place, Term]]:
        table, terms = self.paper.tables[name], {}
        cells = [*self.project.outlined(table)]
        if name in self.unread:
            return cells, terms
        printed = self.paper.printed(name, cells)
        by_place = {(item.row, item.column): item for item in printed if item.value or item.outcome}
        cells = [c for c in cells if c.kind != "unread" or c.ours or (c.id, c.column) in by_place]
        for cell in cells:
            place = (cell.id, cell.column)
            item = by_place.get(place)
            term = _bare(name, place, source=f"{name}/{cell.id}", gain=False)
            if item is None:
                term = replace(term, words=NOT_PRINTED, missing=True)
            elif item.number is None:
                term = replace(term, value=worst(cell, table.vocabulary), words=item.outcome)
            else:
                mark = table.marks.get(item.mark)
                gain = mark is not None and mark.means == GAIN
                term = replace(term, value=item.number, stderr=item.deviation, gain=gain)
            terms[place] = term
        return cells, terms


class Results(_World):
    """The numbers of one scale.

    Where all runs have several seeds, the interval is over seeds. Otherwise the test sets are drawn
    again, in pairs where rows translate the same sentences. Numbers of tokens or checkpoints of one
    seed have no interval, and decide alone. Numbers are those of the seeds that have one; how many
    have none is part of the term.
    """

    def __init__(self, artefacts: Artefacts, paper: Paper):
        super().__init__(artefacts.project, paper)
        self.artefacts = artefacts
        self._sources: dict[str, ResultSource] = {}

    def interval(self, weights: Mapping[Term, float]) -> Interval:
        """Return the interval over seeds of a sum of terms, or else over sentences."""
        weights = {term: factor for term, factor in weights.items() if not term.exact}
        if not weights:
            return Interval(None, EXACT)
        interval = over_seeds(weights)
        return interval if interval.half is not None else self._over_sentences(weights) or interval

    def _read(self, name: str) -> tuple[list[Cell], dict[Place, Term]]:
        compared = self.artefacts.compared(self.paper, self.paper.tables[name])
        self._sources |= compared.sources
        cells, terms = [], {}
        for item in compared.cells:
            cell = item.result.cell
            if cell.kind != "empty":
                cells.append(cell)
                terms[cell.id, cell.column] = _term(name, item, compared)
        return cells, terms

    def _over_sentences(self, weights: Mapping[Term, float]) -> Interval | None:
        """Return the interval over test sentences; None where some are not stored."""
        from fathom.scoring.bootstrap import Paired

        cells = [
            (factor, term.cell)
            for term, factor in weights.items()
            if term.cell is not None and is_score(term.cell) and term.by_seed
        ]
        drawn = drawn_sum(cells, self._sources) if len(cells) == len(weights) else ""
        if isinstance(drawn, str):
            return None
        scores, shared = drawn
        basis = DRAWN.format(len(scores), PAIRED if shared else "")
        return Interval(Paired(0.0, scores).half_at, basis)


def over_seeds(weights: Mapping[Term, float]) -> Interval:
    """Return the interval over seeds, if each run has the same several seeds for all terms."""
    numbers = ((term.source, factor, term.by_seed) for term, factor in weights.items())
    parts = parts_over_seeds(numbers)
    if isinstance(parts, str):
        return Interval(None, NO_INTERVAL.format(parts))
    counts = sorted({seeds for _, seeds in parts})
    paired = PAIRED if len(parts) < len({term.source for term in weights}) else ""
    basis = SEEDS.format(" and ".join(map(str, counts)), paired)
    return Interval(partial(half_interval, parts), basis)


def worst(cell: Cell, vocabulary: Vocabulary) -> float:
    """Return the bad end of what a cell measures; nan where it has none."""
    better = vocabulary.measurement(cell.value).better if cell.value else None
    return {"higher": -math.inf, "lower": math.inf}.get(better or "", math.nan)


def _bare(table: str, place: Place, **parts: Any) -> Term:
    """Return a cell of a table without a number, which is called `table5 “12/12, avg”`."""
    return Term(f"{table} “{place[0]}, {place[1]}”", **parts)


def _term(name: str, item: ComparedCell, table: ComparedTable) -> Term:
    """Return one of our cells as a number of claims."""
    result, vocabulary, cell = item.result, table.table.vocabulary, item.result.cell
    bad = worst(cell, vocabulary)
    mark = table.table.marks.get(item.reported.mark) if item.reported else None
    # A cell that shows its difference to another one, as the paper does, has no seeds.
    is_difference = bool(cell.less) or (mark is not None and mark.means == DIFFERENCE)
    by_seed = {} if is_difference else numbers_by_seed(cell, table.sources)
    term = _bare(
        name,
        (cell.id, cell.column),
        lost=result.lost,
        # A difference is as bad as can be, or as good, by the row that has no result.
        worst=math.nan if is_difference else bad,
        awaited=result.awaited,
        source=cell.source,
        by_seed=by_seed,
        exact=bool(cell.value) and vocabulary.measurement(cell.value).of in ("network", "corpus"),
        cell=result,
        gain=bool(item.mark) if item.tested else None,
        mark=DOUBTFUL if result.doubtful else "",
    )
    if result.value is not None:
        return replace(term, value=result.value)
    if not result.words or result.words.startswith(MISSING) or (result.awaited and not by_seed):
        return replace(term, words=result.words or NO_CELL, missing=True)
    if by_seed:
        return replace(term, value=fmean(by_seed.values()))
    return replace(term, value=bad, words=result.words, lost="")


def places(reference: Reference, cells: Sequence[Cell]) -> list[Place]:
    """Return the row and column of each cell that a claim shows, row by row.

    `:` are all that the paper prints; a row alone is its results, which are not parameters.
    """
    shown = [cell for cell in cells if cell.kind != "empty"]
    there = {(cell.id, cell.column) for cell in shown}
    printed = {cell.column for cell in shown if not cell.ours}
    rows, columns = (*reference.keys, Key(every=RESULTS))[:2]
    meant_places = []
    for row in rows.ids or dict.fromkeys(cell.id for cell in shown if not cell.ours):
        of_row = [cell for cell in shown if cell.id == row and cell.column in printed]
        if columns.every == TASKS:
            of_row = [cell for cell in of_row if cell.task is not None]
        elif columns.every == RESULTS:
            sizes = ("parameters", "setting")
            of_row = [c for c in of_row if c.value is None or c.value.measurement not in sizes]
        meant = columns.ids or [cell.column for cell in of_row]
        meant_places += [(row, column) for column in meant if rows.ids or (row, column) in there]
    return meant_places


def check_cells(reference: Reference, cells: Sequence[Cell]) -> None:
    """Refuse the first row or column that a table does not have."""
    table = reference.table
    if len(reference.keys) > 2:
        raise Unfit(f"{table} has rows and columns only", "give one or two keys")
    rows, columns = (*reference.keys, Key(every=RESULTS))[:2]
    if rows.every in (TASKS, RESULTS):
        raise Unfit(f"`{rows.every}` is not a row of {table}", "write `:` for all rows")
    names = dict.fromkeys(cell.id for cell in cells)
    for row in rows.ids:
        if row not in names:
            raise Unfit(f"{table} has no row '{row}'", nearest(row, names))
    for row in rows.ids or [None]:
        where = table if row is None else f"{table}, row '{row}',"
        line = {cell.column: cell for cell in cells if row in (None, cell.id)}
        for column in columns.ids:
            if column not in line:
                raise Unfit(f"{where} has no column '{column}'", nearest(column, line))
            if row is not None and line[column].kind == "empty":
                raise Unfit(f"{where} is empty in column '{column}'", "name another cell")
    if not places(reference, cells):
        what = f"{table} prints nothing in these rows and columns"
        raise Unfit(what, "name other rows or columns")

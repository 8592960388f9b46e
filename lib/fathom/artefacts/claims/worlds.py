"""Where the numbers of claims come from: the paper's own cells, or our results."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.claims.language import Reference
from fathom.artefacts.claims.names import (
    NO_CELL,
    Labelled,
    Place,
    check_cells,
    curve,
    labelled,
    places,
)
from fathom.artefacts.claims.numbers import Curve, Sum, Term, Unfit
from fathom.artefacts.claims.truths import Interval
from fathom.artefacts.figures import kinds
from fathom.artefacts.table.comparison import ComparedCell, ComparedTable
from fathom.artefacts.table.differences import (
    counts_of,
    is_score,
    same_references,
    statistics_of,
    tasks_of,
)
from fathom.artefacts.table.notes import DOUBTFUL
from fathom.artefacts.table.results import SeedNumber, number
from fathom.artefacts.table.sources import MISSING, ResultSource
from fathom.config.paper import Paper
from fathom.config.project import Project
from fathom.config.schema.columns import Vocabulary
from fathom.config.schema.table import DIFFERENCE, GAIN
from fathom.config.tables import Cell
from fathom.io.errors import nearest
from fathom.scoring.students_t import half_interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import SeedSequence
    from pandas import DataFrame

    from fathom.scoring.sentences import SentenceCounts

NOT_PRINTED = "not printed"
DIGITS = "digits as printed"
PRINTED = "1.96 printed standard errors"
Z = 1.96
EXACT = "the same for each training"
SEEDS = "95 % interval over {} seeds, Student's t"
DRAWN = "95 % bootstrap interval, {:,} draws of the test sets{}"
PAIRED = ", in pairs"
NO_INTERVAL = "{}, no interval: the numbers alone decide"
ALONE = NO_INTERVAL.format("one seed")
UNEVEN = NO_INTERVAL.format("several seeds of some runs and one of others")
OTHER_SEEDS = NO_INTERVAL.format("numbers of one run are of different seeds")
NO_SEEDS = NO_INTERVAL.format("a printed difference has no numbers by seed")


class _World(ABC):
    """The numbers of one origin; each table is read once."""

    def __init__(self, project: Project, paper: Paper):
        self.project, self.paper = project, paper
        self._table = cache(self._read)

    def shown(self, reference: Reference) -> Any:
        """Return cells, a curve or a picture.

        Raises:
            Unfit: If a name does not exist.
            FathomError: If a file cannot be used.
        """
        name = reference.artefact
        if name in self.paper.figures:
            return self._curve(labelled(reference, self.paper.figures[name], self.project), name)
        if name not in self.paper.tables:
            valid = (*self.paper.tables, *self.paper.figures)
            raise Unfit(f"no table or figure '{name}'", nearest(name, valid))
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

    @abstractmethod
    def _curve(self, what: Labelled, figure: str) -> Curve | Sum:
        """Return what labels of a figure name."""


class Printed(_World):
    """The numbers that a paper prints; names that do not exist are refused here."""

    def shown(self, reference: Reference) -> Any:
        """Return printed cells; of a figure, that nothing is printed."""
        if reference.artefact in self.paper.tables:
            check_cells(reference, self.project.cells(self.paper.tables[reference.artefact]))
        return super().shown(reference)

    def interval(self, weights: Mapping[Term, float]) -> Interval:
        """Return 1.96 printed standard errors, or that the digits decide."""
        errors = [factor * term.stderr for term, factor in weights.items() if term.stderr]
        return Interval(Z * math.hypot(*errors), PRINTED) if errors else Interval(None, DIGITS)

    def _curve(self, what: Labelled, figure: str) -> Curve | Sum:
        return what.with_points(Term(figure, words=NOT_PRINTED, missing=True), {})

    def _read(self, name: str) -> tuple[list[Cell], dict[Place, Term]]:
        table, terms = self.paper.tables[name], {}
        cells = [*self.project.cells(table)]
        printed = self.paper.printed(name, cells)
        by_place = {(item.row, item.column): item for item in printed}
        for cell in cells:
            place = (cell.id, cell.column)
            item = by_place.get(place)
            term = _bare(name, place, source=f"{name}/{cell.id}", gain=False)
            if item is None or not (item.value or item.outcome):
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
    again, in pairs where rows translate the same sentences. Numbers of tokens, checkpoints or
    curves of one seed have no interval, and decide alone. Numbers are those of the seeds that have
    one; how many have none is part of the term.
    """

    def __init__(self, artefacts: Artefacts, paper: Paper):
        super().__init__(artefacts.project, paper)
        self.artefacts = artefacts
        self._points = cache(self._read_points)
        self._sources: dict[str, ResultSource] = {}
        self._counts = cache(self._read_counts)
        self._drawn: dict[tuple, np.ndarray] = {}

    def interval(self, weights: Mapping[Term, float]) -> Interval:
        """Return the 95 % interval of a sum of terms.

        Raises:
            FathomError: If counts of sentences are damaged, or are not those of the scores.
        """
        weights = {term: factor for term, factor in weights.items() if not term.exact}
        if not weights:
            return Interval(None, EXACT)
        interval = over_seeds(weights)
        return interval if interval.half is not None else self._over_sentences(weights) or interval

    def _curve(self, what: Labelled, figure: str) -> Curve | Sum:
        return curve(what, self._points(figure), kinds.worst(self.paper.figures[figure]))

    def _read_points(self, figure: str) -> "dict[int, DataFrame]":
        drawn = self.paper.figures[figure]
        return kinds.by_seed(drawn, self.artefacts.inputs(self.paper, drawn))

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
        """Return the interval over test sentences; None where some are not stored.

        One stream draws the same sentences of a task, whatever cell shows them. A cell of several
        tasks comes first, so that its draws are those of its table.
        """
        import numpy as np

        from fathom.scoring.bootstrap import SAMPLES, Paired, streams_of

        sets = {term: self._counts(term) for term in weights}
        if not all(sets.values()):
            return None
        streams: list[tuple[str, SentenceCounts, SeedSequence]] = []
        scores, pairs, group = [], "", 0
        for term in sorted(weights, key=lambda term: -len(sets[term])):
            chosen, fresh = [], streams_of(len(sets[term]), group)
            for (task, (counts, *_)), stream in zip(sets[term].items(), fresh, strict=True):
                same = [
                    earlier
                    for name, other, earlier in streams
                    if name == task and same_references([counts, other])
                ]
                chosen += same[:1] or [stream]
                pairs = PAIRED if same else pairs
                streams.append((task, counts, chosen[-1]))
            group += any(stream in fresh for stream in chosen)
            scores.append(weights[term] * self._draws(term, chosen))
        return Interval(Paired(0.0, np.sum(scores, axis=0)).half, DRAWN.format(SAMPLES, pairs))

    def _read_counts(self, term: Term) -> "dict[str, list[SentenceCounts]]":
        """Return what was counted in a cell's sentences, by task; nothing if they were not kept."""
        if term.cell is None or not is_score(term.cell) or not term.by_seed:
            return {}
        sets = counts_of(term.cell.cell, self._sources) or []
        if not all(len(each[0].counts) > 1 and same_references(each) for each in sets):
            return {}
        return dict(zip(tasks_of(term.cell.cell), sets, strict=bool(sets)))

    def _draws(self, term: Term, streams: "list[SeedSequence]") -> "np.ndarray":
        """Return a cell's score of each draw, in the unit that it prints."""
        from fathom.scoring.bootstrap import drawn_scores

        key = (term, *(stream.spawn_key for stream in streams))
        if key not in self._drawn and term.cell is not None:
            cell = term.cell.cell
            system = statistics_of(cell, self._counts(term).values())
            self._drawn[key] = _factor(cell) * drawn_scores(system, streams=streams)
        return self._drawn[key]


def over_seeds(weights: Mapping[Term, float]) -> Interval:
    """Return the 95 % interval over seeds, if each run has the same several seeds for all terms."""
    parts = parts_over_seeds(weights)
    if isinstance(parts, str):
        return Interval(None, parts)
    counts = sorted({seeds for _, seeds in parts})
    return Interval(half_interval(parts), SEEDS.format(" and ".join(map(str, counts))))


def parts_over_seeds(weights: Mapping[Term, float]) -> list[tuple[float, int]] | str:
    """Return the standard error and seeds of each run in a sum, or why there is no interval.

    Numbers of one run are added seed by seed, runs are independent.
    """
    runs: dict[str, list[Term]] = {}
    for term in weights:
        runs.setdefault(term.source, []).append(term)
    if not all(term.by_seed for term in weights):
        return NO_SEEDS
    if any(
        term.by_seed.keys() != terms[0].by_seed.keys() for terms in runs.values() for term in terms
    ):
        return OTHER_SEEDS
    counts = sorted({len(term.by_seed) for term in weights})
    if counts[0] == 1:
        return ALONE if counts == [1] else UNEVEN
    parts = []
    for terms in runs.values():
        numbers = [
            math.fsum(weights[term] * term.by_seed[seed] for term in terms)
            for seed in terms[0].by_seed
        ]
        parts.append((stdev(numbers) / math.sqrt(len(numbers)), len(numbers)))
    return parts


def worst(cell: Cell, vocabulary: Vocabulary) -> float:
    """Return the bad end of what a cell measures; nan where it has none."""
    better = vocabulary.measurement(cell.value).better if cell.value else None
    return {"higher": -math.inf, "lower": math.inf}.get(better or "", math.nan)


def _factor(cell: Cell) -> float:
    """Return what makes a measurement a number in the unit that its cell prints."""
    return cell.value.factor if cell.value else 1.0


def _bare(artefact: str, place: Place, **parts: Any) -> Term:
    """Return a cell of a table without a number, which is called `table5 “12/12” avg`."""
    return Term(f"{artefact} “{place[0]}” {place[1]}", of_table=True, **parts)


def _term(artefact: str, item: ComparedCell, table: ComparedTable) -> Term:
    """Return one of our cells as a number of claims."""
    result, vocabulary, cell = item.result, table.table.vocabulary, item.result.cell
    bad = worst(cell, vocabulary)
    mark = table.table.marks.get(item.reported.mark) if item.reported else None
    # A cell that shows its difference to another one, as the paper does, has no seeds.
    is_difference = mark is not None and mark.means == DIFFERENCE
    by_seed = {} if is_difference else numbers_by_seed(cell, table.sources)
    term = _bare(
        artefact,
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


def numbers_by_seed(cell: Cell, sources: Mapping[str, ResultSource]) -> dict[int, float]:
    """Return a cell's number of each seed that has one, in the unit that it prints."""
    readings = sources[cell.source].readings(cell.key)
    numbers = ((seed, number(cell, reading)) for seed, reading in readings)
    return {
        seed: found.value * _factor(cell)
        for seed, found in numbers
        if isinstance(found, SeedNumber)
    }

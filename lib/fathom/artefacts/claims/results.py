"""Our results as numbers of claims, and the intervals of what is computed from them.

Where all runs have several seeds, the interval is over seeds. Otherwise the test sets are drawn
again, in pairs where rows translate the same sentences. Numbers of tokens, checkpoints or curves of
one seed have no interval, and decide alone.

Numbers are those of the seeds that have one. How many have none is part of the term.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from fathom.artefacts.claims.evidence import Interval
from fathom.artefacts.claims.expressions import Reference
from fathom.artefacts.claims.quantities import Quantity, Sum, Term
from fathom.artefacts.claims.references import NO_CELL, name_of, places, quantity, worst
from fathom.artefacts.table.comparison import ComparedCell, ComparedTable
from fathom.artefacts.table.differences import (
    counts_of,
    is_score,
    same_references,
    statistics_of,
    tasks_of,
)
from fathom.artefacts.table.notes import DOUBTFUL
from fathom.artefacts.table.results import Number, number
from fathom.artefacts.table.sources import MISSING
from fathom.config.schema.table import DIFFERENCE
from fathom.config.tables import Cell
from fathom.scoring.students_t import half_interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import SeedSequence

    from fathom.scoring.sentences import Sentences

EXACT = "the same for each training"
SEEDS = "95 % interval over {} seeds, Student's t"
DRAWN = "95 % bootstrap interval, {:,} draws of the test sets{}"
PAIRED = ", in pairs"
NO_INTERVAL = "{}, no interval: the numbers alone decide"
ALONE = NO_INTERVAL.format("one seed")
UNEVEN = NO_INTERVAL.format("several seeds of some runs and one of others")
OTHER_SEEDS = NO_INTERVAL.format("numbers of one run are of different seeds")
NO_SEEDS = NO_INTERVAL.format("a printed difference has no numbers by seed")


@dataclass(frozen=True)
class Results:
    """The numbers of one scale.

    Attributes:
        tables: the tables that claims show, by name.
        curves: from a figure's labels to a curve, a picture or a number.
    """

    tables: Mapping[str, ComparedTable]
    curves: Callable[[Reference], Quantity]
    _terms: dict[tuple[str, str, str], Term] = field(default_factory=dict, repr=False)
    _sets: "dict[Term, list[list[Sentences]] | None]" = field(default_factory=dict, repr=False)
    _drawn: "dict[tuple, np.ndarray]" = field(default_factory=dict, repr=False)

    def shown(self, reference: Reference) -> Quantity:
        """Return cells, or a curve.

        Raises:
            FathomError: a file cannot be used.
        """
        if reference.artefact not in self.tables:
            return self.curves(reference)
        cells = [item.result.cell for item in self.tables[reference.artefact].cells]
        terms = [self._term(reference, place) for place in places(reference, cells)]
        return quantity(reference, [Sum({term: 1.0}) for term in terms])

    def interval(self, weights: Mapping[Term, float]) -> Interval:
        """Return the 95 % interval of a sum of terms.

        Raises:
            FathomError: counts of sentences are damaged, or are not those of the scores.
        """
        weights = {term: factor for term, factor in weights.items() if not term.exact}
        if not weights:
            return Interval(None, EXACT)
        over = over_seeds(weights) or self._over_sentences(weights)
        return over or Interval(None, _why_alone(weights))

    def gains(self, term: Term) -> bool | None:
        """Return whether a cell has the paper's mark of a significant gain; None without a test."""
        item = self._item(term)[1]
        return bool(item.mark) if item.tested else None

    def _item(self, term: Term) -> tuple[ComparedTable, ComparedCell]:
        """Return the cell of a term in its table."""
        return next(
            (table, item)
            for table in self.tables.values()
            for item in table.cells
            if item.result is term.cell
        )

    def _term(self, reference: Reference, place: tuple[str, str]) -> Term:
        key = (reference.artefact, *place)
        if key not in self._terms:
            table = self.tables[reference.artefact]
            cells = {(one.result.cell.id, one.result.cell.column): one for one in table.cells}
            self._terms[key] = _term(name_of(reference, place), cells.get(place), table)
        return self._terms[key]

    def _over_sentences(self, weights: Mapping[Term, float]) -> Interval | None:
        """Return the interval over test sentences; None where some are not stored."""
        import numpy as np

        from fathom.scoring.paired import SAMPLES, Paired

        if any(self._counts(term) is None for term in weights):
            return None
        streams = self._streams(weights)
        drawn = [factor * self._draws(term, streams[term]) for term, factor in weights.items()]
        used = [stream.spawn_key for own in streams.values() for stream in own]
        pairs = PAIRED if len({*used}) < len(used) else ""
        return Interval(Paired(0.0, np.sum(drawn, axis=0)).half, DRAWN.format(SAMPLES, pairs))

    def _counts(self, term: Term) -> "list[list[Sentences]] | None":
        """Return what was counted in a cell's sentences; None where they cannot be drawn again."""
        if term not in self._sets:
            sets = None
            if term.cell is not None and is_score(term.cell):
                table, item = self._item(term)
                if not _is_difference(item, table):
                    sets = counts_of(term.cell.cell, table.sources)
            same = sets is not None and all(same_references(one) for one in sets)
            several = same and all(len(one[0].counts) > 1 for one in sets or ())
            self._sets[term] = sets if several else None
        return self._sets[term]

    def _streams(self, terms: Iterable[Term]) -> "dict[Term, list[SeedSequence]]":
        """Return what draws each test set of some cells: the same for the same sentences.

        A cell of several tasks comes first, so that its draws are those of its table.
        """
        from fathom.scoring.paired import streams_of

        drawn: list[tuple[str, list[Sentences], SeedSequence]] = []
        streams, group = {}, 0
        for term in sorted(terms, key=lambda one: -len(self._counts(one) or ())):
            sets = self._counts(term) or []
            tasks = tasks_of(term.cell.cell) if term.cell else ()
            known = [_stream(task, one, drawn) for task, one in zip(tasks, sets, strict=True)]
            fresh = streams_of(len(sets), group)
            group += None in known
            own = [new if old is None else old for old, new in zip(known, fresh, strict=True)]
            drawn += zip(tasks, sets, own, strict=True)
            streams[term] = own
        return streams

    def _draws(self, term: Term, streams: "list[SeedSequence]") -> "np.ndarray":
        from fathom.scoring.paired import drawn_scores

        key = (term, *(stream.spawn_key for stream in streams))
        if key not in self._drawn and term.cell is not None:
            cell = term.cell.cell
            factor = cell.value.factor if cell.value else 1.0
            system = statistics_of(cell, self._counts(term) or [])
            self._drawn[key] = factor * drawn_scores(system, streams=streams)
        return self._drawn[key]


def _stream(
    task: str,
    trainings: "list[Sentences]",
    drawn: "Iterable[tuple[str, list[Sentences], SeedSequence]]",
) -> "SeedSequence | None":
    """Return what draws a task's sentences already; None if nothing does."""
    return next(
        (
            stream
            for name, other, stream in drawn
            if name == task and same_references([trainings[0], other[0]])
        ),
        None,
    )


def over_seeds(weights: Mapping[Term, float]) -> Interval | None:
    """Return the 95 % interval over seeds; None unless each run has the same several for all terms.

    Numbers of one run are added seed by seed, runs are independent.
    """
    parts = []
    for terms in _by_run(weights).values():
        first, *others = [{*term.by_seed} for term in terms]
        if len(first) < 2 or any(own != first for own in others):
            return None
        numbers = [
            math.fsum(weights[term] * term.by_seed[seed] for term in terms) for seed in first
        ]
        parts.append((stdev(numbers) / math.sqrt(len(numbers)), len(numbers)))
    words = " and ".join(map(str, sorted({seeds for _, seeds in parts})))
    return Interval(half_interval(parts), SEEDS.format(words))


def _by_run(terms: Iterable[Term]) -> dict[str, list[Term]]:
    by_run: dict[str, list[Term]] = {}
    for term in terms:
        by_run.setdefault(term.source, []).append(term)
    return by_run


def _why_alone(terms: Iterable[Term]) -> str:
    """Return why there is no interval over seeds."""
    by_run = _by_run(terms).values()
    if not all(term.by_seed for own in by_run for term in own):
        return NO_SEEDS
    if any(len({frozenset(term.by_seed) for term in own}) > 1 for own in by_run):
        return OTHER_SEEDS
    return UNEVEN if any(len(own[0].by_seed) > 1 for own in by_run) else ALONE


def _term(name: str, item: ComparedCell | None, table: ComparedTable) -> Term:
    if item is None:
        return Term(name, math.nan, NO_CELL, missing=True)
    own, vocabulary, cell = item.result, table.table.vocabulary, item.result.cell
    bad = worst(cell, vocabulary)
    of = vocabulary.measurement(cell.value).of if cell.value else ""
    is_difference = _is_difference(item, table)
    by_seed = {} if is_difference else _by_seed(cell, table)
    term = Term(
        name,
        bad if own.value is None else own.value,
        lost=own.lost,
        # A difference is as bad as can be, or as good, by the row that has no result.
        worst=math.nan if is_difference else bad,
        awaited=own.awaited,
        source=cell.source,
        by_seed=by_seed,
        exact=of in ("network", "corpus"),
        cell=own,
        mark=DOUBTFUL if own.doubtful else "",
    )
    if own.value is not None:
        return term
    if not own.words or own.words.startswith(MISSING) or (own.awaited and not by_seed):
        return replace(term, value=math.nan, words=own.words or NO_CELL, missing=True)
    if by_seed:
        return replace(term, value=fmean(by_seed.values()))
    return replace(term, words=own.words, lost="")


def _is_difference(item: ComparedCell, table: ComparedTable) -> bool:
    """Return whether a cell shows its difference to another one, as the paper does."""
    mark = table.table.marks.get(item.reported.mark) if item.reported else None
    return mark is not None and mark.means == DIFFERENCE


def _by_seed(cell: Cell, table: ComparedTable) -> dict[int, float]:
    """Return a cell's number of each seed that has one, in the unit that it prints."""
    factor = cell.value.factor if cell.value else 1.0
    readings = table.sources[cell.source].readings(cell.key)
    numbers = ((seed, number(cell, reading)) for seed, reading in readings)
    return {seed: one.value * factor for seed, one in numbers if isinstance(one, Number)}

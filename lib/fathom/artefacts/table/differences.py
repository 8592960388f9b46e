"""A cell less another one; rows that are scored on the same sentences are drawn again in pairs."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import stdev
from typing import TYPE_CHECKING

from fathom.artefacts.table.results import CellResult, SeedNumber, number
from fathom.artefacts.table.sources import ResultSource
from fathom.config.measurement_keys import words_of
from fathom.config.schema.table import Mark
from fathom.config.tables import Cell
from fathom.io.commands import again
from fathom.io.errors import FathomError
from fathom.scoring.students_t import Parts, half_interval, p_value

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import SeedSequence

    from fathom.scoring.bootstrap import Paired
    from fathom.scoring.sentences import SentenceCounts

PAIRED = "95 % paired bootstrap interval of the difference, {:,} draws"
OVER_SEEDS = "95 % interval of the difference over seeds, Student's t"
BY_SEED = "95 % interval of the differences of equal seeds, Student's t"
OTHER_METRIC, OTHER_SENTENCES = "another metric", "other test sentences"
NO_INTERVAL = "no interval of the difference"
NO_COUNTS, ONE_SENTENCE = "no counts of sentences are stored", "a test set of one sentence"
ALONE, UNEVEN = "one seed", "several seeds of some runs and one of others"
OTHER_SEEDS = "numbers of one run are of different seeds"
NO_SEEDS = "a printed difference has no numbers by seed"
LEVEL = 0.95  # of a mark that names none
ROUNDING = 1e-5  # scores are stored with six decimals


@dataclass(frozen=True)
class Difference:
    """A cell less another one."""

    # The difference in place of the cell's value, `stderr` and `interval` with it. With several
    # seeds in both rows `stderr` is over seeds, as in other cells. The note says why there is no
    # interval.
    result: CellResult
    paired: "Paired | None" = None  # the draws of the test set, in the cell's unit
    unpaired: str = ""  # why two scores have no draws
    parts: Parts = ()  # of `parts_over_seeds`; empty unless all runs have several seeds

    @property
    def over_seeds(self) -> float | None:
        """Half of the 95 % interval over seeds; None without several."""
        return half_interval(self.parts) if self.parts else None

    @property
    def p_over_seeds(self) -> float | None:
        """The p of Student's t test, paired or Welch's as `parts` are; None without several."""
        return p_value(self.result.value or 0.0, self.parts) if self.parts else None

    @property
    def half(self) -> float | None:
        """Half of the 95 % interval: over seeds where there are several, else of the pairing."""
        return self.result.interval if self.over_seeds is None else self.over_seeds

    @property
    def p(self) -> float | None:
        """The p of no difference, of what gives the interval; None without one."""
        if self.over_seeds is None and self.paired is not None:
            return self.paired.p
        return self.p_over_seeds

    @property
    def method(self) -> str:
        """What the interval is, in words; empty without one."""
        if self.half is None:
            return ""
        if self.over_seeds is not None or self.paired is None:
            return BY_SEED if len(self.parts) == 1 else OVER_SEEDS
        return PAIRED.format(len(self.paired.drawn))


def difference(
    cell: CellResult, base: CellResult, sources: Mapping[str, ResultSource]
) -> Difference:
    """Return a cell less another one, of runs in `sources`."""
    of_base = f"{base.cell.row}: {base.note}" if base.note else ""
    lost = f"{base.cell.row}: {base.lost}" if base.lost else ""
    less = replace(
        cell,
        value=None,
        stderr=None,
        interval=None,
        deviation=None,
        lost=_joined(cell.lost, lost),
        awaited=cell.awaited + base.awaited,
        note=_joined(cell.note, of_base),
    )
    if cell.value is None or base.value is None:
        words = cell.words if cell.value is None else f"{base.words} ({base.cell.row})"
        return Difference(replace(less, words=words))
    errors = [each.stderr for each in (cell, base) if each.stderr is not None]
    less = replace(
        less,
        value=cell.value - base.value,
        comparable=cell.comparable and base.comparable,
        rebuilt=cell.rebuilt or base.rebuilt,
        stderr=math.hypot(*errors) if len(errors) == 2 else None,
        doubtful=cell.doubtful or base.doubtful,
    )
    parts = parts_over_seeds(
        (each.cell.source, factor, numbers_by_seed(each.cell, sources))
        for each, factor in ((cell, 1.0), (base, -1.0))
    )
    if isinstance(parts, str):
        parts = ()
    else:
        deviation = math.hypot(*(error * math.sqrt(seeds) for error, seeds in parts))
        less = replace(less, stderr=math.hypot(*(error for error, _ in parts)), deviation=deviation)
    if not is_score(cell) or not is_score(base):
        return Difference(less, parts=parts)

    paired = pair(cell, base, sources)
    if isinstance(paired, str):
        note = _joined(less.note, f"{NO_INTERVAL}: {paired}")
        shown = less if parts else replace(less, stderr=None, note=note)
        return Difference(shown, unpaired=paired, parts=parts)
    stderr = less.stderr if parts else paired.stderr
    return Difference(replace(less, stderr=stderr, interval=paired.half), paired, parts=parts)


def parts_over_seeds(
    numbers: Iterable[tuple[str, float, Mapping[int, float]]],
) -> list[tuple[float, int]] | str:
    """Return standard errors and seeds of the independent parts of a sum, or why there are none.

    `numbers` are terms of the sum: the run, a factor, and a number of each seed. Those of one run
    are added seed by seed. So are those of all runs where all have the same seeds, which share the
    order of data: the sum is one part then. Otherwise each run is a part.
    """
    runs: dict[str, list[tuple[float, Mapping[int, float]]]] = {}
    for run, factor, by_seed in numbers:
        runs.setdefault(run, []).append((factor, by_seed))
    terms = [by_seed for of_run in runs.values() for _, by_seed in of_run]
    if not all(terms):
        return NO_SEEDS
    seeds = [[by_seed.keys() for _, by_seed in of_run] for of_run in runs.values()]
    if any(each != first for first, *rest in seeds for each in rest):
        return OTHER_SEEDS
    if any(len(by_seed) == 1 for by_seed in terms):
        return ALONE if all(len(by_seed) == 1 for by_seed in terms) else UNEVEN
    groups = [*runs.values()]
    if all(each == seeds[0][0] for each, *_ in seeds):
        groups = [[term for of_run in groups for term in of_run]]
    sums = [
        [math.fsum(factor * by_seed[seed] for factor, by_seed in group) for seed in group[0][1]]
        for group in groups
    ]
    return [(stdev(by_seed) / math.sqrt(len(by_seed)), len(by_seed)) for by_seed in sums]


def numbers_by_seed(cell: Cell, sources: Mapping[str, ResultSource]) -> dict[int, float]:
    """Return a cell's number of each seed that has one, in the unit that it prints."""
    readings = sources[cell.source].readings(cell.key)
    numbers = ((seed, number(cell, reading)) for seed, reading in readings)
    return {
        seed: found.value * factor_of(cell)
        for seed, found in numbers
        if isinstance(found, SeedNumber)
    }


def factor_of(cell: Cell) -> float:
    """Return what makes a measurement a number in the unit that its cell prints."""
    return cell.value.factor if cell.value else 1.0


def pair(
    cell: CellResult,
    base: CellResult,
    sources: Mapping[str, ResultSource],
    samples: int | None = None,
    share: float | None = None,
) -> "Paired | str":
    """Return the draws of a cell's score less that of the base, or why there are none.

    There are `samples` draws of a `share` of the sentences; None as for all differences.
    """
    if _metric(cell) != _metric(base):
        return OTHER_METRIC
    drawn = drawn_sum([(1.0, cell), (-1.0, base)], sources, samples, share)
    if isinstance(drawn, str):
        return drawn
    scores, shared = drawn
    if not tasks_of(cell.cell) == tasks_of(base.cell) == shared:
        return OTHER_SENTENCES
    from fathom.scoring.bootstrap import Paired

    # The difference that the cells show, so that the interval and p are about the same number.
    return Paired((cell.value or 0.0) - (base.value or 0.0), scores)


def drawn_sum(
    terms: Sequence[tuple[float, CellResult]],
    sources: Mapping[str, ResultSource],
    samples: int | None = None,
    share: float | None = None,
) -> "tuple[np.ndarray, tuple[str, ...]] | str":
    """Return a weighted sum of scores in each draw of their test sets, or why there are none.

    The same sentences of a task are drawn together, whatever cell shows them. A cell of several
    tasks comes first, so that its draws are those of its table. The second result are the tasks
    whose sentences a cell shares with an earlier cell.

    `terms` have a factor and a cell with a score; `samples` and `share` are as for `pair`.
    """
    import numpy as np

    from fathom.scoring.bootstrap import drawn_scores, streams_of
    from fathom.scoring.metrics import of_key

    systems: list[tuple[float, Cell, list[list[SentenceCounts]]]] = []
    for factor, item in terms:
        counts = counts_of(item.cell, sources)
        if counts is None:
            return NO_COUNTS
        if not all(map(same_references, counts)):
            return OTHER_SENTENCES
        if any(len(trainings[0].counts) < 2 for trainings in counts):
            return ONE_SENTENCE
        systems.append((factor, item.cell, counts))
    seen: list[tuple[str, SentenceCounts, SeedSequence]] = []
    shared, drawn, group = [], [], 0
    for factor, cell, counts in sorted(systems, key=lambda system: -len(system[2])):
        streams, fresh = [], streams_of(len(counts), group)
        for task, (first, *_), stream in zip(tasks_of(cell), counts, fresh, strict=True):
            of_task = [(other, earlier) for name, other, earlier in seen if name == task]
            same = [earlier for other, earlier in of_task if same_references([first, other])]
            shared += [task] if same else []
            streams += same[:1] or [stream]
            seen.append((task, first, streams[-1]))
        group += any(stream in fresh for stream in streams)
        keys = tuple(stream.spawn_key for stream in streams)
        metric = of_key(cell.key)
        statistics = [[each.statistics(metric) for each in trainings] for trainings in counts]
        scores = sources[cell.source].kept(
            ("drawn", cell.key, tasks_of(cell), keys, samples, share),
            partial(drawn_scores, statistics, samples, streams, share or 1.0),
        )
        drawn.append(factor * factor_of(cell) * scores)
    return np.sum(drawn, axis=0), tuple(shared)


def significantly_better(
    mark: Mark,
    cell: CellResult,
    base: CellResult,
    sources: Mapping[str, ResultSource],
    lower: bool = False,
) -> bool | None:
    """Return whether a cell is significantly better than another one; None without a test.

    As compare-mt decides: it is better, or `lower`, in at least a share of the draws.
    """
    if mark.test is None or not is_score(cell) or not is_score(base):
        return None
    paired = pair(cell, base, sources, mark.draws, mark.share)
    if isinstance(paired, str):
        return None
    return (paired.losses if lower else paired.wins) >= (mark.level or LEVEL)


def is_score(item: CellResult) -> bool:
    """Return whether a cell has a score of test sentences."""
    value = item.cell.value
    return item.value is not None and value is not None and value.counts_sentences


def tasks_of(cell: Cell) -> tuple[str, ...]:
    """Return the tasks whose sentences a cell counts."""
    return (cell.task,) if cell.task else cell.tasks


def counts_of(
    cell: Cell, sources: Mapping[str, ResultSource]
) -> "list[list[SentenceCounts]] | None":
    """Return the counts of sentences by task and training with a value; None if none are stored.

    Counts that are damaged, or not those of the scores, are refused.
    """
    from fathom.scoring.metrics import of_key

    source = sources[cell.source]
    readings = [
        (seed, reading.record)
        for seed, reading in source.readings(cell.key)
        if reading.record is not None and isinstance(number(cell, reading), SeedNumber)
    ]
    sets = []
    for task in tasks_of(cell):
        trainings = []
        for seed, record in readings:
            read = source.sentences(cell.key, seed, task)
            if read is None:
                return None
            counted = read.statistics(of_key(cell.key)).value
            measured = record.tasks[task].value
            if abs(counted - measured) > ROUNDING:
                raise FathomError(
                    f"the counts of {task} give {counted:.6f}, and the measurement is {measured}",
                    str(file := source.files(cell.key)[seed]),
                    again(file),
                )
            trainings.append(read)
        sets.append(trainings)
    return sets


def same_references(trainings: "list[SentenceCounts]") -> bool:
    """Return whether all were scored on the same sentences."""
    first, *rest = [training.references for training in trainings]
    return all(first.shape == each.shape and (first == each).all() for each in rest)


def _metric(cell: CellResult) -> tuple:
    """Return what a score was computed with: key without gates, unit, sacreBLEU's signature."""
    name, qualifiers = words_of(cell.cell.key)
    qualifiers.pop("gates", None)
    return name, qualifiers, cell.cell.value and cell.cell.value.unit, cell.how


def _joined(*notes: str) -> str:
    return "; ".join(filter(None, notes))

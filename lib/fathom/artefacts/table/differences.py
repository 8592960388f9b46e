"""A cell less another one; rows that are scored on the same sentences are drawn again in pairs."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fathom.artefacts.table.results import CellResult, SeedNumber, number
from fathom.artefacts.table.sources import ResultSource
from fathom.config.measurement_keys import words_of
from fathom.config.schema.table import Mark
from fathom.config.tables import Cell
from fathom.io.errors import FathomError
from fathom.scoring.students_t import half_interval, p_value

if TYPE_CHECKING:
    from fathom.scoring.bootstrap import Paired
    from fathom.scoring.metrics import Statistics
    from fathom.scoring.sentences import SentenceCounts

PAIRED = "95 % paired bootstrap interval of the difference, {:,} draws"
OVER_SEEDS = "95 % interval of the difference over seeds, Student's t"
OTHER_METRIC, OTHER_SENTENCES = "another metric", "other test sentences"
NO_INTERVAL = "no interval of the difference"
NO_COUNTS, ONE_SENTENCE = "no counts of sentences are stored", "a test set of one sentence"
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
    over_seeds: float | None = None  # half of the 95 % interval; None unless both have several
    p_over_seeds: float | None = None  # of Welch's t test, with `over_seeds`

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
            return OVER_SEEDS
        return PAIRED.format(len(self.paired.drawn))


def difference(
    cell: CellResult, base: CellResult, sources: Mapping[str, ResultSource]
) -> Difference:
    """Return a cell less another one, of runs in `sources`.

    Raises:
        FathomError: If counts of sentences are damaged, or are not those of the scores.
    """
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
    less = replace(
        less,
        value=cell.value - base.value,
        comparable=cell.comparable and base.comparable,
        stderr=_hypotenuse(cell.stderr, base.stderr),
        deviation=_hypotenuse(cell.deviation, base.deviation),
        doubtful=cell.doubtful or base.doubtful,
    )
    over_seeds = p_over_seeds = None
    if less.deviation is not None and cell.stderr is not None and base.stderr is not None:
        parts = [(cell.stderr, cell.seeds), (base.stderr, base.seeds)]
        over_seeds, p_over_seeds = half_interval(parts), p_value(less.value or 0.0, parts)
    if not is_score(cell) or not is_score(base):
        return Difference(less, over_seeds=over_seeds, p_over_seeds=p_over_seeds)

    paired = pair(cell, base, sources)
    if isinstance(paired, str):
        note = _joined(less.note, f"{NO_INTERVAL}: {paired}")
        alone = replace(less, stderr=None, note=note)
        shown = alone if over_seeds is None else less
        return Difference(shown, over_seeds=over_seeds, p_over_seeds=p_over_seeds)
    stderr = paired.stderr if over_seeds is None else less.stderr
    less = replace(less, stderr=stderr, interval=paired.half)
    return Difference(less, paired, over_seeds, p_over_seeds)


def pair(
    cell: CellResult,
    base: CellResult,
    sources: Mapping[str, ResultSource],
    samples: int | None = None,
    share: float | None = None,
) -> "Paired | str":
    """Return the draws of a cell's score less that of the base, or why there are none.

    Args:
        cell: the cell.
        base: what is subtracted.
        sources: the runs of both, by name.
        samples: number of draws; None for sacreBLEU's.
        share: the size of a draw as a share of the sentences; None for all of them.

    Raises:
        FathomError: If counts of sentences are damaged, or are not those of the scores.
    """
    if _metric(cell) != _metric(base):
        return OTHER_METRIC
    if tasks_of(cell.cell) != tasks_of(base.cell):
        return OTHER_SENTENCES
    first, second = counts_of(cell.cell, sources), counts_of(base.cell, sources)
    if first is None or second is None:
        return NO_COUNTS
    if not all(same_references([*ours, *bases]) for ours, bases in zip(first, second, strict=True)):
        return OTHER_SENTENCES
    if any(len(trainings[0].counts) < 2 for trainings in first):
        return ONE_SENTENCE
    from fathom.scoring.bootstrap import SAMPLES, Paired, paired_bootstrap

    systems = statistics_of(cell.cell, first), statistics_of(cell.cell, second)
    paired = paired_bootstrap(*systems, samples=samples or SAMPLES, share=share or 1.0)
    factor = cell.cell.value.factor if cell.cell.value else 1.0
    # The difference that the cells show, so that the interval and p are about the same number.
    return Paired((cell.value or 0.0) - (base.value or 0.0), paired.drawn * factor)


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
    """Return the counts of each task's sentences, by task and training with a value.

    None where nothing is stored.

    Raises:
        FathomError: If the counts are damaged, or are not those of the scores.
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
                    str(source.files(cell.key)[seed]),
                    "score again: fathom score",
                )
            trainings.append(read)
        sets.append(trainings)
    return sets


def statistics_of(
    cell: Cell, sets: "Iterable[Iterable[SentenceCounts]]"
) -> "list[list[Statistics]]":
    """Return the counts of a cell's metric alone."""
    from fathom.scoring.metrics import of_key

    metric = of_key(cell.key)
    return [[counts.statistics(metric) for counts in trainings] for trainings in sets]


def same_references(trainings: "list[SentenceCounts]") -> bool:
    """Return whether all were scored on the same sentences."""
    first, *rest = [training.references for training in trainings]
    return all(first.shape == each.shape and (first == each).all() for each in rest)


def _metric(cell: CellResult) -> tuple:
    """Return what a score was computed with: key without gates, unit, sacreBLEU's signature."""
    name, qualifiers = words_of(cell.cell.key)
    qualifiers.pop("gates", None)
    return name, qualifiers, cell.cell.value and cell.cell.value.unit, cell.how


def _hypotenuse(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else math.hypot(first, second)


def _joined(*notes: str) -> str:
    return "; ".join(filter(None, notes))

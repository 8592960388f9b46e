"""The value of a cell over the seeds of its run, or the words that take its place."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

from fathom.artefacts.table.sources import (
    MISSING,
    NOT_MEASURED,
    NOT_RUN,
    Reading,
    Source,
    lost_words,
    without_update,
)
from fathom.config.tables import Cell
from fathom.results import measurements
from fathom.results.measurements import Record

NAMED_TASKS = 2
NO_NUMBER = "without a number"  # e.g. since the gates left no layer


@dataclass(frozen=True)
class Number:
    """One number of one seed.

    Attributes:
        value, stderr: in the measurement's unit; the standard error over test sentences, or over
            the checkpoints of a window.
        interval: half of the 95 % interval over test sentences.
        sentences: test sentences; of a mean, those of all its tasks.
        how: how it was computed, e.g. sacreBLEU's signature.
    """

    value: float
    stderr: float | None = None
    interval: float | None = None
    sentences: int | None = None
    how: str = ""


@dataclass(frozen=True)
class CellResult:
    """A cell's value over seeds.

    Attributes:
        cell: the cell.
        value: mean over the seeds that have a value, in the unit that the cell prints.
        stderr: of the mean over seeds; with one seed the one over test sentences. Same unit.
        interval: half of the 95 % interval over test sentences, averaged over seeds. Same unit.
        deviation: standard deviation over seeds (n - 1); None with fewer than two. Same unit.
        seeds: how many seeds the value, or the words, represent.
        of: how many seeds the run has.
        lost: how many of several seeds ended without a number, in words: `2 of 5 seeds diverged`.
        awaited: how many seeds have neither a number nor an outcome yet.
        sentences: test sentences of the value; None where tokens or checkpoints are counted.
        words: what is printed where there is no value; empty for an empty cell.
        note: what a reader must know in addition.
        how: how each number was computed.
        comparable: whether the run's settings are the paper's.
        doubtful: whether the measurement itself says that its number means little.
    """

    cell: Cell
    value: float | None = None
    stderr: float | None = None
    interval: float | None = None
    deviation: float | None = None
    seeds: int = 0
    of: int = 0
    lost: str = ""
    awaited: int = 0
    sentences: int | None = None
    words: str = ""
    note: str = ""
    how: tuple[str, ...] = ()
    comparable: bool = False
    doubtful: bool = False


def result(cell: Cell, sources: Mapping[str, Source]) -> CellResult:
    """Return the value of a cell.

    Seeds that disagree give a value if at least half of those that were trained have one; a note
    names the others.

    Args:
        cell: the cell; an empty one has neither value nor words.
        sources: runs and corpora by name.

    Raises:
        FathomError: a measurement file cannot be used.
    """
    if cell.kind == "empty":
        return CellResult(cell)
    source = sources[cell.source]
    readings = [reading for _, reading in source.readings(cell.key)]
    outcomes = [number(cell, reading) for reading in readings]
    numbers = [item for item in outcomes if isinstance(item, Number)]
    without = [item for item in outcomes if isinstance(item, Reading)]
    seeds, lost = len(source.folders), [item for item in without if not _is_missing(item)]
    kinds = (item.words if item.outcome else NO_NUMBER for item in lost)
    bare = CellResult(
        cell,
        of=seeds,
        lost=lost_words(kinds, seeds),
        awaited=seeds - len(numbers) - len(lost),
        comparable=source.comparable,
    )
    if not numbers or len(numbers) < len(without):
        untrained = [Reading(words=NOT_RUN)] * (seeds - len(outcomes))
        return _without_value(bare, [*without, *untrained])
    counts = Counter(reading.words for reading in without)
    notes = [f"{count} of {seeds} seeds: {words}" for words, count in counts.items()]
    notes += dict.fromkeys(f"stale: {item.stale}" for item in readings if item.stale)
    records = [item.record for item in readings if item.record]
    doubts = dict.fromkeys(record.doubt for record in records if record.doubt)
    own = _with_value(bare, numbers, "; ".join([*notes, *doubts]))
    return replace(own, doubtful=bool(doubts))


def number(cell: Cell, reading: Reading) -> Number | Reading:
    """Return a cell's number from one record, or why it has none.

    A cell of one task has that task's number. Any other cell has the number over all tasks where
    the table's block shows all of them, or else the mean over those that it shows. A record without
    tasks, such as the number of parameters, has the same number for each.
    """
    record = reading.record
    if record is None:
        return reading
    measured = (*record.tasks, *record.missing)
    if cell.task is not None and measured:
        return _task_number(cell.task, record)
    tasks = cell.tasks or measured
    if record.all is not None and set(tasks) >= set(measured):
        return _number(record.all, record)
    return _mean({task: _task_number(task, record) for task in tasks})


def _task_number(task: str, record: Record) -> Number | Reading:
    """Return one task's number; a task that the gates left without a layer has none."""
    if task in record.tasks:
        return _number(record.tasks[task], record)
    if task not in record.missing:
        return Reading(words=NOT_MEASURED, detail=f"the text that was measured has no {task}")
    reason = record.missing[task]
    # A cell has little room: "no layer is left with hard gates" is cut before "with".
    return Reading(words=reason.partition(" with ")[0], detail=f"{task}: {reason}")


def _number(part: measurements.Number, record: Record) -> Number:
    interval = None
    if part.low is not None and part.high is not None:
        interval = (part.high - part.low) / 2
    return Number(
        value=part.value,
        stderr=part.stderr if part.spread is None else part.spread,
        interval=interval,
        sentences=part.n,
        how=record.how,
    )


def _mean(parts: Mapping[str, Number | Reading]) -> Number | Reading:
    """Return the mean over tasks; its spread takes the test sets as independent."""
    missing = {task: part for task, part in parts.items() if isinstance(part, Reading)}
    if missing or not parts:
        words = sorted({part.words for part in missing.values()}) or [NOT_MEASURED]
        if len(missing) == len(parts):
            return Reading(words=words[0])
        # Few tasks are named; a long list makes the table unreadable.
        few = len(missing) <= NAMED_TASKS
        which = f"for {', '.join(missing)}" if few else f"({len(missing)} of {len(parts)} tasks)"
        return Reading(words=f"{words[-1]} {which}")
    numbers = [part for part in parts.values() if isinstance(part, Number)]
    counts = [part.sentences for part in numbers if part.sentences is not None]
    return Number(
        value=math.fsum(part.value for part in numbers) / len(numbers),
        stderr=_of_mean([part.stderr for part in numbers]),
        interval=_of_mean([part.interval for part in numbers]),
        sentences=sum(counts) if counts else None,
        how=numbers[0].how,
    )


def _without_value(bare: CellResult, readings: Sequence[Reading]) -> CellResult:
    """Return a cell's words.

    They are the outcome if most seeds of the run have one. Else they say what is missing: once it
    is there, the cell may have a value.

    Args:
        bare: the cell without value and words.
        readings: of the seeds without a number.
    """
    if all(reading.words == NOT_RUN for reading in readings):
        return replace(bare, words=NOT_RUN)
    lost = [reading for reading in readings if not _is_missing(reading)]
    chosen = lost if 2 * len(lost) > bare.of else filter(_is_missing, readings)
    kinds: dict[str, list[str]] = {}
    for reading in chosen:
        kinds.setdefault(without_update(reading.words), []).append(reading.words)
    kind, own = max(kinds.items(), key=lambda item: len(item[1]))
    words = own[0] if len({*own}) == 1 else kind
    others = Counter(reading.words for reading in readings if reading.words != words)
    notes = [f"{count} of {bare.of} seeds: {other}" for other, count in others.items()]
    notes += dict.fromkeys(reading.detail for reading in readings if reading.detail)
    return replace(
        bare,
        seeds=0 if words == NOT_RUN else len(own),
        words=f"{words} ({len(own)} of {bare.of} seeds)" if bare.of > 1 else words,
        note="; ".join(notes),
    )


def _is_missing(reading: Reading) -> bool:
    """Return whether a seed may have a number later: its training, or this, was not done yet."""
    return reading.words.startswith(MISSING)


def _with_value(bare: CellResult, numbers: Sequence[Number], note: str) -> CellResult:
    value = bare.cell.value
    unit = value.factor if value else 1.0
    values = [part.value * unit for part in numbers]
    deviation = stdev(values) if len(values) > 1 else None
    stderr = _scaled(numbers[0].stderr, unit)
    shown = numbers if value and value.counts_sentences else ()
    counts = [part.sentences for part in shown if part.sentences is not None]
    return replace(
        bare,
        value=math.fsum(values) / len(values) if len(values) > 1 else values[0],
        stderr=stderr if deviation is None else deviation / math.sqrt(len(values)),
        interval=_scaled(_average([part.interval for part in numbers]), unit),
        deviation=deviation,
        seeds=len(values),
        sentences=min(counts, default=None),
        note=note,
        how=tuple(dict.fromkeys(part.how for part in numbers if part.how)),
    )


def _average(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None


def _of_mean(spreads: Sequence[float | None]) -> float | None:
    """Return the spread of a mean of independent numbers, or None where one is unknown."""
    known = [spread for spread in spreads if spread is not None]
    return math.hypot(*known) / len(known) if known and len(known) == len(spreads) else None


def _scaled(value: float | None, unit: float) -> float | None:
    return None if value is None else value * unit

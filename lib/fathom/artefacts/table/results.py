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
    WITHOUT_RESULT,
    Reading,
    ResultSource,
    lost_words,
    without_update,
)
from fathom.config.tables import Cell
from fathom.results import measurements
from fathom.results.measurements import Record

NAMED_TASKS = 2
NO_NUMBER = "without a number"  # e.g. since the gates left no layer


@dataclass(frozen=True)
class SeedNumber:
    """One number of one seed, in the measurement's unit."""

    value: float
    stderr: float | None = None  # over test sentences, or over the checkpoints of a window
    interval: float | None = None  # half of the 95 % interval over test sentences
    sentences: int | None = None  # test sentences; of a mean, those of all its tasks
    how: str = ""  # how it was computed, e.g. sacreBLEU's signature


@dataclass(frozen=True)
class CellResult:
    """A cell's value over seeds; all numbers are in the unit that the cell prints."""

    cell: Cell
    value: float | None = None  # mean over the seeds that have a value
    stderr: float | None = None  # of the mean over seeds; with one seed over test sentences
    interval: float | None = None  # half of the 95 % interval over sentences, averaged over seeds
    deviation: float | None = None  # over seeds (n - 1); None with fewer than two
    seeds: int = 0  # how many seeds the value, or the words, represent
    of: int = 0  # how many seeds the run has
    lost: str = ""  # how many of several seeds ended without a number: `2 of 5 seeds diverged`
    awaited: int = 0  # how many seeds have neither a number nor an outcome yet
    sentences: int | None = None  # None where tokens or checkpoints are counted
    words: str = ""  # what is printed where there is no value; empty for an empty cell
    note: str = ""  # what a reader must know in addition
    how: tuple[str, ...] = ()  # how each number was computed
    comparable: bool = False  # whether the run's settings are the paper's
    unproved: str = ""  # why its text is not known to be the paper's, where counts could prove it
    rebuilt: bool = False  # whether its text is the paper's but for some lines
    doubtful: bool = False  # whether the measurement itself says that its number means little

    @property
    def shown(self) -> bool:
        """Whether it has a value, or words in its place."""
        return self.value is not None or bool(self.words)


def result(cell: Cell, sources: Mapping[str, ResultSource]) -> CellResult:
    """Return the value of a cell; an empty cell has neither value nor words.

    Seeds that disagree give a value if at least half of those that were trained have one; a note
    names the others. A number of parameters needs no seed.
    """
    if cell.kind == "empty":
        return CellResult(cell)
    source = sources[cell.source]
    readings = [reading for _, reading in source.readings(cell.key)]
    outcomes = [number(cell, reading) for reading in readings]
    numbers = [item for item in outcomes if isinstance(item, SeedNumber)]
    without = [item for item in outcomes if isinstance(item, Reading)]
    seeds, lost = len(source.folders), [item for item in without if not _is_missing(item)]
    kinds = (item.words if item.outcome else NO_NUMBER for item in lost)
    bare = CellResult(
        cell,
        of=seeds,
        lost=lost_words(kinds, seeds),
        awaited=seeds - len(numbers) - len(lost),
        comparable=source.comparable,
        unproved=source.unproved,
        rebuilt=source.rebuilt,
    )
    if cell.key in WITHOUT_RESULT and not outcomes:
        size = source.kept("size", source.untrained_size)
        if size is not None:
            return replace(_with_value(bare, [SeedNumber(float(size))], ""), seeds=0, awaited=0)
    if not numbers or len(numbers) < len(without):
        untrained = [Reading(words=NOT_RUN)] * (seeds - len(outcomes))
        found = _without_value(bare, [*without, *untrained])
        return replace(found, words=source.missing()) if found.words == NOT_RUN else found

    counts = Counter(reading.words for reading in without)
    notes = [f"{count} of {seeds} seeds: {words}" for words, count in counts.items()]
    for words, count in Counter(item.stale for item in readings if item.stale).items():
        notes.append(f"stale{f' ({count} of {seeds} seeds)' if count < seeds else ''}: {words}")
    if len(ways := dict.fromkeys(item.how for item in numbers)) > 1:
        notes.append(f"seeds are scored in {len(ways)} ways ({'; '.join(ways)}); score them again")
    notes += dict.fromkeys(item.detail for item in readings if item.record and item.detail)
    records = [item.record for item in readings if item.record]
    doubts = dict.fromkeys(filter(None, (_doubt(cell.task, record) for record in records)))
    valued = _with_value(bare, numbers, "; ".join([*notes, *doubts]))
    return replace(valued, doubtful=bool(doubts))


def _doubt(task: str | None, record: Record) -> str:
    """Return why the number of a task, or of all, says little."""
    if task is None or record.doubts is None:
        return record.doubt
    return f"{task}: {record.doubts[task]}" if task in record.doubts else ""


def number(cell: Cell, reading: Reading) -> SeedNumber | Reading:
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


def _task_number(task: str, record: Record) -> SeedNumber | Reading:
    """Return one task's number; a task that the gates left without a layer has none."""
    if task in record.tasks:
        return _number(record.tasks[task], record)
    if task not in record.missing:
        return Reading(words=NOT_MEASURED, detail=f"the text that was measured has no {task}")
    reason = record.missing[task]
    # A cell has little room: "no layer is left with hard gates" is cut before "with".
    return Reading(words=reason.partition(" with ")[0], detail=f"{task}: {reason}")


def _number(part: measurements.Number, record: Record) -> SeedNumber:
    ends = [end for end in (part.low, part.high) if end is not None]
    interval = (ends[1] - ends[0]) / 2 if len(ends) == 2 else None
    stderr = part.stderr if part.spread is None else part.spread
    return SeedNumber(part.value, stderr, interval, part.n, record.how)


def _mean(parts: Mapping[str, SeedNumber | Reading]) -> SeedNumber | Reading:
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
    numbers = [part for part in parts.values() if isinstance(part, SeedNumber)]
    counts = [part.sentences for part in numbers if part.sentences is not None]
    return SeedNumber(
        value=math.fsum(part.value for part in numbers) / len(numbers),
        stderr=_of_mean([part.stderr for part in numbers]),
        interval=_of_mean([part.interval for part in numbers]),
        sentences=sum(counts) if counts else None,
        how=numbers[0].how,
    )


def _without_value(bare: CellResult, readings: Sequence[Reading]) -> CellResult:
    """Return a cell's words, of the readings of all seeds without a number.

    They are the outcome if most seeds of the run have one. Else they say what is missing: once it
    is there, the cell may have a value.
    """
    if all(reading.words == NOT_RUN for reading in readings):
        return replace(bare, words=NOT_RUN)
    lost = [reading for reading in readings if not _is_missing(reading)]
    chosen = lost if 2 * len(lost) > bare.of else filter(_is_missing, readings)
    kinds: dict[str, list[str]] = {}
    for reading in chosen:
        kinds.setdefault(without_update(reading.words), []).append(reading.words)
    kind, alike = max(kinds.items(), key=lambda item: len(item[1]))
    words = alike[0] if len({*alike}) == 1 else kind
    counts = Counter(reading.words for reading in readings if reading.words != words)
    notes = [f"{count} of {bare.of} seeds: {kind}" for kind, count in counts.items()]
    notes += dict.fromkeys(reading.detail for reading in readings if reading.detail)
    return replace(
        bare,
        seeds=0 if words == NOT_RUN else len(alike),
        words=f"{words} ({len(alike)} of {bare.of} seeds)" if bare.of > 1 else words,
        note="; ".join(notes),
    )


def _is_missing(reading: Reading) -> bool:
    """Return whether a seed may have a number later: its training, or this, was not done yet."""
    return reading.words.startswith(MISSING)


def _with_value(bare: CellResult, numbers: Sequence[SeedNumber], note: str) -> CellResult:
    value = bare.cell.value
    unit = value.factor if value else 1.0
    values = [part.value * unit for part in numbers]
    several = len(values) > 1
    deviation = stdev(values) if several else None
    counts = [part.sentences for part in numbers if part.sentences is not None]
    intervals = _all([part.interval for part in numbers])
    stderr = None if numbers[0].stderr is None else numbers[0].stderr * unit
    if deviation is not None:
        stderr = deviation / math.sqrt(len(values))
    return replace(
        bare,
        value=math.fsum(values) / len(values) if several else values[0],
        stderr=stderr,
        interval=fmean(intervals) * unit if intervals else None,
        deviation=deviation,
        seeds=len(values),
        sentences=min(counts, default=None) if value and value.counts_sentences else None,
        note=note,
        how=tuple(dict.fromkeys(part.how for part in numbers if part.how)),
    )


def _of_mean(spreads: Sequence[float | None]) -> float | None:
    """Return the spread of a mean of independent numbers, or None where one is missing."""
    present = _all(spreads)
    return math.hypot(*present) / len(present) if present else None


def _all(values: Sequence[float | None]) -> list[float]:
    """Return the values, or nothing where one is missing."""
    present = [value for value in values if value is not None]
    return present if len(present) == len(values) else []

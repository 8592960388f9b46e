"""What was counted in the sentences of a cell, from which its test sets are drawn again."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from fathom.artefacts.table.results import Number, number
from fathom.artefacts.table.sources import Source
from fathom.config.tables import Cell
from fathom.io.errors import FathomError

if TYPE_CHECKING:
    from fathom.scoring.bootstrap import Statistics
    from fathom.scoring.sentences import Sentences

ROUNDING = 1e-5  # Scores are stored with six decimals.


def tasks_of(cell: Cell) -> tuple[str, ...]:
    """Return the tasks whose sentences a cell counts."""
    return (cell.task,) if cell.task else cell.tasks


def counts_of(cell: Cell, sources: Mapping[str, Source]) -> "list[list[Sentences]] | None":
    """Return the counts of each task's sentences, of each seed that has a value.

    Args:
        cell: a score.
        sources: runs by name.

    Returns:
        Those of the trainings for each task; None where nothing is stored.

    Raises:
        FathomError: counts of sentences are damaged, or are not those of the scores.
    """
    source = sources[cell.source]
    readings = [
        (seed, reading.record)
        for seed, reading in source.readings(cell.key)
        if reading.record is not None and isinstance(number(cell, reading), Number)
    ]
    sets = []
    for task in tasks_of(cell):
        trainings = []
        for seed, record in readings:
            read = source.sentences(cell.key, seed, task)
            if read is None:
                return None
            counted, measured = read.statistics(_metric(cell)).value, record.tasks[task].value
            if abs(counted - measured) > ROUNDING:
                raise FathomError(
                    f"the counts of {task} give {counted:.6f}, and the measurement is {measured}",
                    str(source.files(cell.key)[seed]),
                    "score again: fathom score",
                )
            trainings.append(read)
        sets.append(trainings)
    return sets


def statistics_of(cell: Cell, sets: "Iterable[Iterable[Sentences]]") -> "list[list[Statistics]]":
    """Return the counts of a cell's metric alone."""
    return [[one.statistics(_metric(cell)) for one in trainings] for trainings in sets]


def same_references(trainings: "list[Sentences]") -> bool:
    """Return whether all were scored on the same sentences."""
    first, *others = [one.references for one in trainings]
    return all(first.shape == other.shape and (first == other).all() for other in others)


def _metric(cell: Cell) -> str:
    """Return the metric's name among the counts of sentences: a tokenizer of BLEU, or chrF."""
    from fathom.scoring import chrf

    return cell.metric or chrf.NAME

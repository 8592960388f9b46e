"""Cells: what a column's expression gives for a row, over the row's seeds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fathom.papers.columns import Column
from fathom.papers.paper import Artefact
from fathom.tables.manifests import Manifest, Row, read

NOT_RUN = "not run"
NO_LAYER = "no layer left"
NAMED_TASKS = 2
NO_SCORE = "no score"
NOT_RECORDED = "not recorded"


@dataclass(frozen=True)
class Measure:
    """What one seed gives for one column: a value, or words where there is none.

    Attributes:
        value: in the manifest's unit.
        half_width: half of the 95 % bootstrap interval over test sentences.
        stderr: standard error over test sentences.
        sentences: test sentences behind it; of a mean, those of its smallest task.
        signatures: of the metric, each once.
        words: the outcome in place of a value; empty with a value, and where the column does not
            apply to the row.
    """

    value: float | None = None
    half_width: float | None = None
    stderr: float | None = None
    sentences: int | None = None
    signatures: tuple[str, ...] = ()
    words: str = ""


@dataclass(frozen=True)
class Cell:
    """One cell, over all seeds of its row that have ended.

    Attributes:
        row, column, run: ids; the run's is that of its folder.
        value: mean over the seeds with a value, in the manifest's unit.
        half_width: mean over these seeds of half the 95 % bootstrap interval.
        deviation: standard deviation over these seeds (n - 1); None with fewer than two.
        stderr: of the mean over seeds; with one seed the bootstrap's.
        seeds: how many seeds the value, or the words, stand for.
        sentences: test sentences behind the value; of a mean, those of its smallest task.
        words: the outcome in place of a value.
        note: what a reader must know beside a value.
        gates, metric: which score it is; empty where it is none.
        signatures: of the metric, each once.
    """

    row: str
    column: str
    run: str
    value: float | None = None
    half_width: float | None = None
    deviation: float | None = None
    stderr: float | None = None
    seeds: int = 0
    sentences: int | None = None
    words: str = ""
    note: str = ""
    gates: str = ""
    metric: str = ""
    signatures: tuple[str, ...] = ()


def cells(artefact: Artefact, rows: Sequence[Row], scale: str) -> dict[str, dict[str, Cell]]:
    """Return every cell of an artefact by row and column, in the paper's order.

    Args:
        artefact: the artefact.
        rows: its rows, with the places of their manifests.
        scale: the scale that the manifests must have.

    Raises:
        FathomError: a manifest that exists cannot be used.
    """
    tasks = named_tasks(artefact)
    grid = {}
    for row in rows:
        manifests = read(row, scale)
        grid[row.name] = {
            column.name: cell(row, column, manifests, tasks) for column in artefact.columns
        }
    return grid


def named_tasks(artefact: Artefact) -> tuple[str, ...]:
    """Return the tasks that have a column of their own; a mean over scores ranges over these."""
    paths = [column.expression.path for column in artefact.columns if not column.expression.mean]
    return tuple(path[1] for path in paths if path[0] == "scores" and len(path) == 2)


def cell(row: Row, column: Column, manifests: Sequence[Manifest], tasks: tuple[str, ...]) -> Cell:
    """Return one cell.

    A run whose seeds disagree has a value if at least half of them have one; the others are told
    in the note.

    Args:
        row: the row.
        column: the column.
        manifests: those of the row that exist.
        tasks: what `*` ranges over in scores; empty for all of a manifest.
    """
    if not manifests:
        return Cell(row.name, column.name, row.run, words="" if column.group else NOT_RUN)
    measures = [measure(column, manifest, tasks) for manifest in manifests]
    good = [each for each in measures if each.value is not None]
    bad = [each for each in measures if each.value is None]
    scored = column.expression.reads_scores
    gates, metric = _which(column, manifests[0]) if scored else ("", "")
    if len(good) < len(bad) or not good:
        words = next((each.words for each in bad if each.words), "")
        several = f" ({len(bad)} of {len(measures)} seeds)" if words and len(measures) > 1 else ""
        return Cell(
            row=row.name,
            column=column.name,
            run=row.run,
            seeds=len(bad),
            words=words + several,
            gates=gates,
            metric=metric,
        )
    values = [each.value for each in good]
    mean = math.fsum(values) / len(values)
    deviation = None
    if len(values) > 1:
        spread = math.fsum((value - mean) ** 2 for value in values)
        deviation = math.sqrt(spread / (len(values) - 1))
    note = f"{len(bad)} of {len(measures)} seeds: {bad[0].words}" if bad else ""
    return Cell(
        row=row.name,
        column=column.name,
        run=row.run,
        value=mean if len(values) > 1 else values[0],
        half_width=_mean([each.half_width for each in good]),
        deviation=deviation,
        stderr=good[0].stderr if deviation is None else deviation / math.sqrt(len(values)),
        seeds=len(good),
        sentences=min((each.sentences for each in good if each.sentences), default=None),
        note=note,
        gates=gates,
        metric=metric,
        signatures=_each_once(good),
    )


def measure(column: Column, manifest: Manifest, tasks: tuple[str, ...]) -> Measure:
    """Return what one seed gives for a column."""
    expression = column.expression
    if not expression.reads_scores:
        return _number(column, manifest)
    if not expression.mean:
        task = expression.path[1] if len(expression.path) == 2 else expression.path[2]
        return _score(column, manifest, task)
    parts = {task: _score(column, manifest, task) for task in tasks or manifest.tasks}
    return _mean_score(parts)


def _number(column: Column, manifest: Manifest) -> Measure:
    """Return a number of the manifest, or the mean over the level that `*` stands for."""
    path = column.expression.path
    paths = [path]
    if column.expression.mean:
        star = path.index("*")
        keys = manifest.keys(path[:star])
        paths = [(*path[:star], key, *path[star + 1 :]) for key in keys]
    values = [manifest.number(each) for each in paths]
    if not values or None in values:
        return Measure(words="" if column.group else (manifest.outcome or NOT_RECORDED))
    return Measure(value=values[0] if len(values) == 1 else math.fsum(values) / len(values))


def _which(column: Column, manifest: Manifest) -> tuple[str, str]:
    """Return the gates and the metric that a column of scores reads.

    `scores.<task>` reads the compared ones, `scores.<gates>.<task>` the compared metric.
    """
    path = column.expression.path
    gates = path[1] if len(path) > 2 else manifest.gates
    return gates, path[3] if len(path) > 3 else manifest.metric


def _score(column: Column, manifest: Manifest, task: str) -> Measure:
    """Return one task's score, or why there is none."""
    gates, metric = _which(column, manifest)
    if not manifest.finished:
        return Measure(words="" if column.group else manifest.outcome)
    if manifest.without_layer(gates, task):
        return Measure(words=NO_LAYER)
    score = manifest.score(gates, task, metric)
    if score is None:
        return Measure(words="" if column.group else NO_SCORE)
    return Measure(
        value=score.value,
        half_width=score.half_width,
        stderr=score.stderr,
        sentences=score.sentences,
        signatures=(score.signature,),
    )


def _mean_score(parts: dict[str, Measure]) -> Measure:
    """Return the unrounded mean over tasks; its interval takes the test sets as independent."""
    missing = {task: part.words for task, part in parts.items() if part.value is None}
    if missing or not parts:
        words = sorted(set(missing.values())) or [NO_SCORE]
        if len(missing) == len(parts) or words == [""]:
            return Measure(words=words[0])
        # Names while they are few: a cell that lists most of the tasks makes a table unreadable.
        few = len(missing) <= NAMED_TASKS
        which = f"for {', '.join(missing)}" if few else f"({len(missing)} of {len(parts)})"
        return Measure(words=f"{words[-1]} {which}")
    measures = list(parts.values())
    return Measure(
        value=math.fsum(part.value for part in measures) / len(measures),
        half_width=_of_mean([part.half_width for part in measures]),
        stderr=_of_mean([part.stderr for part in measures]),
        sentences=min(part.sentences for part in measures),
        signatures=_each_once(measures),
    )


def _of_mean(spreads: list[float | None]) -> float | None:
    """Return the spread of a mean of independent values, or None where one is unknown."""
    if None in spreads:
        return None
    return math.sqrt(math.fsum(spread**2 for spread in spreads)) / len(spreads)


def _mean(values: list[float | None]) -> float | None:
    return None if None in values else math.fsum(values) / len(values)


def _each_once(measures: Sequence[Measure]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for each in measures for name in each.signatures))

"""Runs less another run: would another training agree, and would another test set?

Pairs, refusals, intervals and p are those of tables and claims. Each p is also corrected for the
number of comparisons that are made together (Holm 1979), each question by itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.claims.numbers import Term
from fathom.artefacts.claims.worlds import numbers_by_seed, parts_over_seeds
from fathom.artefacts.table.differences import pair
from fathom.artefacts.table.results import CellResult, result
from fathom.artefacts.table.sources import MISSING, NOT_RUN, ResultSource
from fathom.config.measurement_keys import ShownValue
from fathom.config.project import Project
from fathom.config.spec import Spec
from fathom.config.tables import Cell
from fathom.io.errors import FathomError, unknown
from fathom.scoring.students_t import freedom, half_interval, holm, p_value

SAMPLES = 10_000  # draws of the test sets; tables and claims have 1,000
HEADINGS = ("", "difference", "95 % interval", "p", "Holm", "method")
QUESTIONS = (
    "over seeds: would another training agree? over sentences: would another test set agree, with "
    "these trainings? Holm corrects for all tests of one question: {} and {}"
)


@dataclass(frozen=True)
class Chance:
    """What chance alone does to a difference, in points of the metric."""

    low: float  # ends of the 95 % interval
    high: float
    p: float  # two-sided
    holm: float  # p, corrected for all comparisons
    method: str  # in words


@dataclass(frozen=True)
class RunComparison:
    """A run less another one."""

    run: str  # full names
    base: str
    gates: tuple[str, str]  # of both
    metric: str
    split: str
    tasks: tuple[str, ...]  # the score is their mean
    scale: str
    difference: float
    over_seeds: Chance | None  # None where a run has one seed
    train_more: str  # what to do then
    over_sentences: Chance
    notes: tuple[str, ...]  # what a reader must know of either run


def compare_runs(
    artefacts: Artefacts,
    names: Sequence[str],
    value: ShownValue,
    gates: str | None = None,
    tasks: Sequence[str | None] = (None,),
) -> list[RunComparison]:
    """Return each run less the last one, task by task.

    Args:
        artefacts: the results.
        names: full names of two runs or more.
        value: a metric of translations and the split.
        gates: those of runs that have gates; None for each run's first.
        tasks: what is compared; None is the mean over all tasks.

    Raises:
        FathomError: If a run has no result, or lacks a task or the gates, or two runs have another
            metric or other test sentences.
    """
    sources = {name: artefacts.source(name) for name in names}
    specs = [artefacts.project.spec(name, artefacts.scale) for name in names]
    valid = dict.fromkeys(each for spec in specs for each in spec.gates)
    if gates and gates not in valid:
        raise unknown("gates", gates, "--gates", valid)
    compared = []
    for task in tasks:
        cells = [_cell(artefacts.project, spec, value, gates, task) for spec in specs]
        *others, base = [_measured(artefacts, result(cell, sources)) for cell in cells]
        compared += [_compared(artefacts, other, base, sources) for other in others]
    return _corrected(compared)


def _cell(
    project: Project, spec: Spec, value: ShownValue, gates: str | None, task: str | None
) -> Cell:
    """Return a run's score as the cell of a table that shows all of its tasks, or one."""
    if task is not None and task not in spec.data.tasks:
        raise unknown("task", task, spec.name, spec.data.tasks)
    chosen = gates if gates and spec.gates != ("plain",) else spec.gates[0]
    if chosen not in spec.gates:
        raise unknown("gates", chosen, spec.name, spec.gates)
    return Cell(
        block="",
        row=spec.name,
        column=task or "",
        id=spec.name,
        ours=True,
        kind="run",
        source=spec.name,
        value=value,
        task=task,
        tasks=() if task else spec.data.tasks,
        gates=chosen,
        metric=project.papers[spec.paper].about.metric.tokenize or "13a",
    )


def _measured(artefacts: Artefacts, score: CellResult) -> CellResult:
    """Return a score that has a value.

    Raises:
        FathomError: If it has none, with what to do.
    """
    cell, paths = score.cell, artefacts.paths
    if score.value is not None and cell.value is not None:
        return score
    remedy = "name a run that has a result"
    if score.words.startswith(NOT_RUN):
        remedy = f"train it with `{paths.command('train', cell.source)}`, translate and score it"
    elif score.words.startswith(MISSING) and cell.value is not None:
        split = f"--split {cell.value.split} --gates {cell.gates}"
        verbs = {"translate": split, "score": f"{split} --metric {cell.value.measurement}"}
        commands = (f"`{paths.command(verb, cell.source)} {verbs[verb]}`" for verb in verbs)
        remedy = " and ".join(commands)
    where = f"{cell.source}, scale {artefacts.scale}"
    raise FathomError(f"{cell.key}: {score.words}", where, remedy)


def _compared(
    artefacts: Artefacts, score: CellResult, base: CellResult, sources: Mapping[str, ResultSource]
) -> RunComparison:
    from fathom.scoring.metrics import of_key

    both, cell, value = (score, base), score.cell, score.cell.value
    paired = pair(score, base, sources, SAMPLES)
    if isinstance(paired, str):
        where = f"{cell.source} and {base.cell.source}"
        remedy = "name runs that the same metric scores on the same sentences, or score them again"
        raise FathomError(paired, where, remedy)
    seeds = " and ".join(str(each.seeds) for each in both)
    method = f"paired bootstrap, {SAMPLES:,} draws, {score.sentences:,} sentences"
    method += f", means of {seeds} trainings" if seeds != "1 and 1" else ""
    terms = [
        Term(each.cell.id, source=each.cell.id, by_seed=numbers_by_seed(each.cell, sources))
        for each in both
    ]
    parts, over_seeds = parts_over_seeds(dict(zip(terms, (1.0, -1.0), strict=True))), None
    if not isinstance(parts, str):
        words = f"Welch's t, {seeds} seeds, {freedom(parts):.1f} degrees of freedom"
        p = p_value(paired.value, parts)
        over_seeds = _chance(paired.value, half_interval(parts), p, words)
    metric = of_key(cell.key)
    notes = (f"{each.cell.source}: {each.note}" for each in both if each.note)
    return RunComparison(
        run=cell.source,
        base=base.cell.source,
        gates=(cell.gates, base.cell.gates),
        metric=f"{metric.unit} {metric.label}" if metric.tokenizer else metric.label,
        split=value.split if value else "",
        tasks=(cell.task,) if cell.task else cell.tasks,
        scale=artefacts.scale,
        difference=paired.value,
        over_seeds=over_seeds,
        train_more="" if over_seeds else _train_more(artefacts, both),
        over_sentences=_chance(paired.value, paired.half, paired.p, method),
        notes=tuple(dict.fromkeys(notes)),
    )


def _chance(difference: float, half: float, p: float, method: str) -> Chance:
    return Chance(difference - half, difference + half, p, p, method)


def _train_more(artefacts: Artefacts, scores: Sequence[CellResult]) -> str:
    """Return how the first run with one seed gets another one."""
    name = next(score.cell.source for score in scores if score.seeds < 2)
    source = artefacts.source(name)
    trained = [folder.parent.name for folder in source.folders.values() if folder.is_dir()]
    seed = next(seed for seed in count(1) if str(seed) not in trained)
    command = artefacts.paths.command("train", name, seed)
    more = f"train more: `{command}`, translate and score it, and add --seeds all"
    return f"one seed of {name}: {'add --seeds all' if source.unused else more}"


def _corrected(compared: Sequence[RunComparison]) -> list[RunComparison]:
    """Return comparisons with Holm's correction of all of them, each question by itself."""
    seeds = iter(holm([each.over_seeds.p for each in compared if each.over_seeds]))
    sentences = holm([each.over_sentences.p for each in compared])
    return [
        replace(
            each,
            over_seeds=each.over_seeds and replace(each.over_seeds, holm=next(seeds)),
            over_sentences=replace(each.over_sentences, holm=corrected),
        )
        for each, corrected in zip(compared, sentences, strict=True)
    ]


def lines(compared: Sequence[RunComparison]) -> Iterator[str]:
    """Yield what a terminal shows: for each comparison a title and a line for each question."""
    for each in compared:
        names = [
            name if gates == "plain" else f"{name} ({gates} gates)"
            for name, gates in zip((each.run, each.base), each.gates, strict=True)
        ]
        of = each.tasks[0] if len(each.tasks) == 1 else f"mean of {len(each.tasks)} tasks"
        title = f"{each.metric}, {each.split}, {of}, scale {each.scale}"
        yield f"{' less '.join(names)}: {title}"
        yield _line(HEADINGS)
        for question, chance in (
            ("over seeds", each.over_seeds),
            ("over sentences", each.over_sentences),
        ):
            if chance is None:
                yield f"{question:14}  {each.train_more}"
                continue
            interval = f"[{chance.low:+.2f}, {chance.high:+.2f}]"
            numbers = f"{each.difference:+.2f}", interval, _p(chance.p), _p(chance.holm)
            yield _line((question, *numbers, chance.method))
        yield from (f"note: {note}" for note in each.notes)
        yield ""
    yield QUESTIONS.format(sum(each.over_seeds is not None for each in compared), len(compared))


def _line(fields: Sequence[str]) -> str:
    name, difference, interval, p, corrected, method = fields
    return f"{name:14}  {difference:>10}  {interval:>16}  {p:>7}  {corrected:>7}  {method}".rstrip()


def _p(value: float) -> str:
    return f"{value:.4f}" if value >= 1e-4 else "<0.0001"

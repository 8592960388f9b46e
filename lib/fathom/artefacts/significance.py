"""Runs less another run: would another training agree, and would another test set?

Pairs, refusals, intervals and p are those of tables and claims. Each p is also corrected for the
number of comparisons that are made together (Holm 1979), each question by itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.table.differences import difference
from fathom.artefacts.table.results import CellResult, result
from fathom.artefacts.table.sources import MISSING, NOT_RUN, ResultSource
from fathom.config import tokenizers
from fathom.config.measurement_keys import ShownValue
from fathom.config.spec import Spec
from fathom.config.tables import Cell
from fathom.io.errors import FathomError, unknown
from fathom.scoring.students_t import freedom, holm

HEADINGS = ("", "difference", "95 % interval", "p", "Holm", "method")
QUESTIONS = (
    "over seeds: would another training agree? over sentences: would another test set agree, with "
    "these trainings? Holm corrects for all tests of one question: {} and {}"
)


@dataclass(frozen=True)
class Trainings:
    """What is compared: trainings of a run."""

    run: str  # its full name
    gates: str | None = None  # that decode it; None for the run's first
    seeds: tuple[int, ...] | None = None  # None for those that tables show


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
    """A run less another one; `low`, `high` and `p` are over seeds if both runs have several."""

    run: str  # full names
    base: str
    gates: tuple[str, str]  # of both
    metric: str
    split: str
    tasks: tuple[str, ...]  # the score is their mean
    scale: str
    seeds: tuple[int, int]  # how many trainings each has
    difference: float
    over_seeds: Chance | None  # None where a run has one seed
    train_more: str  # what to do then
    over_sentences: Chance
    notes: tuple[str, ...]  # what a reader must know of either run

    @property
    def low(self) -> float:
        """The lower end of the 95 % interval."""
        return (self.over_seeds or self.over_sentences).low

    @property
    def high(self) -> float:
        """The upper end of the 95 % interval."""
        return (self.over_seeds or self.over_sentences).high

    @property
    def p(self) -> float:
        """The two-sided p of no difference, which no number of comparisons corrects."""
        return (self.over_seeds or self.over_sentences).p


def with_gates(specs: Sequence[Spec], gates: str | None) -> list[Trainings]:
    """Return runs, those that have gates with the gates that a user names, if any run has them."""
    valid = dict.fromkeys(each for spec in specs for each in spec.gates)
    if gates and gates not in valid:
        raise unknown("gates", gates, "--gates", valid)
    return [Trainings(spec.name, None if spec.gates == ("plain",) else gates) for spec in specs]


def compare_runs(
    artefacts: Artefacts,
    runs: Sequence[Trainings],
    value: ShownValue,
    tasks: Sequence[str | None] = (None,),
) -> list[RunComparison]:
    """Return each run less the last one, task by task; None is the mean over all tasks.

    Two or more runs must have results by one metric of translations on the same test sentences.
    """
    sources: dict[str, ResultSource] = {}
    for each in runs:
        source = artefacts.with_seeds(each.seeds).source(each.run)
        if sources.setdefault(each.run, source).folders != source.folders:
            what = "the same run with other seeds"
            raise FathomError(what, each.run, "name equal seeds, or other runs")
    compared = []
    for task in tasks:
        cells = [_cell(artefacts, each, value, task) for each in runs]
        *others, base = [_measured(artefacts, result(cell, sources)) for cell in cells]
        compared += [_compared(artefacts, other, base, sources) for other in others]
    return _corrected(compared)


def _cell(artefacts: Artefacts, chosen: Trainings, value: ShownValue, task: str | None) -> Cell:
    """Return a run's score as the cell of a table that shows all of its tasks, or one."""
    project = artefacts.project
    spec = project.spec(chosen.run, artefacts.scale)
    gates = chosen.gates or spec.gates[0]
    if task is not None and task not in spec.data.tasks:
        raise unknown("task", task, spec.name, spec.data.tasks)
    if gates not in spec.gates:
        raise unknown("gates", gates, spec.name, spec.gates)
    languages = spec.data.target_languages
    of_tasks = [languages[task]] if task else languages.values()
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
        gates=gates,
        metric=project.papers[spec.paper].about.metric.tokenize
        or tokenizers.of_languages(of_tasks),
    )


def _measured(artefacts: Artefacts, score: CellResult) -> CellResult:
    """Return a score that has a value; of one without say what to do."""
    cell, paths = score.cell, artefacts.paths
    if score.value is not None and cell.value is not None:
        return score
    remedy = "name a run that has a result"
    if score.words.startswith(NOT_RUN):
        remedy = f"make it with `{paths.run_command(cell.source)}`"
    elif score.words.startswith(MISSING) and cell.value is not None:
        remedy = " and ".join(_measuring(artefacts, cell, cell.value))
    where = f"{cell.source}, scale {artefacts.scale}"
    raise FathomError(f"{cell.key}: {score.words}", where, remedy)


def _measuring(artefacts: Artefacts, cell: Cell, value: ShownValue) -> Iterator[str]:
    """Yield the commands that measure a cell of each seed that is trained and lacks it."""
    spec, paths = artefacts.project.spec(cell.source, artefacts.scale), artefacts.paths
    options = f"--split {value.split} --gates {cell.gates}"
    for seed, reading in artefacts.source(cell.source).readings(cell.key):
        if reading.words.startswith(MISSING):
            decoding = paths.decoding(spec, seed, value.split, cell.gates) / "decoding.json"
            if not decoding.exists():
                yield f"`{paths.command('translate', cell.source, seed)} {options}`"
            score = paths.command("score", cell.source, seed)
            yield f"`{score} {options} --metric {value.measurement}`"


def _compared(
    artefacts: Artefacts, score: CellResult, base: CellResult, sources: Mapping[str, ResultSource]
) -> RunComparison:
    from fathom.scoring.metrics import of_key

    both, cell, value = (score, base), score.cell, score.cell.value
    less = difference(score, base, sources)
    if less.paired is None:
        where = f"{cell.source} and {base.cell.source}"
        remedy = "name runs that the same metric scores on the same sentences, or score them again"
        raise FathomError(less.unpaired, where, remedy)
    seeds = " and ".join(str(each.seeds) for each in both)
    method = f"paired bootstrap, {len(less.paired.drawn):,} draws, {score.sentences:,} sentences"
    method += f", means of {seeds} trainings" if seeds != "1 and 1" else ""
    points, over_seeds = less.paired.value, None

    def chance(half: float, p: float, method: str) -> Chance:
        return Chance(points - half, points + half, p, p, method)

    if less.over_seeds is not None and less.p_over_seeds is not None:
        paired = len(less.parts) == 1
        test = f"paired t, {score.seeds}" if paired else f"Welch's t, {seeds}"
        words = f"{test} seeds, {freedom(less.parts):.{0 if paired else 1}f} degrees of freedom"
        over_seeds = chance(less.over_seeds, less.p_over_seeds, words)
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
        seeds=(score.seeds, base.seeds),
        difference=points,
        over_seeds=over_seeds,
        train_more="" if over_seeds else _train_more(artefacts, both),
        over_sentences=chance(less.paired.half, less.paired.p, method),
        notes=tuple(dict.fromkeys(notes)),
    )


def _train_more(artefacts: Artefacts, scores: Sequence[CellResult]) -> str:
    """Return how the first run with one seed gets another one."""
    name = next(score.cell.source for score in scores if score.seeds < 2)
    source = artefacts.source(name)
    trained = [folder.parent.name for folder in source.folders.values() if folder.is_dir()]
    seed = next(seed for seed in count(1) if str(seed) not in trained)
    command = artefacts.paths.run_command(name, seed)
    more = f"make another: `{command}`, and add --seeds all"
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
        chances = {"over seeds": each.over_seeds, "over sentences": each.over_sentences}
        for question, chance in chances.items():
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

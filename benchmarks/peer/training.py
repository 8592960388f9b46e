"""Training: target tokens a second and peak memory of ours and of the peers, in turns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.peer import contenders
from benchmarks.peer.contenders import EXAMPLE, HALVES, LANGUAGES, ONE_PASS, OURS, REFERENCE, Job
from benchmarks.peer.hugging_face import MARIAN, HuggingFace
from benchmarks.peer.memory import peak
from benchmarks.peer.results import Cell, Table, cell
from benchmarks.peer.timing import Contender, alternate, clock, faster, spread, timed
from benchmarks.peer.workload import LATENT, ONE_TO_MANY, Shape, Workload

COLUMNS = ("", "target tokens/s", "ms an update", "quartiles", "peak MB", "fathom is faster by")


@dataclass(frozen=True)
class Rounds:
    """How often everything is done: rounds that count, after those that warm up."""

    counted: int
    warm_up: int

    @property
    def all(self) -> int:
        """All rounds."""
        return self.counted + self.warm_up


def static(workload: Workload, shape: Shape, rounds: Rounds) -> Table:
    """Return a shape that the peers have too: ours against each of them."""
    job = contenders.job(workload, shape, rounds.all)
    names = (OURS, ONE_PASS, HALVES, LANGUAGES)
    with HuggingFace.started(job) as other:
        taking_part: dict[str, Contender] = _timed(job, names)
        if other.present:
            taking_part[MARIAN] = other.update
        seconds = alternate(taking_part, rounds.counted, rounds.warm_up)
        memory = {name: peak(workload, shape, name) for name in names if name != LANGUAGES}
        if other.present:
            memory[MARIAN] = other.peak()
    rows = _rows(job, seconds, memory, rounds)
    if not other.present:
        rows.append([f"{MARIAN}: not installed, `make transformers`", *[None] * 5])
    return _table(shape, rows, job)


def of_method(workload: Workload, shape: Shape, rounds: Rounds) -> Table:
    """Return a shape that no peer has: ours, and the fairseq layers that it replaces."""
    job = contenders.job(workload, shape, rounds.all)
    names = (OURS, REFERENCE)
    seconds = alternate(_timed(job, names), rounds.counted, rounds.warm_up)
    memory = {name: peak(workload, shape, name) for name in names}
    return _table(shape, _rows(job, seconds, memory, rounds), job)


def latent_example(workload: Workload, stack: str, rounds: Rounds) -> Table:
    """Return ours and fairseq's example of latent depth.

    Args:
        workload: the text.
        stack: the one with latent layers: the encoder, or in one-to-many translation the decoder.
        rounds: how often.
    """
    if stack == "decoder":
        workload = replace(workload, base=ONE_TO_MANY)
        workload.prepare()
    shape = Shape(f"latent {stack} 6/6", LATENT, (6, 6))
    job = contenders.job(workload, shape, rounds.all)
    method = job.spec.method.model_copy(update={"stacks": (stack,)})
    job = replace(job, spec=replace(job.spec, method=method))
    seconds = alternate(_timed(job, (OURS, EXAMPLE)), rounds.counted, rounds.warm_up)
    return _table(shape, _rows(job, seconds, {}, rounds), job)


def _timed(job: Job, names: Sequence[str]) -> dict[str, Contender]:
    """Return contenders of this process by name."""
    now = clock(job.workload.device)
    return {name: timed(now, contenders.named(job, name)) for name in names}


def _rows(
    job: Job,
    seconds: Mapping[str, list[float]],
    memory: Mapping[str, float],
    rounds: Rounds,
) -> list[list[Cell]]:
    """Return a row for each contender."""
    tokens = job.tokens[rounds.warm_up :]
    rows: list[list[Cell]] = []
    for name, own in seconds.items():
        rate = sum(tokens) / sum(own)
        times, gain = spread(own), faster(own, seconds[OURS])
        quartiles = f"{cell(1000 * times.low)} to {cell(1000 * times.high)}"
        ours = f"{cell(gain.middle)} ({cell(gain.low)} to {cell(gain.high)})"
        rows.append([name, rate, 1000 * times.middle, quartiles, memory.get(name), ours])
    return rows


def _table(shape: Shape, rows: list[list[Cell]], job: Job) -> Table:
    tokens = sum(job.tokens) / len(job.tokens)
    model = job.spec.model
    title = (
        f"Training, {shape.name}, width {model.width}, {tokens:,.0f} target tokens an update, "
        f"{job.spec.training.precision}"
    )
    return Table(title, COLUMNS, rows)

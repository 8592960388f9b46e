"""The verbs of trainings: plan, what they cost; status, how they go and what they came to."""

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.needs import Artefact
from fathom.cli.options import (
    Json,
    NewSeeds,
    Paper,
    Profile,
    Results,
    Scale,
    Seeds,
    open_artefacts,
    open_scale,
    papers_named,
)
from fathom.cli.terminal import answer, print_columns, report, suggest
from fathom.config.schema.source import ByHand
from fathom.config.switches import seed_list
from fathom.config.tables import Table
from fathom.io.errors import FathomError
from fathom.io.files import is_there
from fathom.io.screen import duration
from fathom.results import training_record
from fathom.results.training_record import TrainingRecord

if TYPE_CHECKING:
    from fathom.workflow.job_sizes import Sizes
    from fathom.workflow.plan import DeviceJob, Planned
    from fathom.workflow.targets import Targets

_HEADINGS = (
    "", "trainings", "ended", "10¹⁵ operations", "time in all", "time left", "GB left",
)  # fmt: skip
_HOUR, _GIGABYTE, _PETA = 3600, 1e9, 1e15

Target = Annotated[str, typer.Argument(help="A target of Snakemake: all, a paper, a table, …")]
Gpu = Annotated[
    str | None,
    typer.Option(
        help="h200, h100, a100, l40s, v100, 4090, cpu (a core), or 10¹² operations/s. Of what was "
        "measured, only trainings on this device then count. Default: the profile's; without "
        "one h200 where this machine has a GPU, else cpu."
    ),
]
ByTable = Annotated[bool, typer.Option("--table", help="Print a line for each table and figure.")]


def plan(
    target: Target = "all",
    scale: Scale = None,
    results: Results = None,
    seeds: NewSeeds = None,
    profile: Profile = None,
    gpu: Gpu = None,
    table: ByTable = False,
    as_json: Json = False,
) -> None:
    """Estimate arithmetic, time, disk and downloads of a target.

    Hours are a range: products at 65 % of the device's peak, then memory at 75 % of
    its bandwidth, 5 µs per kernel at least, recurrent networks at 10 % of the peak;
    and at most twice as long. Trainings that have made 200 updates replace it for
    networks of the same kind. Translations, best windows and likelihoods are counted
    too. With --profile it is what a start asks of the cluster, and what waits for a
    file by hand is left out.

    Example: fathom plan latent_depth_table5 --profile slurm
    """
    from fathom.workflow.job_sizes import Sizes
    from fathom.workflow.setup import gpus_for
    from fathom.workflow.start import left_out
    from fathom.workflow.targets import Targets

    project, paths = open_scale(scale, results, profile=profile)
    if seeds is not None:
        switches = project.switches.model_copy(update={"seeds": seed_list(seeds)})
        project = project.with_switches(switches)
    # Of one paper where one is named, so that a mistake in another stops nothing.
    named = tuple(name for name in project.papers if f"{target}_".startswith(f"{name}_"))
    start = profile is not None
    gpus = gpus_for(project.switches.device, cluster=start or gpu not in (None, "cpu"))
    targets = Targets(
        project, paths.scale, paths, gpus=gpus, ready_only=start, papers=named or None
    )
    if target not in targets.names:
        raise targets.unknown(target)
    if not gpus:
        gpu = gpu or "cpu"
    elif start:
        gpu = gpu or project.switches.site.gpu
    sizes = Sizes(targets, on_cluster=True, gpu=gpu)
    plan, runs = sizes.plan, targets.names_of(target)
    trainings, others, downloads = plan.trainings(runs), plan.others(target), plan.downloads(runs)
    groups = {}
    for title, names in (plan.groups(target, table) | {"all": runs}).items():
        made = plan.trainings(names)
        of_runs = {run for run, _ in made}
        groups[title] = _sums(made.values(), [job for job in others if job.run in of_runs])
    if as_json:
        content = {
            "groups": groups,
            "measured_trainings": len(plan.measured),
            "downloads": [
                {"source": each.name, "bytes": each.size, "about_bytes": each.about}
                for each in downloads
                if not isinstance(each, ByHand)
            ],
            "by_hand": [each.name for each in downloads if isinstance(each, ByHand)],
            "trainings": [
                {
                    "run": name,
                    "seed": seed,
                    "state": planned.state.kind,
                    "update": planned.state.update,
                    "updates": planned.cost.updates,
                    "target_tokens": planned.cost.tokens,
                    "operations": planned.cost.operations,
                    "seconds": planned.job.seconds,
                    "seconds_at_most": planned.job.slowest,
                    "disk": planned.cost.disk,
                }
                for (name, seed), planned in trainings.items()
            ],
            "requests": sizes.table(target),
        }
        answer(as_json, content, ())
        return
    print_columns(_HEADINGS, ([title, *_cells(sums)] for title, sums in groups.items()))
    print(*sizes.lines(target), *left_out(targets, target), sep="\n")
    if profile:
        start = f"{paths.target(target, seeds)} --profile {shlex.quote(profile)}"
        _suggest_start(sizes, target, start)
    else:
        suggest(paths.target(target, seeds))


def _suggest_start(sizes: "Sizes", target: str, start: str) -> None:
    """Name the command that starts jobs, or say why it would be refused."""
    try:
        sizes.refuse_hours(target)
        sizes.refuse_disk(target)
    except FathomError as refusal:
        report(f"a start is refused: {refusal}")
    else:
        suggest(start)


def _sums(trainings: "Collection[Planned]", others: "Iterable[DeviceJob]") -> dict[str, Any]:
    """Return what trainings, and jobs after them, cost together; hours at best and at most."""
    from fathom.workflow.job_sizes import hours_of

    jobs = [*(each.job for each in trainings), *others]
    return {
        "trainings": len(trainings),
        "ended": sum(each.state.ended for each in trainings),
        "peta_operations": sum(each.cost.operations for each in trainings) / _PETA,
        "hours": hours_of(replace(job, left=1.0) for job in jobs),
        "hours_left": hours_of(jobs),
        "gigabytes_left": sum(each.cost.disk for each in trainings if not each.state.ended)
        / _GIGABYTE,
    }


def _cells(sums: Mapping[str, Any]) -> list[str]:
    return [
        _time(each) if isinstance(each, tuple) else f"{each:,{'.3g' if each < 100 else '.0f'}}"
        for each in sums.values()
    ]


def _time(hours: Iterable[float]) -> str:
    """Return hours at best and at most: once where they are equal, with one unit where it fits."""
    best, most = (duration(each * _HOUR, days=False) for each in hours)
    if best == most:
        return best
    return f"{best.rpartition(' ')[0] if best.split()[-1] == most.split()[-1] else best} to {most}"


Runs = Annotated[bool, typer.Option("--runs", help="Also print a line for each run.")]


def status(
    paper: Paper = None,
    scale: Scale = None,
    results: Results = None,
    seeds: Seeds = None,
    profile: Profile = None,
    runs: Runs = False,
    as_json: Json = False,
) -> None:
    """Print what is drawn and compared, how trainings go, and what they came to.

    It only reads files, so it can be called while trainings run, from any
    machine that sees the results folder. A training is

    - waiting: for other jobs of a start that runs;
    - queued: on a cluster, with the command that frees it if it will not start;
    - running: with loss, speed and time left;
    - finished, diverged, failed to train or stopped;
    - failed: with its last lines;
    - stale: its process is gone, and the next start resumes it;
    - not started.

    Of those that have ended: how many learned, how that differs from the papers, what
    the scale can show, and the time they took. Exit code 1 if the run that the scale
    names (`check_learning`) has ended and is not below the unigram baseline by what
    the scale requires.

    Example: fathom status latent_depth --runs
    """
    from fathom.workflow.progress import Overview

    artefacts = open_artefacts(scale, results, seeds, profile)
    names = papers_named(artefacts.project, paper, "status")
    now = Overview(artefacts, names)
    ended = _ended(artefacts, now.targets)
    content = now.as_json() | {"ended": dict(map(_as_json, ended, ended.values()))}
    answer(as_json, content, (*now.lines(runs), *_lines(artefacts, now.targets, ended)))
    if not as_json:
        top = artefacts.paths.top
        # Pages and lists are there, tables and figures in a folder of each paper.
        files = [*top.glob("*.html"), *top.glob("*.csv"), *top.glob("*/*.csv")]
        report(f"see {top}" if files else f"nothing is drawn in {top} yet")
    _require_learning(artefacts, ended)
    if ended and now.waits_for_a_start and not as_json:
        suggest(f"{artefacts.paths.target('all')}, or your text: fathom adopt")


# Of each training that has ended, by the run's full name and the seed.
Ended = Mapping[tuple[str, int], TrainingRecord]


def _ended(artefacts: Artefacts, targets: "Targets") -> Ended:
    """Return the trainings of targets that have ended."""
    project, paths = artefacts.project, artefacts.paths
    places = {
        (name, seed): paths.training(project.spec(name, paths.scale), seed)
        for name in targets.runs
        for seed in artefacts.seeds_of(name)
        if not project.not_built(name, paths.scale)
    }
    ended = {}
    for key, path in places.items():
        # Of a damaged record, the state of its training says so.
        with suppress(FathomError):
            if path.exists():
                ended[key] = training_record.read(path)
    return ended


def _as_json(training: tuple[str, int], record: TrainingRecord) -> tuple[str, dict[str, Any]]:
    """Return the name of a training that has ended, and what JSON says of it."""
    run, seed = training
    return f"{run} seed {seed}", {
        "outcome": record.outcome.kind,
        "nats_below_unigram": _below(record),
        "seconds": record.totals.seconds,
    }


def _require_learning(artefacts: Artefacts, ended: Ended) -> None:
    """Refuse that the run which the scale watches has ended and has not learned."""
    project, paths = artefacts.project, artefacts.paths
    required = project.scale(paths.scale).check_learning
    if required is None:
        return
    name = project.run_name(required.run)
    if (record := ended.get((name, 1))) is None:
        return
    below = _below(record) or 0.0
    if below < required.nats_below_unigram:
        nats = f"{below:.2f} nats below the unigram baseline"
        what = f"{name} has not learned: {nats} (>= {required.nats_below_unigram:g} required)"
        where = str(paths.training(project.spec(name, paths.scale), 1))
        raise FathomError(what, where, "read train.log and metrics.tsv next to it")


def _below(record: TrainingRecord) -> float | None:
    """Return how far a training is below the unigram baseline, in nats per token."""
    if record.validation is None or not record.outcome.finished:
        return None
    return record.unigram_nll - record.validation.nll


def _lines(artefacts: Artefacts, targets: "Targets", ended: Ended) -> Iterator[str]:
    """Yield what the trainings that have ended came to; nothing where none has."""
    if not ended:
        return
    learned = sorted(nats for nats in map(_below, ended.values()) if nats is not None and nats > 0)
    line = f"{len(learned)} of {len(ended)} trainings learned"
    if learned:
        span = dict.fromkeys((f"{learned[0]:.1f}", f"{learned[-1]:.1f}"))
        line += f": {' to '.join(span)} nats per token below the unigram baseline"
    yield f"{line}."
    for (run, seed), record in ended.items():
        if not record.outcome.finished:
            ended_at = record.outcome.update
            yield f"{run} seed {seed}: {record.outcome.words} at update {ended_at}"
    drawn = {
        name: artefact
        for name, artefact in targets.artefacts.items()
        if _share(artefact, ended) and all(map(is_there, targets.artefact_files(artefact)))
    }
    for name, artefact in drawn.items():
        for outcome, rows in _failed_there(artefacts, artefact, ended).items():
            yield f"{name}: {'; '.join(rows)} finished here, and {outcome} in the paper."
    project, scale = artefacts.project, artefacts.project.scale(artefacts.scale)
    if scale.cuts_down:
        whole = next((name for name, each in project.scales.items() if not each.cuts_down), None)
        yield f"SCALE {artefacts.scale.upper()} shows that every step works, from text to cell."
        further = f"; scale {whole} can: fathom plan --scale {whole} --gpu h200" if whole else ""
        yield f"It cannot show whether a paper's numbers hold{further}"
    seconds = sum(record.totals.seconds for record in ended.values())
    yield f"time: {len(ended)} trainings took {duration(seconds)} in all"
    for paper in {artefact.paper.name: None for artefact in drawn.values()}:
        of_paper = [each for each in drawn.values() if each.paper.name == paper]
        best = max(of_paper, key=lambda each: _share(each, ended))
        if (page := artefacts.paths.page(paper)).exists():
            yield f"page: {page}#{best.spec.name}"


def _share(artefact: Artefact, ended: Ended) -> float:
    """Return the share of the runs of a table or figure that have ended."""
    runs = {run for run, _ in ended}
    return sum(run in runs for run in artefact.runs) / max(len(artefact.runs), 1)


def _failed_there(
    artefacts: Artefacts, artefact: Artefact, ended: Ended
) -> dict[str, dict[str, None]]:
    """Return the rows of a table that finished here, by the outcome that the paper prints.

    Where a row has several runs, the column is named, too.
    """
    found: dict[str, dict[str, None]] = {}
    if isinstance(artefact.spec, Table):
        finished = {run for (run, _), record in ended.items() if record.outcome.finished}
        cells = artefacts.cells(artefact.spec)
        printed = artefact.paper.printed(artefact.spec.name, cells)
        outcomes = {(item.row, item.column): item.outcome for item in printed if item.outcome}
        for cell in cells:
            outcome = outcomes.get((cell.id, cell.column))
            if outcome and cell.source in finished:
                has_several = len(artefact.rows[cell.id]) > 1
                row = f"{cell.id}, {cell.column}" if has_several else cell.id
                found.setdefault(outcome, {})[row] = None
    return found

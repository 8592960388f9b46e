"""The verbs of trainings: plan, what they will cost; status, how they go."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fathom.cli.options import (
    Json,
    Paper,
    Results,
    Scale,
    Seeds,
    enter_job,
    open_artefacts,
    open_scale,
    papers_named,
)
from fathom.cli.terminal import answer, print_columns, report, suggest, watch
from fathom.config.schema.source import ByHand
from fathom.config.switches import seed_list
from fathom.io.screen import duration

if TYPE_CHECKING:
    from fathom.workflow.plan import DeviceJob, Planned

_HEADINGS = (
    "", "trainings", "ended", "10¹⁵ operations", "GPU time", "time left", "GB left",
)  # fmt: skip
_HOUR, _GIGABYTE, _PETA = 3600, 1e9, 1e15

Target = Annotated[str, typer.Argument(help="A target of Snakemake: all, a paper, a table, …")]
Profile = Annotated[
    str | None,
    typer.Option(
        help="slurm, or the folder of a profile: what a start with it asks for. Scale, results and "
        "site are those of its site.yaml, and what waits for a file by hand is left out."
    ),
]
Gpu = Annotated[
    str | None,
    typer.Option(
        help="h200, h100, a100, l40s, v100, cpu (a core), or 10¹² operations/s. Of what was "
        "measured, only trainings and rates on this device then count. Default: the profile's; "
        "without one h200, and all that was measured."
    ),
]
ByTable = Annotated[bool, typer.Option("--table", help="Print a line for each table and figure.")]
Devices = Annotated[int, typer.Option(min=1, help="Devices that train at the same time.")]
Calibrate = Annotated[
    bool,
    typer.Option(
        "--calibrate",
        help="First train each kind of network of the target for 25 updates on made-up text, on "
        "this device; results/rates.json keeps how fast that was.",
    ),
]


def plan(
    target: Target = "all",
    scale: Scale = None,
    results: Results = None,
    seeds: Seeds = None,
    profile: Profile = None,
    gpu: Gpu = None,
    devices: Devices = 1,
    table: ByTable = False,
    calibrate: Calibrate = False,
    as_json: Json = False,
) -> None:
    """Estimate arithmetic, time, disk and downloads of a target.

    Hours are a range: products at 65 % of the device's peak, then memory at 75 % of
    its bandwidth, 5 µs per kernel at least, recurrent networks at 10 % of the peak;
    and at most twice as long. Trainings that have made 200 updates, or else what
    --calibrate measured, replace it for networks of the same kind. Translations,
    best windows and likelihoods are counted too. With --profile it is what a start
    asks of the cluster.

    Example: fathom plan latent_depth_table5 --profile slurm
    """
    from fathom.workflow.job_sizes import Sizes, hours_of
    from fathom.workflow.start import left_out
    from fathom.workflow.targets import Targets

    project, paths = open_scale(scale, results, profile=profile)
    if seeds is not None:
        switches = project.switches.model_copy(update={"seeds": seed_list(seeds)})
        project = project.with_switches(switches)
    # Of one paper where one is named, so that a mistake in another stops nothing.
    named = tuple(name for name in project.papers if f"{target}_".startswith(f"{name}_"))
    start = profile is not None
    targets = Targets(project, paths.scale, paths, gpus=1, ready_only=start, papers=named or None)
    if target not in targets.names:
        raise targets.unknown(target)
    gpu = gpu or (project.switches.site.gpu if start else None)
    sizes = Sizes(targets, on_cluster=True, gpu=gpu)
    if calibrate:
        from fathom.train.calibrate import calibrate as measure

        enter_job()
        measure(sizes.plan.kinds(target), project.switches, paths.rates, report)
        sizes = Sizes(targets, on_cluster=True, gpu=gpu)
    plan, runs = sizes.plan, targets.names_of(target)
    trainings, others, downloads = plan.trainings(runs), plan.others(target), plan.downloads(runs)
    groups = {}
    for title, names in (plan.groups(target, table) | {"all": runs}).items():
        made = plan.trainings(names)
        of_runs = {run for run, _ in made}
        groups[title] = _sums(made.values(), [job for job in others if job.run in of_runs])
    left = sizes.missing(target).values()
    # Devices are always busy.
    longest = map(max, zip((0.0, 0.0), *map(sizes.hours_each, left), strict=True))
    wall = [max(each / devices, most) for each, most in zip(hours_of(left), longest, strict=True)]
    if as_json:
        content = {
            "groups": groups,
            "measured_trainings": len(plan.measured),
            "rates": plan.rates,
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
            "wall_hours": wall,
        }
        answer(as_json, content, ())
        return
    print_columns(_HEADINGS, ([title, *_cells(sums)] for title, sums in groups.items()))
    print(*sizes.lines(target), *left_out(targets, target), sep="\n")
    for row, names in plan.first(runs).items():
        first = _time(hours_of(each.job for each in plan.trainings(names).values()))
        print(f"do first: {row}, {first}; other rows mean little before it is right")
    print(f"wall time: {_time(wall)} on {devices} device(s)")
    suggest(f"snakemake --profile {profile} {target}" if profile else paths.target(target, seeds))


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


Runs = Annotated[bool, typer.Option("--runs", help="Print a line for each run, too.")]
Watch = Annotated[bool, typer.Option("--watch", help="Print it every few seconds until Ctrl-C.")]


def status(
    paper: Paper = None,
    scale: Scale = None,
    results: Results = None,
    seeds: Seeds = None,
    runs: Runs = False,
    watching: Watch = False,
    as_json: Json = False,
) -> None:
    """Print what is drawn and compared, and how trainings go.

    It reads files alone, so it can be called while trainings run, from any
    machine that has them. A training is waiting (for other jobs of a start that
    runs), queued (on a cluster, with the command that frees it where it will not
    start), running (with loss, speed and time left), finished, diverged, failed
    (with its last lines), stopped, stale (its process is gone; the next start
    resumes it) or not started.

    Example: fathom status latent_depth --runs
    """
    from fathom.workflow.progress import Overview

    artefacts = open_artefacts(scale, results, seeds, of_results=True)
    names = papers_named(artefacts.project, paper, "status")

    def lines() -> list[str]:
        now = Overview(artefacts, names)
        if as_json:
            return [json.dumps(now.as_json(), indent=None if watching else 1, allow_nan=False)]
        return now.lines(runs)

    if watching:
        watch(lines)
        return
    print(*lines(), sep="\n")
    if not as_json:
        top = artefacts.paths.top
        # Pages and lists are there, tables and figures in a folder of each paper.
        files = [*top.glob("*.html"), *top.glob("*.csv"), *top.glob("*/*.csv")]
        report(f"see {top}" if files else f"nothing is drawn in {top} yet")

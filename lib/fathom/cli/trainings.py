"""The verbs of trainings: plan, what they will cost; status, how they go."""

import json
import shutil
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fathom.cli.options import (
    Json,
    Paper,
    Results,
    Scale,
    Seeds,
    open_artefacts,
    open_scale,
    papers_named,
)
from fathom.cli.terminal import answer, print_columns, report, suggest, watch
from fathom.config.paths import Paths
from fathom.config.schema.source import ByHand
from fathom.config.switches import seed_list
from fathom.io.screen import duration

if TYPE_CHECKING:
    from fathom.config.schema.source import Source
    from fathom.workflow.plan import DeviceJob, Planned

_HEADINGS = (
    "", "trainings", "ended", "10¹⁵ operations", "GPU time", "time left", "GB left",
)  # fmt: skip
_REQUESTS = ("runs", "GPUs each", "hours each", "GPU-hours")
# Hours from which a training is requested in another group.
_SIZES = (1, 24)
_HOUR, _GIGABYTE, _PETA = 3600, 1e9, 1e15

Target = Annotated[str, typer.Argument(help="A target of Snakemake: all, a paper, a table, …")]
Gpu = Annotated[
    str | None,
    typer.Option(
        help="h200, h100, a100, l40s, v100, cpu (a core), or 10¹² operations/s. Of what was "
        "measured, only trainings and rates on this device then count. Default: h200, and all "
        "that was measured."
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
    best windows and likelihoods are counted too. `snakemake -n <target>` lists all
    jobs.

    Example: fathom plan latent_depth_table5 --scale paper --gpu h200
    """
    from fathom.workflow.plan import DEFAULT, Plan
    from fathom.workflow.targets import Targets

    project, paths = open_scale(scale, results)
    if seeds is not None:
        switches = project.switches.model_copy(update={"seeds": seed_list(seeds)})
        project = project.with_switches(switches)
    # Of one paper where one is named, so that a mistake in another stops nothing.
    named = tuple(name for name in project.papers if f"{target}_".startswith(f"{name}_"))
    targets = Targets(project, paths.scale, paths, papers=named or None)
    if target not in targets.names:
        raise targets.unknown(target)
    plan = Plan(targets, gpu)
    if calibrate:
        from fathom.train.calibrate import calibrate as measure

        measure(plan.kinds(target), project.switches, paths.rates, report)
        plan = Plan(targets, gpu)
    runs = targets.names_of(target)
    trainings, others, downloads = plan.trainings(runs), plan.others(target), plan.downloads(runs)
    groups = {}
    for title, names in (plan.groups(target, table) | {"all": runs}).items():
        made = plan.trainings(names)
        of_runs = {run for run, _ in made}
        groups[title] = _sums(made, [job for job in others if job.run in of_runs])
    jobs = [each.job for each in trainings.values()] + others
    requests = _requests([job for job in jobs if job.left])
    left = _sum(_hours(jobs))
    # Devices are always busy, and a job has one.
    longest = map(max, zip(*_hours(jobs), strict=True))
    wall = [max(each / devices, most) for each, most in zip(left, longest, strict=True)]
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
            "requests": requests,
            "wall_hours": wall,
        }
        answer(as_json, content, ())
        return
    print_columns(_HEADINGS, ([title, *_cells(sums)] for title, sums in groups.items()))
    print_columns(_REQUESTS, map(_request, requests))
    for row, names in plan.first(runs).items():
        first = _time(_sums(plan.trainings(names), ())["hours_left"])
        print(f"do first: {row}, {first}; other rows mean little before it is right")
    print(f"wall time: {_time(wall)} on {devices} device(s)")
    print(f"disk: {_disk(trainings, paths)}")
    for line in _downloads(downloads):
        print(line)
    known = [f"{len(plan.measured)} trainings here"] if plan.measured else []
    known += [f"{len(plan.rates)} kinds of networks by --calibrate"] if plan.rates else []
    if known:
        report(f"times: measured on {' and '.join(known)}, others by these")
    else:
        report(f"times: an estimate for one {gpu or DEFAULT}; nothing was measured")
    suggest(paths.target(target, seeds))


def _hours(jobs: "Iterable[DeviceJob]") -> list[tuple[float, float]]:
    """Return the hours that are left of each job, at best and at most; none are 0."""
    return [job.hours_left for job in jobs] or [(0.0, 0.0)]


def _sum(hours: Iterable[tuple[float, float]]) -> list[float]:
    return [sum(each) for each in zip(*hours, strict=True)]


def _sums(
    trainings: Mapping[tuple[str, int], "Planned"], others: "Iterable[DeviceJob]"
) -> dict[str, Any]:
    """Return what trainings, and jobs after them, cost together; hours at best and at most."""
    planned = trainings.values()
    jobs = [*(each.job for each in planned), *others]
    return {
        "trainings": len(trainings),
        "ended": sum(each.state.ended for each in planned),
        "peta_operations": sum(each.cost.operations for each in planned) / _PETA,
        "hours": [
            sum(job.seconds for job in jobs) / _HOUR,
            sum(job.slowest for job in jobs) / _HOUR,
        ],
        "hours_left": _sum(_hours(jobs)),
        "gigabytes_left": sum(each.cost.disk for each in planned if not each.state.ended)
        / _GIGABYTE,
    }


def _requests(jobs: "Iterable[DeviceJob]") -> list[dict[str, Any]]:
    """Return what is asked of a cluster: the jobs of each rule, trainings by their length."""
    from fathom.workflow.plan import RULES, TRAIN

    groups: dict[tuple[int, int, int], list[DeviceJob]] = {}
    for job in jobs:
        size = sum(job.hours_left[0] >= hours for hours in _SIZES) if job.rule == TRAIN else 0
        groups.setdefault((RULES.index(job.rule), size, job.gpus), []).append(job)
    requests = []
    for (rule, size, gpus), group in sorted(groups.items()):
        hours = [[each / gpus for each in job.hours_left] for job in group]
        requests.append(
            {
                "rule": RULES[rule],
                "from_hours": (0, *_SIZES)[size],
                "runs": len(group),
                "gpus": gpus,
                "hours_each": [min(best for best, _ in hours), max(most for _, most in hours)],
                "gpu_hours": _sum(job.hours_left for job in group),
            }
        )
    return requests


def _request(request: Mapping[str, Any]) -> list[str]:
    """Return the cells of a line of the requests."""
    longer = f", {request['from_hours']} h and more" if request["from_hours"] else ""
    runs = f"{request['runs']:,} {request['rule']}{longer}"
    hours = (
        " to ".join(dict.fromkeys(_shown(each) if each >= 0.01 else "< 0.01" for each in range_))
        for range_ in (request["hours_each"], request["gpu_hours"])
    )
    return [runs, str(request["gpus"]), *hours]


def _cells(sums: Mapping[str, Any]) -> list[str]:
    return [_time(value) if isinstance(value, list) else _shown(value) for value in sums.values()]


def _time(hours: Iterable[float]) -> str:
    """Return hours at best and at most: once where they are equal, with one unit where it fits."""
    best, most = (duration(each * _HOUR, days=False) for each in hours)
    if best == most:
        return best
    return f"{best.rpartition(' ')[0] if best.split()[-1] == most.split()[-1] else best} to {most}"


def _shown(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.3g}" if value < 100 else f"{value:,.0f}"


def _disk(trainings: "Mapping[tuple[str, int], Planned]", paths: Paths) -> str:
    """Return what trainings still write, the run that writes most, and the room for it."""
    sizes: dict[str, int] = {}
    for (run, _), each in trainings.items():
        if not each.state.ended:
            sizes[run] = sizes.get(run, 0) + each.cost.disk
    if not sizes:
        return "nothing more"
    most, needed = max(sizes, key=sizes.__getitem__), sum(sizes.values())
    folder = paths.results.resolve()
    there = next(each for each in (folder, *folder.parents) if each.is_dir())
    free = shutil.disk_usage(there).free
    room = "" if needed < free else "; not enough"
    return (
        f"{_gigabytes(needed)}, of which {most} takes most ({_gigabytes(sizes[most])}); "
        f"{_gigabytes(free)} free in {paths.results}{room}"
    )


def _gigabytes(size: float) -> str:
    return f"{_shown(size / _GIGABYTE)} GB"


def _downloads(sources: "list[Source]") -> list[str]:
    """Return the lines of what is fetched, and of each file that a user must put by hand."""
    by_hand = [source for source in sources if isinstance(source, ByHand)]
    fetched = [source for source in sources if not isinstance(source, ByHand)]
    line = f"downloads: {len(fetched) or 'none'}"
    if fetched:
        known = [source.about for source in fetched if source.about is not None]
        about = "about " if any(source.size is None for source in fetched) else ""
        line += f", {about}{_gigabytes(sum(known))}"
        unknown = len(fetched) - len(known)
        line += f" and {unknown} of unknown size" if unknown else ""
    if by_hand:
        line += f"; {len(by_hand)} files by hand: {', '.join(each.file for each in by_hand)}"
    return [line, *(f"  {each.file}: {each.steps}" for each in by_hand)]


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

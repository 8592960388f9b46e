"""The verbs of trainings: plan, what they will cost; status, how they go."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

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
from fathom.config.switches import seed_list
from fathom.io.screen import duration

if TYPE_CHECKING:
    from fathom.config.schema.source import Source
    from fathom.workflow.plan import Planned

_HEADINGS = (
    "", "trainings", "ended", "10¹⁵ operations", "device time", "time left", "GB left",
)  # fmt: skip
_TIMES = ("hours", "hours_left")
_HOUR, _GIGABYTE, _PETA = 3600, 1e9, 1e15

Target = Annotated[str, typer.Argument(help="A target of Snakemake: all, a paper, a table, …")]
Gpu = Annotated[
    str | None,
    typer.Option(
        help="h200, h100, a100, l40s, v100, cpu (a core), or 10¹² operations/s. Of what was "
        "measured, only trainings on this device then count. Default: h200, and all that was "
        "measured."
    ),
]
ByTable = Annotated[bool, typer.Option("--table", help="Print a line for each table and figure.")]
Devices = Annotated[int, typer.Option(min=1, help="Devices that train at the same time.")]


def plan(
    target: Target = "all",
    scale: Scale = None,
    results: Results = None,
    seeds: Seeds = None,
    gpu: Gpu = None,
    devices: Devices = 1,
    table: ByTable = False,
    as_json: Json = False,
) -> None:
    """Estimate arithmetic, time, disk and downloads of a target.

    Hours are an estimate: products at 65 % of the device's peak, then memory at 75 %
    of its bandwidth; 5 µs per kernel at least; recurrent networks at 10 % of the peak.
    Once trainings have made 200 updates, their speed replaces the estimate, also
    for networks of the same kind that have not started. `snakemake -n <target>`
    lists the jobs.

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
    runs = targets.names_of(target)
    trainings, downloads = plan.trainings(runs), plan.downloads(runs)
    groups = {
        title: _sums(plan.trainings(names)) for title, names in plan.groups(target, table).items()
    }
    groups["all"] = _sums(trainings)
    # Devices are always busy, and a training has one.
    left = [each.seconds * each.left / _HOUR for each in trainings.values()]
    wall = max([sum(left) / devices, *left])
    if as_json:
        content = {
            "groups": groups,
            "measured_trainings": len(plan.measured),
            "downloads": [{"source": each.name, "bytes": each.size} for each in downloads],
            "trainings": [
                {
                    "run": name,
                    "seed": seed,
                    "state": planned.state.kind,
                    "update": planned.state.update,
                    "updates": planned.cost.updates,
                    "target_tokens": planned.cost.tokens,
                    "operations": planned.cost.operations,
                    "seconds": planned.seconds,
                    "disk": planned.cost.disk,
                }
                for (name, seed), planned in trainings.items()
            ],
            "wall_hours": wall,
        }
        answer(as_json, content, ())
        return
    print_columns(_HEADINGS, ([title, *_cells(sums)] for title, sums in groups.items()))
    for row, names in plan.first(runs).items():
        first = _time(_sums(plan.trainings(names))["hours_left"])
        print(f"do first: {row}, {first}; other rows mean little before it is right")
    print(f"wall time: {_time(wall)} of training on {devices} device(s)")
    print(f"downloads: {_downloads(downloads)}")
    if plan.measured:
        report(f"times: measured on {len(plan.measured)} trainings here, others by these")
    else:
        report(f"times: an estimate for one {gpu or DEFAULT}; nothing was measured")
    suggest(paths.target(target, seeds))


def _sums(trainings: Mapping[tuple[str, int], "Planned"]) -> dict[str, float]:
    planned = trainings.values()
    return {
        "trainings": len(trainings),
        "ended": sum(each.state.ended for each in planned),
        "peta_operations": sum(each.cost.operations for each in planned) / _PETA,
        "hours": sum(each.seconds for each in planned) / _HOUR,
        "hours_left": sum(each.seconds * each.left for each in planned) / _HOUR,
        "gigabytes_left": sum(each.cost.disk for each in planned if not each.state.ended)
        / _GIGABYTE,
    }


def _cells(sums: Mapping[str, float]) -> list[str]:
    return [_time(value) if name in _TIMES else _shown(value) for name, value in sums.items()]


def _time(hours: float) -> str:
    return duration(hours * _HOUR, days=False)


def _shown(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.3g}" if value < 100 else f"{value:,.0f}"


def _downloads(sources: "list[Source]") -> str:
    if not sources:
        return "nothing, all sources are here"
    sizes = [source.size for source in sources if source.size]
    unknown = len(sources) - len(sizes)
    words = f"{len(sources)} files, {_shown(sum(sizes) / _GIGABYTE)} GB"
    return f"{words} and {unknown} of unknown size" if unknown else words


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

"""`fathom plan`: what a target will cost, before anything is spent."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from fathom.artefacts.needs import Needs
from fathom.cli.columns import print_columns
from fathom.cli.durations import duration
from fathom.cli.options import (
    Json,
    Results,
    Scale,
    Seeds,
    open_paths,
    open_project,
    report,
    suggest,
)
from fathom.config.schema.source import Source
from fathom.config.switches import seed_list
from fathom.workflow.plan import DEFAULT, PEAKS, Plan, Planned
from fathom.workflow.targets import ALL, Targets

_HEADINGS = (
    "", "trainings", "ended", "10¹⁵ operations", "device time", "time left", "GB left",
)  # fmt: skip
_TIMES = ("hours", "hours_left")
_HOUR, _GIGABYTE, _PETA = 3600, 1e9, 1e15

Target = Annotated[str, typer.Argument(help="A target of Snakemake: all, a paper, a table, …")]
Gpu = Annotated[
    str | None,
    typer.Option(
        help=f"{', '.join(PEAKS)} (a core), or 10¹² operations/s. Of what was measured, only "
        f"trainings on this device then count. Default: {DEFAULT}, and all that was measured."
    ),
]
ByTable = Annotated[bool, typer.Option("--table", help="Print a line for each table and figure.")]
Devices = Annotated[int, typer.Option(min=1, help="Devices that train at the same time.")]


def plan(
    target: Target = ALL,
    scale: Scale = None,
    results: Results = None,
    seeds: Seeds = None,
    gpu: Gpu = None,
    devices: Devices = 1,
    table: ByTable = False,
    as_json: Json = False,
) -> None:
    """Estimate arithmetic, time, disk and downloads of a target.

    A device reaches a stated share of its peak: 33 % for networks of width 1024,
    25 % for narrower ones, 15 % for deep ones, 10 % for recurrent ones. Once
    trainings have made 200 updates, their speed replaces the stated one, also
    for networks of the same kind that have not started. `snakemake -n <target>`
    lists the jobs.

    Example: fathom plan latent_depth_table5 --scale paper --gpu h200
    """
    project = open_project()
    name, paths = open_paths(project, scale, results)
    if seeds is not None:
        switches = project.switches.model_copy(update={"seeds": seed_list(seeds)})
        project = project.with_switches(switches)
    known = Plan(Targets(Needs(project, name), paths), gpu)
    if target not in known.targets.names:
        raise known.targets.unknown(target)
    groups = {title: known.trainings(runs) for title, runs in known.groups(target, table).items()}
    every = known.trainings(known.targets.names_of(target))
    lines = {title: _sums(own) for title, own in groups.items()} | {"all": _sums(every)}
    downloads = known.downloads(known.targets.names_of(target))
    wall = _wall_hours(every, devices)
    if as_json:
        content = _as_json(lines, every, downloads, known) | {"wall_hours": wall}
        print(json.dumps(content, indent=1, allow_nan=False))
        return
    print_columns(_HEADINGS, ([title, *_cells(sums)] for title, sums in lines.items()))
    for row, runs in known.first(known.targets.names_of(target)).items():
        left = _time(_sums(known.trainings(runs))["hours_left"])
        print(f"do first: {row}, {left}; other rows mean little before it is right")
    print(f"wall time: {_time(wall)} of training on {devices} device(s)")
    print(f"downloads: {_downloads(downloads)}")
    report(_basis(known, gpu))
    suggest(paths.target(target, seeds))


def _sums(trainings: Mapping[tuple[str, int], Planned]) -> dict[str, float]:
    own = trainings.values()
    return {
        "trainings": len(trainings),
        "ended": sum(one.state.ended for one in own),
        "peta_operations": sum(one.cost.operations for one in own) / _PETA,
        "hours": sum(one.seconds for one in own) / _HOUR,
        "hours_left": sum(one.seconds * one.left for one in own) / _HOUR,
        "gigabytes_left": sum(one.cost.disk for one in own if not one.state.ended) / _GIGABYTE,
    }


def _wall_hours(trainings: Mapping[tuple[str, int], Planned], devices: int) -> float:
    """Return the hours of what is left: devices are always busy, and a training has one."""
    left = [one.seconds * one.left / _HOUR for one in trainings.values()]
    return max([sum(left) / devices, *left])


def _cells(sums: Mapping[str, float]) -> list[str]:
    return [_time(value) if name in _TIMES else _shown(value) for name, value in sums.items()]


def _time(hours: float) -> str:
    return duration(hours * _HOUR, days=False)


def _shown(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.3g}" if value < 100 else f"{value:,.0f}"


def _downloads(sources: list[Source]) -> str:
    if not sources:
        return "nothing, all sources are here"
    sizes = [source.size for source in sources if source.size]
    unknown = len(sources) - len(sizes)
    words = f"{len(sources)} files, {_shown(sum(sizes) / _GIGABYTE)} GB"
    return f"{words} and {unknown} of unknown size" if unknown else words


def _basis(known: Plan, gpu: str | None) -> str:
    """Return where the times come from."""
    if known.count_measured:
        return f"times: measured on {known.count_measured} trainings here, others by these"
    return f"times: stated shares of the peak of one {gpu or DEFAULT}; nothing was measured"


def _as_json(
    lines: dict[str, dict[str, float]],
    every: Mapping[tuple[str, int], Planned],
    downloads: list[Source],
    known: Plan,
) -> dict[str, Any]:
    """Return everything as JSON has it."""
    return {
        "groups": lines,
        "measured_trainings": known.count_measured,
        "downloads": [{"source": source.name, "bytes": source.size} for source in downloads],
        "trainings": [
            {
                "run": name,
                "seed": seed,
                "state": one.state.kind,
                "update": one.state.update,
                "updates": one.cost.updates,
                "target_tokens": one.cost.tokens,
                "operations": one.cost.operations,
                "seconds": one.seconds,
                "disk": one.cost.disk,
            }
            for (name, seed), one in every.items()
        ],
    }

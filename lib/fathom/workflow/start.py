"""What a start finds, checks, records and prints before it runs or submits anything."""

import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from fathom.artefacts.needs import sources_of
from fathom.config.demand import kind_of
from fathom.config.spec import Spec
from fathom.config.switches import require_even_shares
from fathom.io import screen
from fathom.io.errors import FathomError
from fathom.io.machine import installed_torch
from fathom.workflow import starts
from fathom.workflow.job_sizes import Sizes
from fathom.workflow.plan import TRAIN
from fathom.workflow.targets import ALL, CLAIMS, READING, Targets

EXECUTOR = "slurm-attach"
# The files whose dates Snakemake compares, and by how many seconds clocks of machines may differ.
_MADE = (
    "sources/*/*.json",
    "corpora/*/*.json",
    "corpora/*/*/*.json",
    "subwords/*/*.json",
    "tensors/*/*.json",
    "runs/*/*/*/*.json",
    "runs/*/*/*/decodings/*.json",
    "runs/*/*/*/measurements/*.json",
)
_SECONDS = 2
# Data sets whose titles a start prints.
_NAMED = 2


def title(targets: Targets) -> str:
    """Return the first line of every start: its scale, and where that is written.

    What a scale's title says of the text, after a semicolon, holds for the papers' runs alone: see
    `text`.
    """
    scale, place = targets.project.scale(targets.scale), targets.project.given.at(("scale",)).file
    name = targets.scale
    # Whoever meant the papers' trainings shall see it before hours have passed.
    shown = f"SCALE {name.upper()}" if scale.cuts_down else f"scale {name}"
    return f"{shown} ({place}): {scale.title.removeprefix(f'{name}: ').partition('; ')[0]}"


def text(targets: Targets, target: str) -> str:
    """Return the text of a target's runs: the titles of data sets, and what they replace."""
    project, names = targets.project, targets.names_of(target)
    used = dict.fromkeys(targets.spec(name).data.dataset for name in names)
    own = dict.fromkeys(project.spec(name).data.dataset for name in names)
    titles = "; ".join(project.datasets[name].title for name in [*used][:_NAMED])
    more = f"; and {len(used) - _NAMED} more data sets" if len(used) > _NAMED else ""
    replaced = [name for name in own if name not in used]
    instead = f" (in place of {', '.join(replaced)})" if replaced else ""
    return f"text: {titles}{more}{instead}"


def found(targets: Targets, target: str) -> list[str]:
    """Return what a target finds, what it trains, and what cannot be made yet.

    Raises:
        FathomError: If the target cannot be made.
    """
    trainings = _trainings(targets, target)
    if not trainings:
        what = "claims" if target == CLAIMS else "cells"
        note = f"; {what} without a result say `not run`" if target in READING else ""
        return [f"{target}: nothing will be trained{note}"]
    missing = sum(not path.exists() for path in trainings)
    ended = len(trainings) - missing
    line = f"{target}: {ended} of {len(trainings)} trainings found, {missing} to train"
    return [line, text(targets, target), *_stale(targets, target), *left_out(targets, target)]


def _trainings(targets: Targets, target: str) -> dict[Path, Spec]:
    """Return the trainings of a target, and those that runs start from, by their training.json."""
    return {
        targets.paths.training(spec, seed): spec
        for name in targets.names_of(target)
        for spec in map(targets.spec, targets.with_start(name))
        for seed in targets.seeds(name)
    }


def _stale(targets: Targets, target: str) -> Iterator[str]:
    """Yield how many trainings were made by an older recipe, and what happens to them."""
    stale = {
        (targets.spec(name).name, seed)
        for name in targets.names_of(target)
        for seed in targets.seeds(name)
        if targets.is_stale(targets.spec(name), seed)
    }
    if stale:
        again = targets.project.switches.retrain == "stale"
        verdict = "trained again from nothing" if again else "kept; --config retrain=stale"
        yield f"{len(stale)} trainings of an older recipe: {verdict}"


def left_out(targets: Targets, target: str) -> Iterator[str]:
    """Yield how many trainings are left out, by their first reason, then tables and figures.

    A training is not built yet, or waits for a file that only the user can get.
    """
    papers = [name for name in targets.project.papers if target in (ALL, name)]
    reasons: Counter[str] = Counter()
    fetched: Counter[str] = Counter()
    for name, reason in targets.runs_not_built.items():
        if name.partition("/")[0] in papers and name not in targets.of_controls:
            of_text = reason if name in targets.waiting else reason.split("; ")[0]
            reasons[of_text] += len(targets.seeds(name))
            if scale := targets.fetched_at.get(name):
                fetched[scale] += len(targets.seeds(name))
    if reasons:
        ways = (
            f"; `snakemake {target} --config scale={scale}` fetches text for {count} of them"
            for scale, count in fetched.items()
        )
        yield f"{reasons.total()} trainings are left out{''.join(ways)}:"
    yield from (f"  {count}: {reason}" for reason, count in reasons.items())
    without = [
        name
        for name, artefact in targets.artefacts.items()
        if targets.has_part(target, artefact) and name in targets.artefacts_not_built
    ]
    if without:
        yield f"tables and figures that are left out: {', '.join(without)}"


def say(lines: Iterable[str]) -> None:
    """Print lines for the user, where Snakemake prints its own."""
    for line in lines:
        screen.say(line if line.startswith(" ") else f"fathom: {line}")


def say_left_out(targets: Targets, asked: Iterable[str]) -> None:
    """Print at the end of a start what its targets leave out."""
    say(dict.fromkeys(line for target in asked for line in left_out(targets, target)))


def announce(workflow: Any, sizes: Sizes, target: str) -> None:
    """Print what a target finds and what a start asks for, before it is refused or begins."""
    say(found(sizes.targets, target))
    say(sizes.lines(target) if sizes.on_cluster else sizes.hours(target))
    say(ready(workflow, sizes, target))


def ready(workflow: Any, sizes: Sizes, target: str) -> list[str]:
    """Check, record and describe a start; nothing of a dry run.

    `workflow` is Snakemake's, after it has chosen how jobs run.

    Raises:
        FathomError: If what is missing takes more hours than the user allows or more disk than is
            free, or jobs ask for GPUs that their torch cannot use.
    """
    if workflow.executor_plugin is None or workflow.dryrun or workflow.touch:
        return []
    targets = sizes.targets
    sizes.refuse_hours(target)
    sizes.refuse_disk(target)
    if sizes.begun and targets.gpus:
        require_cuda()
    missing = {
        path: (
            kind_of(spec.model),
            updates if isinstance(updates := spec.training.updates, int) else None,
        )
        for path, spec in _trainings(targets, target).items()
        if not path.exists()
    }
    stop = _HOW_TO_STOP_HERE if missing else ()
    if workflow.executor_plugin.name == EXECUTOR and target not in READING:
        stop = (
            "Ctrl-C cancels all jobs of this start on Slurm; trainings save first",
            f"to leave them running: kill -KILL {os.getpid()}; the next start takes them over",
        )
    sites = look_up_sites(targets, target) if sizes.on_cluster else []
    is_first = _enter.cache_info().currsize == 0
    # Also of a start without a cluster, so that the next start knows whose its lock was.
    entered = _enter(targets.paths.cluster)
    starts.add_trainings(targets.paths.cluster, missing)
    return [*sites, *stop, *entered] if is_first else sites


def look_up_sites(targets: Targets, target: str) -> list[str]:
    """Return how many files of the text that is still to be prepared were found, in one line.

    Raises:
        FathomError: If a file is nowhere: its download may come only after hours on GPUs.
    """
    # What downloads needs packages that a dry run does not.
    from fathom.data.sites import counts, look_up

    if not targets.project.switches.check_sources:
        return []
    runs = {spec.name for path, spec in _trainings(targets, target).items() if not path.exists()}
    sources = sources_of(targets.project, filter(targets.lacks_text, targets.texts(*sorted(runs))))
    files = look_up(sources, targets.paths.source, targets.paths.by_hand)
    for item in files:
        if item.is_missing:
            what = f"no address has {item.file} ({'; '.join(item.faults) or 'it comes by hand'})"
            remedy = f"{item.remedy}; without this check: --config check_sources=false"
            raise FathomError(what, f"source {item.source.name}", remedy)
    return [f"sources: {counts(files)}"] if files else []


def require_cuda() -> None:
    """Refuse jobs on GPUs whose torch is built for CPUs, as far as that can be seen from here.

    The torch is that of the environment of the `fathom` which jobs will run. Each job would refuse
    by itself, one after the other.

    Raises:
        FathomError: If it is a build for CPUs.
    """
    command = shutil.which("fathom")
    torch = installed_torch(Path(command).parents[1]) if command else ""
    if torch.endswith("+cpu"):
        what = f"jobs ask for GPUs, and torch {torch} beside {command} is built for CPUs"
        remedy = "make environment without TORCH_INDEX, or start with --config device=cpu"
        raise FathomError(what, "start", remedy)


_HOW_TO_STOP_HERE = (
    "Ctrl-C stops all jobs of this start; trainings save first, and the next start resumes",
    "to close the terminal and leave them running, start in tmux or screen",
)


@cache
def _enter(above: Path) -> tuple[str, ...]:
    """Record this process once, and return what is printed of other starts."""
    return tuple(starts.enter(above))


def require_even_devices(workflow: Any, targets: Targets) -> None:
    """Refuse a start on a cluster with devices that cannot share the updates of a training.

    Only a command line asks for such devices. `workflow` is Snakemake's, when it knows its jobs.

    Raises:
        FathomError: If there are such.
    """
    if workflow.nodes is None or workflow.dryrun or workflow.touch:
        return
    for job in workflow.dag.needrun_jobs():
        if job.rule.name == TRAIN:
            devices = max(_devices(job.resources), 1)
            require_even_shares(targets.project.switches.micro_batches, devices)


def _devices(resources: Mapping[str, Any]) -> int:
    """Return the GPUs of all nodes that a job asks for: `gpu`, or `gres` for each node."""
    if gres := resources.get("gres"):
        each = sum(map(int, re.findall(r"gpu(?::[^:,()]+)?:(\d+)", str(gres))))
        return each * int(resources.get("nodes") or 1)
    return int(resources.get("gpu") or 0)


def set_back(results: Path) -> Iterator[str]:
    """Date files of the future now, in their order; yield a line for each.

    A machine whose clock is ahead leaves them. Snakemake takes what is made from such a file for
    older than it, and makes it again at every start.
    """
    now = time.time()
    dates: dict[Path, float] = {}
    for path in (path for pattern in _MADE for path in results.glob(pattern)):
        # A broken link, or a file that was deleted meanwhile: whoever reads it says so.
        with suppress(OSError):
            dates[path] = path.stat().st_mtime
    for path, date in sorted(dates.items(), key=lambda item: item[1]):
        if date > now + _SECONDS and os.access(path, os.W_OK):
            with suppress(FileNotFoundError):
                os.utime(path)
            minutes = (date - now) / 60
            yield f"{path}: dated {minutes:.1f} minutes in the future, dated now"

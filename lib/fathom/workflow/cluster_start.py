"""What a start on a cluster checks and prints before it submits anything."""

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fathom.cluster import heads, jobs, preflight
from fathom.cluster.scheduler import Scheduler
from fathom.cluster.schedulers import SCHEDULERS, scheduler_of
from fathom.errors import FathomError
from fathom.workflow.targets import READING, Targets

TRAIN = "train_run"


def lines(workflow: Any, targets: Targets, target: str) -> list[str]:
    """Return what a user must know; empty in a dry run, and without one of our cluster profiles.

    Args:
        workflow: Snakemake's, after it has chosen how jobs run.
        targets: at the scale of this start.
        target: what the user asks for.

    Raises:
        FathomError: nothing can be submitted, or more GPU-hours than the user allows.
    """
    if workflow.executor_plugin is None or workflow.dryrun or workflow.touch:
        return []
    profile = _profile(workflow)
    if profile is None or target in READING:
        # Also of a start without a cluster, so that nobody takes its lock for a dead one's.
        heads.record()
        return []
    scheduler = scheduler_of(profile)
    names = targets.names_of(target)
    asked = _asked(workflow, targets, names)
    refuse_gpu_hours(targets, names, asked.get(TRAIN, {}))
    remarks = preflight.check(scheduler, asked, jobs.top())
    first = _enter.cache_info().currsize == 0
    printed = [*remarks, *_enter(), *_how_to_stop(scheduler)] if first else remarks
    return [f"fathom: {line}" for line in printed]


def _profile(workflow: Any) -> str | None:
    """Return the name of the cluster's profile, from the command by which jobs are submitted.

    Raises:
        FathomError: the command is not there.
    """
    command = Path(getattr(workflow.executor_settings, "submit_cmd", None) or "")
    if command.name != "submit" or command.parent.name not in SCHEDULERS:
        return None
    if not command.is_file():
        what = f"no such file in {Path.cwd()}"
        remedy = "with --directory, give --profile the profile's absolute path"
        raise FathomError(what, str(command), remedy)
    return command.parent.name


def _asked(workflow: Any, targets: Targets, names: list[str]) -> dict[str, dict[str, Any]]:
    """Return what each rule's jobs ask for, by rule; of the run that needs most memory."""
    runs = targets.runs
    folders = [f"{spec.paper}/{spec.folder}" for spec in map(runs.spec, names)]
    wildcards = SimpleNamespace(run=max(folders, key=runs.memory, default=""))
    asked = {}
    for rule in workflow.rules:
        if workflow.is_local(rule) or ("run" in rule.wildcard_names and not names):
            continue
        given = {
            name: resource.evaluate(
                wildcards, input=(), attempt=1, threads=1, rulename=rule.name, async_run=None
            ).value
            for name, resource in rule.resources.items()
            if not name.startswith("_")
        }
        asked[rule.name] = jobs.on_device(given)
    return asked


def refuse_gpu_hours(targets: Targets, names: list[str], resources: Mapping[str, Any]) -> None:
    """Refuse a start whose trainings ask for more GPU-hours than `gpu_hours`.

    Args:
        targets: at the scale of this start.
        names: full names of the runs.
        resources: of a training.

    Raises:
        FathomError: with both numbers.
    """
    most = targets.project.switches.gpu_hours
    if most is None:
        return
    missing = [
        path
        for spec, seeds in ((targets.runs.spec(name), targets.runs.seeds(name)) for name in names)
        for path in (targets.paths.training(spec, seed) for seed in seeds)
        if not path.exists()
    ]
    devices = jobs.gpus(resources) * int(resources.get("nodes") or 1)
    hours = len(missing) * devices * int(resources.get("runtime") or 0) / 60
    if hours > most:
        what = f"{len(missing)} trainings ask for {hours:g} GPU-hours, more than {most}"
        raise FathomError(what, "gpu_hours", "name fewer runs, a shorter runtime, or raise it")


@cache
def _enter() -> tuple[str, ...]:
    """Record this process once, and return what is printed of others."""
    return tuple(heads.enter())


def _how_to_stop(scheduler: Scheduler) -> list[str]:
    return [
        f"Ctrl-C cancels all jobs of this start on {scheduler.title}; trainings save first",
        f"to leave them running: kill -KILL {os.getpid()}; the next start takes them over",
    ]

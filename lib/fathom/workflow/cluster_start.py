"""What a start checks, records and prints before it runs or submits anything."""

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fathom.cluster import jobs, preflight, starts
from fathom.cluster.slurm import Slurm
from fathom.config.switches import require_even_shares
from fathom.io.errors import FathomError
from fathom.workflow import plan
from fathom.workflow.targets import READING, Targets

TRAIN, PREPARE = "train_run", "prepare_corpus"


def lines(workflow: Any, targets: Targets, target: str) -> list[str]:
    """Return what a user must know of a start; empty in a dry run.

    Args:
        workflow: Snakemake's, after it has chosen how jobs run.
        targets: at the scale of this start.
        target: what the user asks for.

    Raises:
        FathomError: nothing can be submitted, the devices of a training cannot share its updates,
            or trainings ask for more GPU-hours than the user allows.
    """
    if workflow.executor_plugin is None or workflow.dryrun or workflow.touch:
        return []
    missing = plan.missing(targets, target)
    stop, remarks = _how_to_stop_here() if missing else [], []
    if _is_on_slurm(workflow) and target not in READING:
        names = targets.names_of(target)
        asked = _asked(workflow, targets, names)
        # A start may have several targets, which share trainings.
        all_missing = {path.absolute() for path in missing}
        all_missing |= starts.trainings_here(targets.paths.cluster)
        training = asked.get(TRAIN, {})
        processes = max(jobs.gpus(training), 1) * int(training.get("nodes") or 1)
        require_even_shares(targets.project.switches.micro_batches, processes)
        refuse_gpu_hours(targets, len(all_missing), training)
        remarks = preflight.check(Slurm(), asked, jobs.top())
        stop = _how_to_stop_on_slurm()
    starts.add_trainings(targets.paths.cluster, missing)
    first = _enter.cache_info().currsize == 0
    # Also of a start without a cluster, so that nobody takes its lock for a dead one's.
    entered = _enter()
    printed = [*remarks, *entered, *stop] if first else remarks
    return [f"fathom: {line}" for line in printed]


def _is_on_slurm(workflow: Any) -> bool:
    """Return whether jobs are submitted by the command of the profile `slurm`.

    Raises:
        FathomError: If the command is not there.
    """
    command = Path(getattr(workflow.executor_settings, "submit_cmd", None) or "")
    if (command.parent.name, command.name) != ("slurm", "submit"):
        return False
    if not command.is_file():
        what = f"no such file in {Path.cwd()}"
        remedy = "with --directory, give --profile the profile's absolute path"
        raise FathomError(what, str(command), remedy)
    return True


def _asked(workflow: Any, targets: Targets, names: list[str]) -> dict[str, dict[str, Any]]:
    """Return what each rule's jobs ask for, by rule; of the run that needs most memory.

    What a job asks for its text follows from its input, which is not there yet: any text will do.
    """
    runs = targets.runs
    folders = [f"{spec.paper}/{spec.folder}" for spec in map(runs.spec, names)]
    largest = max(folders, key=runs.memory, default="")
    text, data = next(iter(targets.demands.project.data_folders(targets.paths.scale).items()))
    asked = {}
    for rule in workflow.rules:
        if workflow.is_local(rule) or ("run" in rule.wildcard_names and not names):
            continue
        of_text = data.corpus_folder if rule.name == PREPARE else text
        wildcards = SimpleNamespace(run=largest, data=of_text)
        given = {
            name: resource.evaluate(
                wildcards, input=(), attempt=1, threads=1, rulename=rule.name, async_run=None
            ).value
            for name, resource in rule.resources.items()
            if not name.startswith("_")
        }
        asked[rule.name] = jobs.on_device(given)
    return asked


def refuse_gpu_hours(targets: Targets, count: int, resources: Mapping[str, Any]) -> None:
    """Refuse a start whose trainings ask for more GPU-hours than `gpu_hours`.

    Args:
        targets: at the scale of this start.
        count: trainings that all targets of the start miss.
        resources: of a training.

    Raises:
        FathomError: with both numbers.
    """
    most = targets.project.switches.gpu_hours
    devices = jobs.gpus(resources) * int(resources.get("nodes") or 1)
    hours = count * devices * int(resources.get("runtime") or 0) / 60
    if most is not None and hours > most:
        what = f"{count} trainings ask for {hours:g} GPU-hours, more than {most}"
        raise FathomError(what, "gpu_hours", "name fewer runs, a shorter runtime, or raise it")


@cache
def _enter() -> tuple[str, ...]:
    """Record this process once, and return what is printed of others."""
    return tuple(starts.enter())


def _how_to_stop_on_slurm() -> list[str]:
    return [
        "Ctrl-C cancels all jobs of this start on Slurm; trainings save first",
        f"to leave them running: kill -KILL {os.getpid()}; the next start takes them over",
    ]


def _how_to_stop_here() -> list[str]:
    return [
        "Ctrl-C stops all jobs of this start; trainings save first, and the next start resumes",
        "to close the terminal and leave them running, start in tmux or screen",
    ]

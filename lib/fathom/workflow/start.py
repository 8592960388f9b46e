"""What a start finds, checks, records and prints before it runs or submits anything.

And what Snakemake is kept from: jobs that run at every start, and looks for jobs without end.
"""

import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from fathom.config.switches import require_even_shares
from fathom.io.errors import FathomError
from fathom.workflow import starts
from fathom.workflow.targets import ALL, CLAIMS, READING, Targets

TRAIN, EXECUTOR = "train_run", "slurm-attach"
# Names in a line; Snakemake's own list of jobs has all of them.
MOST_NAMES = 12
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
# Jobs and seconds of Snakemake's own limit, where a user gives none.
_DEFAULT_LIMIT = (100, 1)


def title(targets: Targets) -> str:
    """Return the first line of every start."""
    return f"fathom: scale {targets.project.scale(targets.scale).title}"


def found(targets: Targets, target: str) -> list[str]:
    """Return what a target finds, what it trains, and what cannot be made yet.

    Raises:
        FathomError: If the target cannot be made.
    """
    trainings = _trainings(targets, targets.names_of(target))
    if not trainings:
        what = "claims" if target == CLAIMS else "cells"
        note = f"; {what} without a result say `not run`" if target in READING else ""
        return [f"fathom: {target}: nothing will be trained{note}"]
    missing = [label for label, path in trainings.items() if not path.exists()]
    line = (
        f"fathom: {target}: {len(trainings) - len(missing)} of {len(trainings)} trainings found, "
        f"{len(missing)} to train"
    )
    more = [f"and {len(missing) - MOST_NAMES} more"] if len(missing) > MOST_NAMES else []
    names = ", ".join([*missing[:MOST_NAMES], *more])
    printed = [f"{line}: {names}" if names else line, *_stale(targets, target)]
    if target == ALL or target in targets.project.papers:
        printed += _not_built(targets, target)
    return printed


def _trainings(targets: Targets, names: list[str]) -> dict[str, Path]:
    """Return training.json by `<run>-<hash8>`, with the seed where it is not 1.

    A run comes after the run that it starts from.
    """
    trainings = {}
    for name in names:
        for trained in targets.with_start(name):
            spec = targets.spec(trained)
            for seed in targets.seeds(name):
                label = spec.folder if seed == 1 else f"{spec.folder} seed {seed}"
                trainings[f"{spec.paper}/{label}"] = targets.paths.training(spec, seed)
    return trainings


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
        yield f"fathom: {len(stale)} trainings of an older recipe: {verdict}"


def _not_built(targets: Targets, target: str) -> Iterator[str]:
    """Yield the runs that cannot be trained yet, by their first reason, then tables and figures."""
    papers = [target] if target in targets.project.papers else list(targets.project.papers)
    reasons: dict[str, dict[str, list[str]]] = {}
    count = 0
    for name, reason in targets.runs_not_built.items():
        paper, run = name.split("/")
        if paper in papers:
            reasons.setdefault(reason.split("; ")[0], {}).setdefault(paper, []).append(run)
            count += len(targets.seeds(name))
    if count:
        yield f"fathom: {count} trainings are not built yet:"
    for reason, runs in reasons.items():
        yield f"  {reason}:"
        yield from (f"    {paper}: {', '.join(names)}" for paper, names in runs.items())
    artefacts = targets.artefacts
    waiting = [name for name in targets.artefacts_not_built if artefacts[name].paper.name in papers]
    if waiting:
        yield f"fathom: tables and figures that are not built yet: {', '.join(waiting)}"


def ready(workflow: Any, targets: Targets, target: str) -> list[str]:
    """Record and describe a start; nothing of a dry run.

    `workflow` is Snakemake's, after it has chosen how jobs run.
    """
    if workflow.executor_plugin is None or workflow.dryrun or workflow.touch:
        return []
    trainings = _trainings(targets, targets.names_of(target)).values()
    missing = [path for path in trainings if not path.exists()]
    stop = _HOW_TO_STOP_HERE if missing else ()
    if _is_on_slurm(workflow) and target not in READING:
        stop = (
            "Ctrl-C cancels all jobs of this start on Slurm; trainings save first",
            f"to leave them running: kill -KILL {os.getpid()}; the next start takes them over",
        )
    starts.add_trainings(targets.paths.cluster, missing)
    is_first = _enter.cache_info().currsize == 0
    # Also of a start without a cluster, so that the next start knows whose its lock was.
    entered = _enter()
    return [f"fathom: {line}" for line in (*entered, *stop) if is_first]


_HOW_TO_STOP_HERE = (
    "Ctrl-C stops all jobs of this start; trainings save first, and the next start resumes",
    "to close the terminal and leave them running, start in tmux or screen",
)


@cache
def _enter() -> tuple[str, ...]:
    """Record this process once, and return what is printed of other starts."""
    return tuple(starts.enter())


def _is_on_slurm(workflow: Any) -> bool:
    """Return whether jobs are submitted by the executor of the profile `slurm`."""
    return workflow.executor_plugin.name == EXECUTOR


def require_allowed(workflow: Any, targets: Targets) -> None:
    """Refuse a start on a cluster by what its trainings ask for, before the first is submitted.

    `workflow` is Snakemake's, when it knows its jobs.

    Raises:
        FathomError: If the devices of a training cannot share its updates, or the trainings ask for
            more GPU-hours than the user allows.
    """
    if workflow.nodes is None or workflow.dryrun or workflow.touch:
        return
    switches, hours, count = targets.project.switches, 0.0, 0
    for job in workflow.dag.needrun_jobs():
        if job.rule.name == TRAIN:
            devices = _devices(job.resources)
            require_even_shares(switches.micro_batches, max(devices, 1))
            hours += devices * int(job.resources.get("runtime") or 0) / 60
            count += 1
    if switches.gpu_hours is not None and hours > switches.gpu_hours:
        what = f"{count} trainings ask for {hours:g} GPU-hours, more than {switches.gpu_hours}"
        raise FathomError(what, "gpu_hours", "name fewer runs, a shorter runtime, or raise it")


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
            yield f"fathom: {path}: dated {minutes:.1f} minutes in the future, dated now"


def look_only_when_jobs_end(workflow: Any) -> None:
    """Let Snakemake look for jobs when one has ended, and not once a second for each that has.

    While its limit of jobs per second is on, every look sets a clock for the next one, and every
    job that ends looks too: after 500 jobs there are 500 looks per second, which take half a core
    from the trainings. The limit is dropped where nobody asked for it.

    `workflow` is Snakemake's, when its scheduler is there and has not begun.
    """
    limit = workflow.scheduler.job_rate_limiter
    if limit is not None and (limit.max_jobs, limit.timespan) == _DEFAULT_LIMIT:
        workflow.scheduler.job_rate_limiter = None

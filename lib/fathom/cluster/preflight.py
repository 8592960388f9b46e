"""Whether a cluster would take the jobs of a start, asked before the first one is submitted."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fathom.cluster.jobs import folders
from fathom.cluster.scheduler import RUNNING, Scheduler, State
from fathom.io.errors import FathomError, Findings, shortened, unknown

# What a profile may ask for; Snakemake adds some of them by itself.
RESOURCES = (
    *("runtime", "mem_mb", "gres", "gpu", "partition", "account", "qos", "constraint", "nodes"),
    *("mem_mib", "mem", "disk", "disk_mb", "disk_mib", "tmpdir"),
)
Resources = Mapping[str, Any]


def check(scheduler: Scheduler, asked: Mapping[str, Resources], above: Path) -> list[str]:
    """Return lines for the user: remarks, and which jobs of an earlier start are taken over.

    Args:
        scheduler: of the cluster.
        asked: the resources of each rule whose jobs are submitted.
        above: the folder with a folder for each job.

    Raises:
        FathomError: the scheduler is not here, or does not answer.
        Findings: the scheduler would refuse jobs, or never start them.
    """
    missing = scheduler.missing()
    if missing:
        what = f"no `{missing}` on the search path; nothing was submitted"
        remedy = f"start on a login node of the cluster, or without --profile {scheduler.name}"
        raise FathomError(what, f"--profile {scheduler.name}", remedy)
    lines, findings = [], []
    for rules, resources in _distinct(asked):
        where = f"profiles/{scheduler.name}/config.yaml: {rules}"
        findings += [
            unknown("resource", name, where, RESOURCES)
            for name in resources
            if name not in RESOURCES and not name.startswith("_")
        ]
        refusals = scheduler.refusals(resources) if not findings else []
        findings += [FathomError(what, where, remedy) for what, remedy in refusals]
        lines += [] if findings else scheduler.remarks(resources)
    if findings:
        raise Findings(findings)
    states = scheduler.states()
    if states is None:
        what = f"{scheduler.title} does not answer; nothing was submitted"
        raise FathomError(what, f"--profile {scheduler.name}", "start again when it answers")
    return [*dict.fromkeys(lines), *_live(scheduler, states, above)]


def _distinct(asked: Mapping[str, Resources]) -> Iterator[tuple[str, Resources]]:
    """Yield each set of resources once, with the rules that ask for it."""
    groups: dict[tuple, list[str]] = {}
    for rule, resources in asked.items():
        groups.setdefault(tuple(sorted((k, str(v)) for k, v in resources.items())), []).append(rule)
    for rules in groups.values():
        yield ", ".join(rules), asked[rules[0]]


def _live(scheduler: Scheduler, states: Mapping[str, State], above: Path) -> Iterator[str]:
    """Yield which jobs of an earlier start wait or run, and which will not start."""
    live = {}
    for folder in folders(above):
        record = folder.record()
        state = states.get(record.get("now", ""))
        if state and state.word == RUNNING:
            live[f"{record['rule']} {record['label']}"] = record["now"], state
    if live:
        yield f"jobs of an earlier start are taken over ({len(live)}): {shortened(live)}"
    for name, (number, state) in live.items():
        if cure := scheduler.cure(number, state):
            yield f"{name}: job {number} will not start by itself ({state.reason}): {cure}"

"""Whether Slurm would take the jobs of a start, asked before the first one is submitted.

`sbatch --test-only` accepts a time above a partition's limit, with which the job waits for ever.
And it refuses as a wrong configuration what would only wait, while nodes are down or Slurm has just
started. So the numbers are compared with sinfo's, and its answer counts where all nodes are up.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fathom.cluster.jobs import folders, gpus
from fathom.cluster.slurm import RUNNING, JobState, Slurm, ask, missing, options
from fathom.io.errors import FathomError, Findings, nearest, shortened, unknown

# What a profile may ask for; Snakemake adds some of them by itself.
RESOURCES = (
    *("runtime", "mem_mb", "gres", "gpu", "partition", "account", "qos", "constraint", "nodes"),
    *("mem_mib", "mem", "disk", "disk_mb", "disk_mib", "tmpdir", "local_gpu", "resumes"),
)
PROFILE = "--profile slurm"
_UP = ("idle", "mixed", "allocated", "completing", "planned")
_TIME = re.compile(r"(?:(\d+)-)?(?:(?:(\d+):)?(\d+):)?(\d+)")
_GPUS = re.compile(r"gpu:(?:[^:,(]+:)?(\d+)")
Resources = Mapping[str, Any]


def check(slurm: Slurm, requested: Mapping[str, Resources], above: Path) -> list[str]:
    """Return lines for the user: remarks, and which jobs of an earlier start are taken over.

    Args:
        requested: the resources of each rule whose jobs are submitted.
        above: the folder with a folder for each job.

    Raises:
        FathomError: If Slurm is not here, or does not answer.
        Findings: If Slurm would refuse jobs, or never start them.
    """
    if program := missing():
        what = f"no `{program}` on the search path; nothing was submitted"
        remedy = f"start on a login node of the cluster, or without {PROFILE}"
        raise FathomError(what, PROFILE, remedy)
    lines, findings = [], []
    for rules, resources in _distinct(requested):
        where = f"profiles/slurm/config.yaml: {rules}"
        findings += [
            unknown("resource", name, where, RESOURCES)
            for name in resources
            if name not in RESOURCES and not name.startswith("_")
        ]
        reasons = refusals(resources) if not findings else []
        findings += [FathomError(what, where, remedy) for what, remedy in reasons]
        lines += [] if findings else remarks(resources)
    if findings:
        raise Findings(findings)
    states = slurm.states()
    if states is None:
        what = "Slurm does not answer; nothing was submitted"
        raise FathomError(what, PROFILE, "start again when it answers")
    return [*dict.fromkeys(lines), *_live(slurm, states, above)]


def _distinct(requested: Mapping[str, Resources]) -> Iterator[tuple[str, Resources]]:
    """Yield each set of resources once, with the rules that ask for it."""
    groups: dict[tuple, list[str]] = {}
    for rule, resources in requested.items():
        groups.setdefault(tuple(sorted((k, str(v)) for k, v in resources.items())), []).append(rule)
    for rules in groups.values():
        yield ", ".join(rules), requested[rules[0]]


def _live(slurm: Slurm, states: Mapping[str, JobState], above: Path) -> Iterator[str]:
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
        if cure := slurm.cure(number, state):
            yield f"{name}: job {number} will not start by itself ({state.reason}): {cure}"


@dataclass
class Partition:
    """A partition as sinfo lists it."""

    minutes: float  # the longest time of a job
    nodes: list[tuple[int, int, bool]] = field(default_factory=list)  # memory (MB), GPUs, is up

    @property
    def up(self) -> int:
        """Nodes that are up."""
        return sum(up for _, _, up in self.nodes)


def partitions() -> tuple[dict[str, Partition], str]:
    """Return the partitions by name, and the name of the default.

    Raises:
        FathomError: If Slurm does not answer.
    """
    answer = ask("sinfo", "--noheader", "--format", "%P|%l|%m|%G|%D|%T", seconds=10)
    rows = [line.split("|") for line in answer.text.split("\n") if line]
    if answer.code or not rows or any(len(row) != 6 for row in rows):
        reason = answer.message or "no list of partitions"
        what = f"Slurm does not answer ({reason}); nothing was submitted"
        raise FathomError(what, "sinfo", "wait until `sinfo` works here, and start again")
    listed: dict[str, Partition] = {}
    default = ""
    for name, limit, memory, gres, count, state in rows:
        default = name.rstrip("*") if name.endswith("*") else default
        partition = listed.setdefault(name.rstrip("*"), Partition(minutes(limit)))
        is_up = state.rstrip("*~#!%$@^-+").lower() in _UP
        node = (int(memory.rstrip("+")), sum(map(int, _GPUS.findall(gres))), is_up)
        partition.nodes += [node] * int(count)
    return listed, default


def minutes(limit: str) -> float:
    """Return Slurm's `[days-][[hours:]minutes:]seconds` in minutes; infinite for no limit."""
    match = _TIME.fullmatch(limit)
    if not match:
        return math.inf
    days, hours, mins, seconds = (int(part or 0) for part in match.groups())
    return days * 1440 + hours * 60 + mins + seconds / 60


def refusals(resources: Resources) -> list[tuple[str, str]]:
    """Return why a job with such resources would be refused or never start, and the remedy."""
    listed, default = partitions()
    name = str(resources.get("partition") or default)
    if name not in listed:
        return [(f"no partition '{name}'", nearest(name, listed))]
    partition = listed[name]
    limits = (
        ("runtime", float(resources.get("runtime") or 0), partition.minutes, "minutes"),
        ("nodes", int(resources.get("nodes") or 1), len(partition.nodes), "nodes"),
        ("mem_mb", int(resources.get("mem_mb") or 0), _most(partition, 0), "MB on a node"),
        ("gres", gpus(resources), _most(partition, 1), "GPUs on a node"),
    )
    for key, amount, most, unit in limits:
        if amount > most:
            what = f"{amount:g} {unit} is more than partition {name} gives ({most:g})"
            return [(what, f"lower `{key}`, or name another partition")]
    answer = ask("sbatch", "--test-only", *options(resources), "--wrap", "true", seconds=10)
    # This refusal may only mean that nodes are down.
    may_wait = "node configuration" in answer.message and partition.up < len(partition.nodes)
    if answer.code == 0 or may_wait:
        return []
    reason = (answer.message or answer.text).split("\n")[-1].rpartition(": ")[2]
    words = " ".join(options(resources))
    return [(f"Slurm refuses {words} ({reason})", "ask for what `sinfo` and your account have")]


def remarks(resources: Resources) -> list[str]:
    """Return that jobs may have to wait for nodes that are down."""
    listed, default = partitions()
    name = str(resources.get("partition") or default)
    if name not in listed or listed[name].up == len(listed[name].nodes):
        return []
    up, count = listed[name].up, len(listed[name].nodes)
    return [f"partition {name} has {up} of {count} nodes up; jobs may wait for the others"]


def _most(partition: Partition, at: int) -> int:
    return max((int(node[at]) for node in partition.nodes), default=0)

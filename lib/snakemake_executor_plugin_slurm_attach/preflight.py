"""Whether the cluster would take the jobs of a start, asked before the first is submitted.

`sbatch --test-only` accepts a time above a partition's limit, with which a job waits for ever. And
it refuses as a wrong configuration what would only wait, while nodes are down. So numbers are
compared with sinfo's, and its answer counts where all nodes are up.
"""

import difflib
import math
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from . import slurm
from .request import Request, count_gpus

_UP = ("idle", "mixed", "allocated", "completing", "planned")
_TIME = re.compile(r"(?:(\d+)-)?(?:(?:(\d+):)?(\d+):)?(\d+)")
_FIELDS = "%P|%l|%m|%c|%G|%D|%T"


@dataclass
class Partition:
    """A partition as sinfo lists it."""

    minutes: float  # the longest time of a job
    nodes: list[tuple[int, int, int]] = field(default_factory=list)  # MB, cores, GPUs
    up: int = 0  # nodes that are up


def check(requests: list[Request]) -> tuple[list[str], list[str]]:
    """Return why jobs would be refused or never start, and what else the user should know."""
    if not requests:
        return [], []
    if missing := [name for name in slurm.COMMANDS if shutil.which(name) is None]:
        return [f"no `{missing[0]}` on the search path; start on a login node of the cluster"], []
    listed, default = partitions()
    rows = slurm.rows()
    if not listed or rows is None:
        return ["Slurm does not answer; start again when `sinfo` and `squeue` work here"], []
    problems: dict[str, list[str]] = {}
    # Rules may tell Slurm the same, and a resource that is misspelt tells it nothing.
    asked = [(*each.options, *(name for name, _ in each.misspelt())) for each in requests]
    for words, request in dict(zip(asked, requests, strict=True)).items():
        if problem := _does_not_fit(request, listed, default):
            same = [each.rule for each, key in zip(requests, asked, strict=True) if key == words]
            problems.setdefault(problem, []).extend(same)
    for request in _largest(requests) if not problems else ():
        if problem := _refused(request, listed, default):
            problems.setdefault(problem, []).append(request.rule)
    names = {request.name: request for request in requests}
    live = [row for row in rows if row.is_live and row.name in names]
    remarks = [
        f"job {row.number} of an earlier start is taken over: {names[row.name]}" for row in live
    ]
    used = {name for request in requests for name in request.partitions or [default]}
    for name in sorted(used & listed.keys()):
        up, count = listed[name].up, len(listed[name].nodes)
        if up < count:
            remarks.append(f"partition {name} has {up} of {count} nodes up")
    return [f"{', '.join(sorted(set(rules)))}: {text}" for text, rules in problems.items()], remarks


def partitions() -> tuple[Mapping[str, Partition], str]:
    """Return the partitions by name, also hidden ones, and the name of the default one."""
    answer = slurm.ask("sinfo", "--all", "--noheader", f"--format={_FIELDS}")
    listed: dict[str, Partition] = {}
    default = ""
    for row in (line.split("|") for line in answer.text.split("\n")):
        if len(row) != 7:
            continue
        name, limit, memory, cores, gres, count, state = row
        default = name.rstrip("*") if name.endswith("*") else default
        partition = listed.setdefault(name.rstrip("*"), Partition(minutes(limit)))
        node = (int(memory.rstrip("+")), int(cores.rstrip("+")), count_gpus(gres))
        partition.nodes += [node] * int(count)
        partition.up += int(count) * (state.rstrip("*~#!%$@^-+").lower() in _UP)
    return listed, default


def minutes(limit: str) -> float:
    """Return Slurm's `[days-][[hours:]minutes:]seconds` in minutes; infinite for no limit."""
    match = _TIME.fullmatch(limit)
    if not match:
        return math.inf
    days, hours, mins, seconds = (int(part or 0) for part in match.groups())
    return days * 1440 + hours * 60 + mins + seconds / 60


def _largest(requests: list[Request]) -> Iterator[Request]:
    """Yield of all jobs that differ in time, memory and cores alone the largest."""
    groups: dict[tuple[str, ...], Request] = {}
    for request in requests:
        key = tuple(w for w in request.options if not w.startswith(("--time", "--mem", "--cpus-")))
        groups[key] = max(groups.get(key, request), request, key=_size)
    yield from groups.values()


def _size(request: Request) -> tuple[int, int, int]:
    return int(request.resources.get("runtime") or 0), request.memory, request.cores


def _does_not_fit(request: Request, listed: Mapping[str, Partition], default: str) -> str | None:
    """Return what no partition of a job has, with the remedy."""
    for name, near in request.misspelt():
        return f"no resource '{name}'; nearest valid name: '{near}'"
    total = 0 if request.resources.get("gres") else int(request.resources.get("gpu") or 0)
    if total % request.nodes:
        return f"{request.nodes} nodes cannot share {total} GPUs; change `gpu`"
    names = request.partitions or [default]
    for name in names:
        if name not in listed:
            near = difflib.get_close_matches(name, listed, 1, 0) or ["none"]
            whose = "its resource" if request.resources.get("partition") else "the option"
            return f"no partition '{name}' ({whose} `partition`); nearest valid name: '{near[0]}'"
    reasons = [_exceeds(request, listed[name], name) for name in names]
    return reasons[0] if all(reasons) else None


def _exceeds(request: Request, partition: Partition, name: str) -> str | None:
    memory, cores, gpus = map(max, zip(*partition.nodes, strict=True))
    limits = (
        ("runtime", int(request.resources.get("runtime") or 0), partition.minutes, "minutes"),
        ("nodes", request.nodes, len(partition.nodes), "nodes"),
        ("gpu", request.gpus, gpus, "GPUs on a node"),
        ("mem_mb", request.memory, memory, "MB on a node"),
        ("threads", request.cores, cores, "cores on a node"),
    )
    for key, amount, most, unit in limits:
        if amount > most:
            what = f"{amount:g} {unit} is more than partition {name} gives ({most:g})"
            return f"{what}; lower `{key}`, or name another partition"
    return None


def _refused(request: Request, listed: Mapping[str, Partition], default: str) -> str | None:
    """Return why Slurm refuses a job, in its words."""
    answer = slurm.ask("sbatch", "--test-only", *request.options, "--wrap", "true")
    used = [listed[name] for name in request.partitions or [default]]
    are_down = any(partition.up < len(partition.nodes) for partition in used)
    may_wait = "node configuration" in answer.message and are_down
    if answer.code == 0 or may_wait or answer.is_limit or answer.is_lost:
        return None
    return f"Slurm refuses {' '.join(request.options)} ({answer.reason})"

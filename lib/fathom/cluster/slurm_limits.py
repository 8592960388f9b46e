"""What Slurm's partitions allow, and what a job asks for.

`sbatch --test-only` accepts a time above a partition's limit, with which the job waits for ever.
And it refuses as a wrong configuration what would only wait, while nodes are down or Slurm has just
started. So the numbers are compared with sinfo's, and its answer counts where all nodes are up.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fathom.cluster.jobs import gpus
from fathom.cluster.scheduler import ask
from fathom.io.errors import FathomError, nearest

_UP = ("idle", "mixed", "allocated", "completing", "planned")
_TIME = re.compile(r"(?:(\d+)-)?(?:(?:(\d+):)?(\d+):)?(\d+)")
_GPUS = re.compile(r"gpu:(?:[^:,(]+:)?(\d+)")
# Snakemake's resources that sbatch has an option for.
_OPTIONS = {
    "partition": "partition",
    "account": "account",
    "qos": "qos",
    "constraint": "constraint",
    "nodes": "nodes",
    "mem_mb": "mem",
    "runtime": "time",
}


@dataclass
class Partition:
    """A partition as sinfo lists it.

    Attributes:
        minutes: the longest time of a job.
        nodes: of each node its memory in MB, its GPUs, and whether it is up.
    """

    minutes: float
    nodes: list[tuple[int, int, bool]] = field(default_factory=list)

    @property
    def up(self) -> int:
        """Nodes that are up."""
        return sum(up for _, _, up in self.nodes)


def options(resources: Mapping[str, Any]) -> list[str]:
    """Return sbatch's options for resources by Snakemake's names."""
    words = [
        f"--{option}={resources[key]}" for key, option in _OPTIONS.items() if resources.get(key)
    ]
    if resources.get("gres"):
        words.append(f"--gres={resources['gres']}")
    elif resources.get("gpu"):
        words.append(f"--gres=gpu:{resources['gpu']}")
    return words


def minutes(limit: str) -> float:
    """Return Slurm's `[days-][[hours:]minutes:]seconds` in minutes; infinite for no limit."""
    match = _TIME.fullmatch(limit)
    if not match:
        return math.inf
    days, hours, mins, seconds = (int(part or 0) for part in match.groups())
    return days * 1440 + hours * 60 + mins + seconds / 60


def partitions() -> tuple[dict[str, Partition], str]:
    """Return the partitions by name, and the name of the default.

    Raises:
        FathomError: Slurm does not answer.
    """
    answer = ask("sinfo", "--noheader", "--format", "%P|%l|%m|%G|%D|%T", seconds=10)
    rows = [line.split("|") for line in answer.text.split("\n") if line]
    if answer.code or not rows or any(len(row) != 6 for row in rows):
        reason = answer.message or "no list of partitions"
        what = f"Slurm does not answer ({reason}); nothing was submitted"
        raise FathomError(what, "sinfo", "wait until `sinfo` works here, and start again")
    known: dict[str, Partition] = {}
    default = ""
    for name, limit, memory, gres, count, state in rows:
        default = name.rstrip("*") if name.endswith("*") else default
        partition = known.setdefault(name.rstrip("*"), Partition(minutes(limit)))
        node = (int(memory.rstrip("+")), sum(map(int, _GPUS.findall(gres))), _is_up(state))
        partition.nodes += [node] * int(count)
    return known, default


def _is_up(state: str) -> bool:
    return state.rstrip("*~#!%$@^-+").lower() in _UP


def refusals(resources: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return why a job with such resources would be refused or never start, and the remedy."""
    known, default = partitions()
    name = str(resources.get("partition") or default)
    if name not in known:
        return [(f"no partition '{name}'", nearest(name, known))]
    asked = (
        ("runtime", float(resources.get("runtime") or 0), known[name].minutes, "minutes"),
        ("nodes", int(resources.get("nodes") or 1), len(known[name].nodes), "nodes"),
        ("mem_mb", int(resources.get("mem_mb") or 0), _most(known[name], 0), "MB on a node"),
        ("gres", gpus(resources), _most(known[name], 1), "GPUs on a node"),
    )
    for key, amount, most, unit in asked:
        if amount > most:
            what = f"{amount:g} {unit} is more than partition {name} gives ({most:g})"
            return [(what, f"lower `{key}`, or name another partition")]
    answer = ask("sbatch", "--test-only", *options(resources), "--wrap", "true", seconds=10)
    if answer.code == 0 or (_waits(answer.message) and known[name].up < len(known[name].nodes)):
        return []
    reason = (answer.message or answer.text).split("\n")[-1].rpartition(": ")[2]
    words = " ".join(options(resources))
    return [(f"Slurm refuses {words} ({reason})", "ask for what `sinfo` and your account have")]


def remarks(resources: Mapping[str, Any]) -> list[str]:
    """Return that jobs may have to wait for nodes that are down."""
    known, default = partitions()
    name = str(resources.get("partition") or default)
    if name not in known or known[name].up == len(known[name].nodes):
        return []
    up, count = known[name].up, len(known[name].nodes)
    return [f"partition {name} has {up} of {count} nodes up; jobs may wait for the others"]


def _waits(message: str) -> bool:
    """Return whether a refusal may only mean that nodes are down."""
    return "node configuration" in message


def _most(partition: Partition, at: int) -> int:
    return max((int(node[at]) for node in partition.nodes), default=0)

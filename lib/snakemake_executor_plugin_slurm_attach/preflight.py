"""Whether the cluster would take the jobs of a start, asked before the first is submitted.

`sbatch --test-only` accepts a time above a partition's limit, with which a job waits for ever. And
it refuses as a wrong configuration what would only wait, while nodes are down. So numbers are
compared with sinfo's, and its answer counts where all nodes are up. It is asked with all words of
the submission.
"""

import difflib
import math
import os
import re
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from . import slurm
from .request import SINGLETON, Request, count_gpus

_UP = ("idle", "mixed", "allocated", "completing", "planned")
_TIME = re.compile(r"(?:(\d+)-)?(?:(?:(\d+):)?(\d+):)?(\d+)")
# The place of what nobody has written.
_ALWAYS = "of every job"
_FIELDS = "%P|%l|%m|%c|%G|%D|%T"


@dataclass
class Partition:
    """A partition as sinfo lists it."""

    minutes: float  # the longest time of a job
    nodes: list[tuple[int, int, int]] = field(default_factory=list)  # MB, cores, GPUs
    up: int = 0  # nodes that are up


def check(requests: list[Request], folder: Path) -> tuple[list[str], bool]:
    """Return why jobs would be refused or never start, and whether Slurm takes SINGLETON.

    There is a line for each reason, with its rules. `folder` has the folders of jobs.
    """
    if not requests:
        return [], True
    if missing := [name for name in slurm.COMMANDS if shutil.which(name) is None]:
        what = f"no `{missing[0]}` on the search path; start on a login node of the cluster"
        return [what], True
    listed, default = partitions()
    if not listed:
        return ["Slurm does not answer; start again when `sinfo` works here"], True
    problems: defaultdict[str, set[str]] = defaultdict(set)
    for request in requests:
        if problem := _does_not_fit(request, listed, default):
            problems[problem].add(request.rule)
    is_single = True
    for request in () if problems else _largest(requests):
        used = [listed[name] for name in request.partitions or [default]]
        are_up = all(partition.up == len(partition.nodes) for partition in used)
        words = request.words(folder / request.name, is_single)
        problem = _refused(request, words, are_up)
        if problem and SINGLETON in words:
            words.remove(SINGLETON)
            without = _refused(request, words, are_up)
            problem, is_single = without and problem, bool(without)
        if problem:
            problems[problem].add(request.rule)
    return [f"{', '.join(sorted(rules))}: {text}" for text, rules in problems.items()], is_single


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


def _does_not_fit(request: Request, listed: Mapping[str, Partition], default: str) -> str | None:
    """Return what no partition of a job has, with the remedy."""
    for key, what, remedy in request.refused():
        return f"{what} ({_place(request, key)}); {remedy}"
    if "{" in (request.resumes or ""):
        return "Snakemake fills no wildcards into the resource `resumes`; make it a function"
    total = 0 if request.resources.get("gres") else int(request.resources.get("gpu") or 0)
    if total % request.nodes:
        place = _place(request, "gpu")
        return f"{request.nodes} nodes cannot share {total} GPUs; change `gpu` ({place})"
    names = request.partitions or [default]
    for name in names:
        if name not in listed:
            near = difflib.get_close_matches(name, listed, 1, 0) or ["none"]
            place = _place(request, "partition")
            return f"no partition '{name}' ({place}); nearest valid name: '{near[0]}'"
    reasons = [_exceeds(request, listed[name], name) for name in names]
    return reasons[0] if all(reasons) else None


def _exceeds(request: Request, partition: Partition, name: str) -> str | None:
    memory, cores, gpus = map(max, zip(*partition.nodes, strict=True))
    limits = (
        ("runtime", request.minutes, partition.minutes, "minutes"),
        ("nodes", request.nodes, len(partition.nodes), "nodes"),
        ("gres" if request.resources.get("gres") else "gpu", request.gpus, gpus, "GPUs on a node"),
        ("mem_mb", request.memory, memory, "MB on a node"),
        ("threads", request.threads, cores, "cores on a node"),
        ("cpus_per_gpu", request.cores, cores, "cores on a node"),
    )
    for key, amount, most, unit in limits:
        if amount > most:
            what = f"{amount:g} {unit} is more than partition {name} gives ({most:g})"
            return f"{what}; lower `{key}` ({_place(request, key)}), or name another partition"
    return None


def _largest(requests: list[Request]) -> Iterable[Request]:
    """Return of all jobs that differ in time, memory and cores alone the largest."""
    groups: dict[tuple[str, ...], Request] = {}
    for request in sorted(requests, key=lambda each: (each.minutes, each.memory, each.cores)):
        key = [w for _, w in request.asked if not w.startswith(("--time", "--mem", "--cpus-"))]
        groups[*key, str(bool(request.resumes))] = request
    return groups.values()


def _refused(request: Request, words: list[str], are_up: bool) -> str | None:
    """Return why Slurm refuses a job, in its words, and where all that it asks for is written.

    Args:
        words: those of its submission.
        are_up: whether all nodes of its partitions are.
    """
    answer = slurm.ask("sbatch", "--test-only", *words)
    may_wait = "node configuration" in answer.message and not are_up
    if answer.code == 0 or may_wait or answer.kind in ("later", "lost"):
        return None
    places: defaultdict[str, list[str]] = defaultdict(list)
    for key, option in request.asked:
        places[_place(request, key)].append(option)
    places[_ALWAYS] += [SINGLETON] * (SINGLETON in words)
    asked = (f"{' '.join(options)} ({place})" for place, options in places.items())
    return f"Slurm refuses a job: {answer.reason}: {', '.join(asked)}"


def _place(request: Request, key: str) -> str:
    """Return where a value was written: the command line, a profile's file, or the job's rule."""
    if key in ("nodes", "ntasks-per-node") and not request.resources.get(key):
        return _ALWAYS
    if not request.resources.get(key):
        is_other = key == "partition" and request.gpus and request.settings.gpu_partition
        key = {"gres": "gpu"}.get(key, f"gpu_{key}" if is_other else key)
    is_resource = request.resources.get(key) or not hasattr(request.settings, key)
    word = f"({request.rule}:)?{key}="
    line = rf"(set|default)-resources:.*(\n[ -].*)*?\b{key}['\"]?\s*[=:]"
    if not is_resource:
        key = f"slurm-attach-{key.replace('_', '-')}"
        word, line = f"--{key}(=|$)", f"{key}:"
    if any(re.match(word, each) for each in sys.argv):
        return f"`{key}` of the command line"
    named = re.findall(r"--profile[ =](\S+)", " ".join(sys.argv))
    for name in named or [os.environ.get("SNAKEMAKE_PROFILE", "")]:
        # Snakemake looks for a profile by its path, then among those of the user.
        for folder in (Path(name), Path.home() / ".config" / "snakemake" / name):
            for path in (folder / "config.yaml", folder / "profile.yaml"):
                if path.is_file() and re.search(f"(?m)^{line}", path.read_text("utf-8")):
                    return f"`{key}` in {path}"
    return "a resource of the rule" if is_resource else f"`{key}` of the profile, or its default"

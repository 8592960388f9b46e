"""What a Slurm has, and the lines of profiles/slurm that follow from it."""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from getpass import getuser
from math import prod
from pathlib import Path

from fathom.config.demand import device_named
from fathom.io.errors import FathomError
from fathom.io.files import write_text
from fathom.io.machine import installed_torch
from fathom.workflow.plan import free_space, gigabytes

OPTION = "slurm-attach-"
_COMMANDS = ("sinfo", "sbatch")
_GPUS = re.compile(r"gpu:(?:([^:,(]+):)?(\d+)")
_TIME = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)")
_LIMIT = re.compile(r"gres/gpu(?::\w+)?=(\d+)")
# The most GPUs, cores for each, minutes and jobs that are proposed where a site allows more.
_MOST_GPUS, _CORES, _MINUTES, _JOBS = 8, 4, 1440, 100
# Seconds in which a command must answer.
_PATIENCE = 30


@dataclass(frozen=True)
class ListedPartition:
    """A partition as sinfo lists it."""

    name: str
    is_default: bool
    minutes: int | None  # the longest time of a job; None for any
    cores: int  # of a node
    nodes: int
    # GPUs of a node and how many nodes have them, by kind, the commonest first; "" for no kind.
    gpus: Mapping[str, tuple[int, int]]
    features: dict[str, None]  # of nodes, for a constraint


@dataclass(frozen=True)
class Limit:
    """What an account or a quality of service lets this user have at one time."""

    kind: str  # account or qos
    name: str
    gpus: int | None  # None for no limit
    jobs: int | None  # in the queue

    def __str__(self) -> str:
        limits = {"GPUs": self.gpus, "jobs in the queue": self.jobs}
        return ", ".join(f"{count} {what}" for what, count in limits.items() if count) or "no limit"


@dataclass(frozen=True)
class Cluster:
    """What Slurm answers of itself and of this user."""

    slurm: str  # its version, or empty
    partitions: tuple[ListedPartition, ...]
    limits: tuple[Limit, ...]  # none where there is no accounting, or it does not answer

    @property
    def default(self) -> ListedPartition:
        """The partition of jobs that name none."""
        return next((each for each in self.partitions if each.is_default), self.partitions[0])

    @property
    def with_gpus(self) -> list[ListedPartition]:
        """The partitions with GPUs, those with most first."""
        found = [each for each in self.partitions if each.gpus]
        return sorted(found, key=lambda each: -max(map(prod, each.gpus.values())))

    def named(self, kind: str) -> list[str]:
        """Return the accounts of this user, or each qos."""
        return [*dict.fromkeys(each.name for each in self.limits if each.kind == kind)]

    def lines(self) -> Iterator[str]:
        """Yield what was found, for the user."""
        yield f"Slurm {self.slurm or 'of an unknown version'}"
        for each in self.partitions:
            kinds = ", ".join(
                f"{on_node} {kind or 'GPUs'} on each of {nodes}"
                for kind, (on_node, nodes) in each.gpus.items()
            )
            limit = f"{each.minutes:,} minutes" if each.minutes else "no limit"
            name = f"{each.name} (default)" if each.is_default else each.name
            yield f"  partition {name}: {each.nodes} nodes, {kinds or 'no GPUs'}, {limit}"
        for each in self.limits:
            yield f"  your {each.kind} {each.name}: {each}"


def found() -> Cluster:
    """Ask Slurm what it has.

    Raises:
        FathomError: If there is no Slurm here, or sinfo does not answer.
    """
    if missing := [name for name in _COMMANDS if shutil.which(name) is None]:
        what = f"no `{missing[0]}` on the search path"
        raise FathomError(what, "cluster", "run it on a login node of the cluster")
    listed = _run("sinfo", "-a", "--noheader", "--format", "%P|%l|%c|%G|%D|%f")
    rows = _rows(listed.stdout if listed else "")
    rows = [row for row in rows if len(row) == 6 and row[4].isdecimal()]
    if not rows:
        why = _reason(listed)
        what = f"Slurm lists no partitions{f' ({why})' if why else ''}"
        remedy = "wait until `sinfo -a` lists partitions here, and run it again"
        raise FathomError(what, "sinfo", remedy)
    config = re.search(r"SLURM_VERSION\s*=\s*(\S+)", _answer("scontrol", "show", "config"))
    limits = tuple(dict.fromkeys(_limits()))
    return Cluster(config[1] if config else "", tuple(_partitions(rows)), limits)


def _run(*command: str) -> subprocess.CompletedProcess[str] | None:
    """Return how a command ended; None where it does not answer."""
    try:
        return subprocess.run(
            command, capture_output=True, errors="replace", timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def _reason(ended: subprocess.CompletedProcess[str] | None) -> str:
    """Return why a command failed: the end of what it said last."""
    said = ended.stderr if ended else f"no answer in {_PATIENCE} s"
    return said.strip().split("\n")[-1].rpartition(": ")[2]


def _answer(*command: str) -> str:
    """Return what a command prints; nothing where it fails or is silent."""
    ended = _run(*command)
    return ended.stdout if ended and not ended.returncode else ""


def _rows(text: str) -> list[list[str]]:
    return [line.strip().split("|") for line in text.split("\n") if "|" in line]


def _partitions(rows: Iterable[list[str]]) -> Iterator[ListedPartition]:
    """Yield the partitions; a row is of nodes that are alike."""
    of_name: dict[str, list[list[str]]] = {}
    for row in rows:
        of_name.setdefault(row[0].rstrip("*"), []).append(row)
    for name, alike in of_name.items():
        gpus: dict[str, tuple[int, int]] = {}
        for row in alike:
            on_node: Counter[str] = Counter()
            for kind, count in _GPUS.findall(row[3]):
                on_node[kind] += int(count)
            for kind, count in on_node.items():
                most, nodes = gpus.get(kind, (0, 0))
                gpus[kind] = max(most, count), nodes + int(row[4])
        counted = [row for row in alike if _GPUS.search(row[3])] or alike
        yield ListedPartition(
            name=name,
            is_default=any(row[0].endswith("*") for row in alike),
            minutes=_minutes(alike[0][1]),
            cores=min(int(row[2].rstrip("+") or 1) for row in counted),
            nodes=sum(int(row[4]) for row in alike),
            gpus=dict(sorted(gpus.items(), key=lambda item: -prod(item[1]))),
            features=dict.fromkeys(
                name for row in alike for name in row[5].split(",") if name not in ("", "(null)")
            ),
        )


def _minutes(limit: str) -> int | None:
    """Return Slurm's `[days-]hours:minutes:seconds` in minutes; None for no limit."""
    match = _TIME.fullmatch(limit)
    if not match:
        return None
    days, hours, minutes, _ = (int(part or 0) for part in match.groups())
    return days * 1440 + hours * 60 + minutes


def _limits() -> Iterator[Limit]:
    """Yield the limits of each account of this user, and of each QOS that it may use."""
    asked, user = ("sacctmgr", "-nP", "show"), ""
    with suppress(KeyError, OSError):  # in a container a user may have no name
        user = getuser()
    own = _rows(_answer(*asked, "assoc", f"user={user}", "format=account,qos,maxsubmit,maxtrespu"))
    own = [row for row in own if len(row) == 4]
    qos = {name for row in own for name in row[1].split(",") if name}
    every = _rows(_answer(*asked, "qos", "format=name,maxsubmitpu,maxtrespu")) if own else []
    rows = [("account", row[0], *row[2:]) for row in own]
    rows += [("qos", *row) for row in every if len(row) == 3 and row[0] in qos]
    for kind, name, jobs, gpus in rows:
        most = min(map(int, _LIMIT.findall(gpus)), default=None)
        yield Limit(kind, name, most, int(jobs) if jobs.isdecimal() else None)


@dataclass(frozen=True)
class Choice:
    """What the user is asked, or takes as proposed: where jobs go, and on which GPUs."""

    partition: ListedPartition
    gpu_partition: ListedPartition | None
    kind: str  # of GPU; empty where the partition has one kind, or none has a name
    account: str = ""  # empty for the cluster's own, as the next two
    qos: str = ""
    constraint: str = ""  # a feature that nodes must have


@dataclass(frozen=True)
class Proposal:
    """The values of site.yaml, and the options of config.yaml."""

    site: dict[str, int | str]
    options: dict[str, int | str]
    sizes: tuple[tuple[str, list[str]], ...]  # what each size of job asks sbatch for, by words


def proposal(cluster: Cluster, choice: Choice) -> Proposal:
    """Return what follows from a cluster and a choice."""
    # The tightest limit counts: which account or QOS a job has that names none is not known here.
    limits = [each for each in cluster.limits if getattr(choice, each.kind) in ("", each.name)]
    jobs = min([_JOBS, *(each.jobs for each in limits if each.jobs)])
    options: dict[str, int | str] = {"jobs": jobs}
    if not choice.partition.is_default:
        options[f"{OPTION}partition"] = choice.partition.name
    words = []
    for name in ("account", "qos", "constraint"):
        if value := getattr(choice, name):
            options[f"{OPTION}{name}"] = value
            words.append(f"--{name}={value}")
    of_cpu = [*words, f"--partition={choice.partition.name}", "--cpus-per-task=1", "--mem=3000"]
    longest = [each.minutes for each in (choice.partition, choice.gpu_partition) if each]
    minutes = min([_MINUTES, *filter(None, longest)])
    site: dict[str, int | str] = {"longest_minutes": minutes}
    sizes = [("a job without a GPU", [*of_cpu, f"--time={minutes}"])]
    if where := choice.gpu_partition:
        if where.name != choice.partition.name:
            options[f"{OPTION}gpu-partition"] = where.name
        if len(where.gpus) > 1 and choice.kind:
            options[f"{OPTION}gpu"] = choice.kind
        on_node, nodes = where.gpus[choice.kind]
        most = min([_MOST_GPUS, on_node * nodes, *(each.gpus for each in limits if each.gpus)])
        cores = max(1, min(_CORES, where.cores // on_node))
        site |= {"gpus_per_node": on_node, "max_gpus": most, "cores_per_gpu": cores}
        if device := _data_sheet(choice.kind):
            site["gpu"] = device
        kind, gpus = (f"{choice.kind}:" if choice.kind else ""), 1
        while gpus <= most:
            nodes = 1
            while gpus > nodes * on_node:
                nodes *= 2
            here = gpus // nodes
            asked = [f"--gres=gpu:{kind}{here}", f"--nodes={nodes}", "--ntasks-per-node=1"]
            asked += [f"--cpus-per-task={cores * here}", f"--mem={4000 * (here + 1)}"]
            asked += [f"--partition={where.name}", f"--time={minutes}", *words]
            sizes.append((f"{gpus} GPU{'s' * (gpus > 1)}", asked))
            gpus *= 2
        site["max_gpus"] = gpus // 2
    return Proposal(site, options, tuple(sizes))


def _data_sheet(kind: str) -> str:
    """Return the device of `fathom plan` that a kind of GPU is; empty where none is known."""
    return next((word for word in re.split(r"[^a-z0-9]+", kind.lower()) if device_named(word)), "")


def checked(proposed: Proposal) -> tuple[Proposal, list[str]]:
    """Return a proposal of sizes that sbatch takes, and a line for each size.

    Raises:
        FathomError: If it refuses a job without a GPU, or one with a single GPU.
    """
    lines = []
    for place, (size, words) in enumerate(proposed.sizes):
        ended = _run("sbatch", "--test-only", *words, "--wrap", "true")
        reason = _reason(ended)
        if ended and ended.returncode == 0:
            lines.append(f"  sbatch takes {size}")
        elif place < 2:
            what = f"it refuses {size} ({reason}); it was asked for {' '.join(words)}"
            remedy = "name another partition or account: `fathom cluster` without --yes asks"
            raise FathomError(what, "sbatch", remedy)
        else:
            lines.append(f"  sbatch refuses {size} ({reason})")
            site = proposed.site | {"max_gpus": 2 ** (place - 2)}
            return Proposal(site, proposed.options, proposed.sizes[:place]), lines
    return proposed, lines


def written(folder: Path, proposed: Proposal) -> list[str]:
    """Write the values into site.yaml and config.yaml of a profile; return the changed lines."""
    changed = []
    for name, values in (("site.yaml", proposed.site), ("config.yaml", proposed.options)):
        path = folder / name
        old = path.read_text(encoding="utf-8")
        new = edited(old, values)
        before = old.split("\n")
        changed += [f"  {name}: {line.strip()}" for line in new.split("\n") if line not in before]
        if new != old:
            write_text(path, new)
    return changed


def edited(text: str, values: Mapping[str, int | str]) -> str:
    """Return YAML with other values of keys; a key in a comment is taken out of it.

    Comments stay. A key that is nowhere comes after the line of the executor, or at the end.
    """
    for key, value in values.items():
        line = re.compile(rf"^( *)(?:# ?)?{re.escape(key)}: *[^#\n]*?( *#.*)?$", re.MULTILINE)
        text, count = line.subn(rf"\g<1>{key}: {value}\g<2>", text, count=1)
        if not count:
            after = re.search(r"^executor:.*\n", text, re.MULTILINE)
            place = after.end() if after else len(text)
            text = f"{text[:place]}{key}: {value}\n{text[place:]}"
    return text


def remarks(proposed: Proposal, results: Path) -> Iterator[str]:
    """Yield what else a user must know before the first start."""
    torch = installed_torch(Path(sys.prefix))
    if "gpus_per_node" in proposed.site and (not torch or torch.endswith("+cpu")):
        build = f"torch {torch} is a build for CPUs" if torch else "torch is not installed"
        yield f"{build}, so no job would use a GPU: make environment"
    if "gpus_per_node" in proposed.site and "gpu" not in proposed.site:
        yield "this kind of GPU has no data sheet here: hours are those of `site.gpu` in site.yaml"
    yield f"results: {results} has {gigabytes(free_space(results))} free"
    if scratch := os.environ.get("SCRATCH"):
        yield f"  for scratch write into site.yaml: results: {scratch}/fathom"

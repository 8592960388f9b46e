"""What a job asks Slurm for: the user's options, the resources of its rule, and its name."""

import difflib
import hashlib
import json
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Optional

from snakemake_interface_executor_plugins.jobs import JobExecutorInterface
from snakemake_interface_executor_plugins.settings import ExecutorSettingsBase

# The names of all jobs begin with it.
PREFIX = "sa-"
# Slurm never runs two jobs of a name and user at a time.
SINGLETON = "--dependency=singleton"
MEMORY, GPU_AS = ("per-node", "per-cpu", "none"), ("gres", "gpus", "gpus-per-node")
# Options with which sbatch makes jobs that no start finds by name and number.
_NOT_FOUND = r"--(array|clusters?|job-name|wait)|-[aJMW]"
# Those that are written for every job, with the remedy where a user's word names them too.
_WRITTEN = {
    r"--(nodes|ntasks(-per-node)?)|-[Nn]": "set the resource `nodes`: a node has one task",
    r"--(gres|gpus(-per-\w+)?)|-G": "set the resource `gpu` or `gres`, and the option `gpu-as`",
    r"--mem(-per-\w+)?": "set the resource `mem_mb`, and the option `memory`",
    r"--time|-t": "set the resource `runtime`",
    r"--cpus-per-(task|gpu)|-c": "set threads, or the resource `cpus_per_gpu`",
    r"--partition|-p": "set the option or the resource `partition`",
    r"--(output|error|open-mode|signal|wrap)|-[oe]": "leave it out",
}
_GPUS = re.compile(r"gpu(?::[^:,()]+)?:(\d+)")
# Resources, or else settings, with the names of sbatch's options, that say where a job waits.
_WHERE = ("account", "qos", "constraint", "reservation", "partition")
# The resources by which sbatch's other options are known.
_KEYS = {"time": "runtime", "cpus-per-task": "threads", "mem": "mem_mb", "mem-per-cpu": "mem_mb"}
_KEYS |= {"gpus": "gpu", "gpus-per-node": "gpu"}
_KNOWN = (*_WHERE, *_KEYS.values(), "nodes", "gres", "cpus_per_gpu", "extra", "resumes")
# Snakemake adds these by itself.
_FOREIGN = ("mem", "mem_mib", "disk", "disk_mb", "disk_mib", "tmpdir")


def _option(text: str, default: Any = None) -> Any:
    return field(default=default, metadata={"help": text, "required": False})


@dataclass
class ExecutorSettings(ExecutorSettingsBase):
    """The options `--slurm-attach-…`; Snakemake reads types and texts from here."""

    folder: Optional[str] = _option(
        "What is known of jobs; starts that share the folder share jobs. By default"
        " $SLURM_ATTACH_FOLDER, or .snakemake/slurm-attach."
    )
    partition: Optional[str] = _option("The partition of jobs; several with commas.")
    gpu_partition: Optional[str] = _option("The partition of jobs with a GPU.")
    account: Optional[str] = _option("The account.")
    qos: Optional[str] = _option("The quality of service.")
    constraint: Optional[str] = _option("Features that nodes must have.")
    extra: Optional[str] = _option("More options of sbatch, as a shell reads them.")
    gpu_extra: Optional[str] = _option("The same for jobs with a GPU.")
    gpu: Optional[str] = _option("The kind of GPU, such as h200.")
    gpu_as: str = _option(f"How GPUs are asked for: {', '.join(GPU_AS)}.", "gres")
    gpu_mem_mb: int = _option("MB of memory for each GPU of a node after its first.", 0)
    memory: str = _option(f"How memory is asked for: {', '.join(MEMORY)}.", "per-node")
    margin: int = _option("Seconds before its time limit at which a job is warned.", 120)
    poll: int = _option("Seconds between two questions to squeue.", 30)
    timeout: Optional[int] = _option("Seconds that squeue may take. By default poll, at least 60.")
    variables: str = _option(
        "How the variables begin by which a job knows its stop file, end, nodes and devices.",
        "SLURM_ATTACH_",
    )


def count_gpus(gres: str) -> int:
    """Return the GPUs of generic resources, as `gpu:2` or `gpu:h200:2`."""
    return sum(map(int, _GPUS.findall(gres)))


@dataclass(frozen=True)
class Request:
    """A job, or a group of jobs, as it is asked for."""

    rule: str
    label: str  # its wildcards, for people
    outputs: tuple[str, ...]  # absolute paths
    resources: Mapping[str, Any]  # by Snakemake's names
    threads: int
    settings: ExecutorSettings

    @classmethod
    def of(cls, job: JobExecutorInterface, settings: ExecutorSettings) -> "Request":
        """Return what a job of Snakemake asks for."""
        # A text, whatever its annotation says.
        said = json.loads(str(job.properties()))
        words = [str(word).rpartition("/")[2] for word in (said.get("wildcards") or {}).values()]
        return cls(
            rule=job.name,
            label=re.sub(r"[^\w.-]+", "_", ".".join(words)) or "all",
            outputs=tuple(sorted(str(Path(path).absolute()) for path in job.output)),
            # What follows from a file that is not there yet is known later.
            resources={k: v for k, v in said["resources"].items() if str(v) != "<TBD>"},
            threads=int(said["threads"]),
            settings=settings,
        )

    @cached_property
    def name(self) -> str:
        """The job's name on the cluster, by which each start finds it."""
        key = hashlib.sha256(self.first.encode()).hexdigest()[:10]
        # It also names a folder.
        return f"{PREFIX}{self.rule}-{self.label}"[:200] + f"-{key}"

    def __str__(self) -> str:
        return f"{self.rule} {self.label}"

    @property
    def first(self) -> str:
        """Its first output, by whatever link its folder is named; without one, what people read."""
        return min(map(os.path.realpath, self.outputs), default=str(self))

    @property
    def resumes(self) -> str | None:
        """The newest save of a job that saves when it is warned, and then continues."""
        path = self.resources.get("resumes")
        return str(Path(path).absolute()) if path else None

    @property
    def nodes(self) -> int:
        """Its nodes."""
        return int(self.resources.get("nodes") or 1)

    @property
    def minutes(self) -> int:
        """Its time limit, 0 for the partition's."""
        return int(self.resources.get("runtime") or 0)

    @property
    def gres(self) -> str:
        """The GPUs of each node, as sbatch takes them; `gpu` counts those of all nodes."""
        if self.resources.get("gres"):
            return str(self.resources["gres"])
        each = -(-int(self.resources.get("gpu") or 0) // self.nodes)
        return ":".join(filter(None, ("gpu", self.settings.gpu, str(each)))) if each else ""

    @property
    def gpus(self) -> int:
        """GPUs of each node."""
        return count_gpus(self.gres)

    @property
    def partitions(self) -> list[str]:
        """The partitions, any of which may take the job; empty for the cluster's default."""
        usual = (self.gpus and self.settings.gpu_partition) or self.settings.partition
        text = str(self.resources.get("partition") or usual or "")
        return list(filter(None, text.split(",")))

    @property
    def cores(self) -> int:
        """Cores of each node."""
        return max(self.threads, self.gpus * int(self.resources.get("cpus_per_gpu") or 0))

    @property
    def memory(self) -> int:
        """Memory of each node in MB, 0 for the cluster's own."""
        first = int(self.resources.get("mem_mb") or 0)
        return first and first + max(self.gpus - 1, 0) * self.settings.gpu_mem_mb

    @cached_property
    def queue(self) -> tuple[str, ...]:
        """What says where it waits: Slurm may take jobs of one queue, and none of another."""
        return tuple(word for key, word in self.asked if key in _WHERE)

    @property
    def asked(self) -> list[tuple[str, str]]:
        """What sbatch is told that the job needs, with the keys that say it."""
        settings, kind = self.settings, f"{self.settings.gpu}:" if self.settings.gpu else ""
        given = {key: self.resources.get(key) or getattr(settings, key, None) for key in _WHERE}
        given |= {"partition": ",".join(self.partitions)}
        given |= {"time": self.minutes, "nodes": self.nodes, "ntasks-per-node": 1}
        is_gres = settings.gpu_as == "gres" or self.resources.get("gres") or not self.gpus
        # `--gpus` counts those of all nodes.
        count = self.gpus * (self.nodes if settings.gpu_as == "gpus" else 1)
        given |= {"gres": self.gres} if is_gres else {settings.gpu_as: f"{kind}{count}"}
        given |= {"cpus-per-task": self.cores}
        if settings.memory == "per-node":
            given |= {"mem": self.memory}
        elif settings.memory == "per-cpu":
            given |= {"mem-per-cpu": -(-self.memory // self.cores)}
        asked = [(_KEYS.get(key, key), f"--{key}={value}") for key, value in given.items() if value]
        return [*asked, *self.extra]

    @property
    def extra(self) -> list[tuple[str, str]]:
        """The user's own words for sbatch, with their keys."""
        texts = {"extra": self.settings.extra, "gpu_extra": self.gpus and self.settings.gpu_extra}
        given = [*texts.items(), ("extra", self.resources.get("extra"))]
        return [(key, word) for key, text in given for word in shlex.split(str(text or ""))]

    def words(self, home: Path, is_single: bool = True) -> list[str]:
        """Return all that sbatch is told, by whoever calls it.

        Args:
            home: the folder of the job.
            is_single: whether Slurm takes SINGLETON.
        """
        options = [word for _, word in self.asked]
        if is_single and not any(re.match("--dependency|-d", word) for word in options):
            options.append(SINGLETON)
        if self.resumes:
            options.append(f"--signal=B:USR1@{self.settings.margin}")
        runner = (sys.executable, "-ISu", str(Path(__file__).with_name("runner.py")), str(home))
        return [
            *("--requeue", "--open-mode=append", f"--job-name={self.name}"),
            # By it the job is found also where a site, or the user, gives it another name.
            f"--comment={self.name} {self.first}",
            f"--output={str(home).replace('%', '%%')}/%j.out",
            *options,
            # Signals that come before Python can take them must not end the job.
            f"--wrap=trap '' TERM USR1; exec {shlex.join(runner)}",
        ]

    def refused(self) -> Iterator[tuple[str, str, str]]:
        """Yield keys, what is wrong with what they say, and the remedy."""
        for key, valid in (("memory", MEMORY), ("gpu_as", GPU_AS)):
            if (value := getattr(self.settings, key)) not in valid:
                near = difflib.get_close_matches(value, valid, 1, 0)[0]
                yield key, f"'{value}' is not known", f"nearest valid name: '{near}'"
        for key, word in self.extra:
            option = word.partition("=")[0] if word.startswith("--") else word[:2]
            if re.fullmatch(_NOT_FOUND, option):
                yield key, f"no start finds a job with `{word}`", "leave it out"
            for written, remedy in _WRITTEN.items():
                if re.fullmatch(written, option):
                    yield key, f"`{word}` contradicts what is written for every job", remedy
        for name in self.resources:
            near = difflib.get_close_matches(name.removeprefix("slurm_"), _KNOWN, 1, 0.8)
            if near and name not in (*_KNOWN, *_FOREIGN):
                yield name, f"no resource '{name}'", f"nearest valid name: '{near[0]}'"

    def for_runner(self, ended: Path, waited_for: Path) -> str:
        """Return what the job's runner reads.

        Args:
            ended: the folder of end markers.
            waited_for: the start's temporary folder, for which Snakemake waits in the job.
        """
        keys = ("name", "outputs", "resumes", "gpus", "nodes")
        said = {key: getattr(self, key) for key in keys}
        said |= {key: getattr(self.settings, key) for key in ("margin", "variables")}
        return json.dumps(said | {"ended": str(ended), "waited_for": str(waited_for)})

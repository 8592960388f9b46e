"""What a job asks Slurm for: the user's options, the resources of its rule, and its name."""

import difflib
import hashlib
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from snakemake_interface_executor_plugins.jobs import JobExecutorInterface
from snakemake_interface_executor_plugins.settings import ExecutorSettingsBase

# The names of all jobs begin with it.
PREFIX = "sa-"
# Options with which sbatch makes jobs that no start finds by name and number.
NOT_FOUND = re.compile(r"--(array|clusters?|job-name|wait)\b(?!-)|-[aJMW]")
_GPUS = re.compile(r"gpu(?::[^:,()]+)?:(\d+)")
# sbatch's options for what a resource, or else a setting, of that name says.
_OPTIONS = {key: key for key in ("account", "qos", "constraint", "reservation", "nodes")}
_OPTIONS |= {"runtime": "time", "cpus_per_gpu": "cpus-per-gpu", "partition": "partition"}
_OPTIONS |= {"gres": "gres", "threads": "cpus-per-task", "mem_mb": "mem"}
_OTHER = ("gpu", "extra", "resumes")
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
    gpu_cores: int = _option("Cores for each GPU of a node.", 4)
    gpu_mem_mb: int = _option("MB of memory for each GPU of a node after its first.", 0)
    margin: int = _option("Seconds before its time limit at which a job is warned.", 120)
    poll: int = _option("Seconds between two questions to squeue.", 30)
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

    @property
    def name(self) -> str:
        """The job's name on the cluster, by which each start finds it."""
        key = hashlib.sha256(self.first.encode()).hexdigest()[:10]
        # It also names a folder.
        return f"{PREFIX}{self.rule}-{self.label}"[:200] + f"-{key}"

    def __str__(self) -> str:
        return f"{self.rule} {self.label}"

    @property
    def first(self) -> str:
        """Its first output; where it has none, what a person reads."""
        return self.outputs[0] if self.outputs else str(self)

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
        return max(self.threads, self.gpus * self.settings.gpu_cores)

    @property
    def memory(self) -> int:
        """Memory of each node in MB, 0 for the cluster's own."""
        first = int(self.resources.get("mem_mb") or 0)
        return first and first + max(self.gpus - 1, 0) * self.settings.gpu_mem_mb

    @property
    def asked(self) -> list[tuple[str, str]]:
        """All options by which sbatch knows what the job asks for, with the keys that say it."""
        settings, resources = self.settings, self.resources
        given = {key: resources.get(key) or getattr(settings, key, None) for key in _OPTIONS}
        given |= {"nodes": self.nodes if self.nodes > 1 else 0, "gres": self.gres}
        given |= {"partition": ",".join(self.partitions), "mem_mb": self.memory}
        given["threads"] = 0 if given["cpus_per_gpu"] else self.cores
        asked = [(key, f"--{_OPTIONS[key]}={value}") for key, value in given.items() if value]
        asked += [("nodes", "--ntasks-per-node=1")] if self.nodes > 1 else []
        texts = [("extra", settings.extra), ("extra", resources.get("extra"))]
        if self.gpus:
            texts.insert(1, ("gpu_extra", settings.gpu_extra))
        return asked + [(key, word) for key, text in texts for word in shlex.split(str(text or ""))]

    @property
    def options(self) -> list[str]:
        """The options alone."""
        return [option for _, option in self.asked]

    def misspelt(self) -> Iterator[tuple[str, str]]:
        """Yield resources that nobody reads, whose name is nearly that of a known resource."""
        known = (*_OPTIONS, *_OTHER)
        for name in self.resources:
            near = difflib.get_close_matches(name.removeprefix("slurm_"), known, 1, 0.8)
            if near and name not in (*known, *_FOREIGN):
                yield name, near[0]

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

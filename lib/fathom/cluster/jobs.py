"""A job: what Snakemake says of it, its name on the cluster, and its files.

The name has a hash of the first output's absolute path, which holds the folder of results, the run
with the hash of its settings, and the seed. So a later start finds the job of an earlier one, and
other settings have another job.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fathom.io.errors import FathomError
from fathom.io.files import read_json, write_json

# The folder with a folder for each job; the head sets it for all that it starts.
VARIABLE = "FATHOM_CLUSTER"
_PROPERTIES = "# properties = "
_HASHED = 10
OUTPUTS = "outputs.json"
_GPUS = re.compile(r"gpu(?::[^:,()]+)?:(\d+)")


@dataclass(frozen=True)
class Job:
    """A job as Snakemake submits it."""

    rule: str
    outputs: tuple[Path, ...]  # absolute paths
    resources: Mapping[str, Any]  # by Snakemake's names: mem_mb, runtime (minutes), gres, …
    threads: int
    label: str  # what a person reads: the run with its hash and the seed, or the data

    @property
    def key(self) -> str:
        """The hash by which later starts find the job."""
        return hashlib.sha256(str(self.outputs[0]).encode()).hexdigest()[:_HASHED]

    @property
    def name(self) -> str:
        """The name of its folder, and on the cluster."""
        return f"fathom-{self.rule}-{self.label}-{self.key}"

    @property
    def gpus(self) -> int:
        """GPUs on each node."""
        return gpus(self.resources)


def gpus(resources: Mapping[str, Any]) -> int:
    """Return how many GPUs resources ask for on each node: by `gres`, or else by `gpu`."""
    if resources.get("gres"):
        return sum(map(int, _GPUS.findall(str(resources["gres"]))))
    return int(resources.get("gpu") or 0)


def read(script: Path) -> Job:
    """Read what Snakemake says of a job in its script.

    Raises:
        FathomError: If it says nothing, or the job is a group of jobs, which has no name.
    """
    text = script.read_text(encoding="utf-8")
    lines = [line for line in text.split("\n") if line.startswith(_PROPERTIES)]
    given = json.loads(lines[0].removeprefix(_PROPERTIES)) if lines else {}
    if not given.get("output") or given.get("type") != "single":
        what = "no job with an output of its own"
        raise FathomError(what, str(script), "submit rules one by one, without `group`")
    wildcards = given.get("wildcards") or {}
    label = ".".join(str(word).rpartition("/")[2] for word in wildcards.values())
    return Job(
        rule=given["rule"],
        outputs=tuple(Path(path).absolute() for path in given["output"]),
        resources=on_device(given["resources"]),
        threads=int(given["threads"]),
        label=re.sub(r"[^\w.-]+", "_", label) or "all",
    )


def on_device(resources: Mapping[str, Any]) -> dict[str, Any]:
    """Return resources without GPUs where the user computes on the CPU."""
    without = ("gpu", "gres") if on_cpu() else ()
    return {name: value for name, value in resources.items() if name not in without}


def on_cpu() -> bool:
    """Return whether the user computes on the CPU (`device=cpu`)."""
    return json.loads(os.environ.get("FATHOM_CONFIG", "{}")).get("device") == "cpu"


def top() -> Path:
    """Return the folder with a folder for each job."""
    return Path(os.environ.get(VARIABLE) or Path(".snakemake") / "cluster").absolute()


@dataclass(frozen=True)
class Folder:
    """The files of a job on the cluster; all its attempts share them."""

    path: Path

    @property
    def script(self) -> Path:
        """Snakemake's script of the job."""
        return self.path / "script.sh"

    @property
    def stop(self) -> Path:
        """The file that stops a training at its next update."""
        return self.path / "stop"

    def end(self, number: str) -> Path:
        """Return the end marker of a job by its number: how it ended, written last."""
        return self.path / f"{number}.end"

    def lines(self, number: str) -> Path:
        """Return the file of what a job printed."""
        return self.path / f"{number}.out"

    @property
    def outputs(self) -> list[Path]:
        """What the job makes."""
        return [Path(path) for path in read_json(self.path / OUTPUTS)["outputs"]]

    def prepare(self, script: Path, job: Job) -> None:
        """Write what the job reads: it may begin before its submission is answered."""
        shutil.copy(script, self.script)
        write_json(self.path / OUTPUTS, {"outputs": list(map(str, job.outputs))})
        for path in (self.stop, self.path / "seen.json", self.path / "stuck.json"):
            path.unlink(missing_ok=True)

    def record(self) -> dict[str, Any]:
        """Return what was submitted last, empty for nothing.

        `id` is the number that Snakemake knows, `now` the one of the job that continues it.
        """
        return read_or_empty(self.path / "job.json")

    def remember(self, job: Job, number: str, now: str, batch: list[str]) -> None:
        """Record what was submitted, with the batch script and its arguments."""
        record = {"id": number, "now": now, "rule": job.rule, "label": job.label, "batch": batch}
        write_json(self.path / "job.json", record)

    def seen(self) -> dict[str, Any]:
        """Return what the cluster answered last of the job, empty for nothing."""
        return read_or_empty(self.path / "seen.json")

    def note(self, seen: Mapping[str, Any]) -> None:
        """Record what the cluster answers of the job."""
        write_json(self.path / "seen.json", dict(seen))


def folders(above: Path) -> Iterator[Folder]:
    """Yield the folders of all jobs."""
    yield from (Folder(path.parent) for path in sorted(above.glob("*/job.json")))


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Wait until no other process does the same for a folder, which is made.

    A file system without locks has none: two starts in one second then may both submit.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="utf-8") as stream:
        with suppress(OSError):
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def read_or_empty(path: Path) -> dict[str, Any]:
    """Return a record; empty where it is missing or damaged, since all of it can be asked again."""
    try:
        return read_json(path)
    except FathomError:
        return {}

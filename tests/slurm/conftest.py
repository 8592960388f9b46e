"""One Slurm for all tests, and a copy of the project for each, with a stand-in for its command."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pytest

from fathom.config.load import load
from fathom.config.paths import Paths
from tests.pipeline.conftest import copy_of_the_project
from tests.slurm import cluster as toy
from tests.slurm.cluster import USER, Cluster, wait
from tests.support import stand_in
from tests.support.own_project import TABLE, targets

ROOT = Path(__file__).parents[2]
RUN = "latent_depth/m2o_diverse_6_6"
TARGET, ROW = f"{TABLE}_row", ("--config", "row=6/6", "scale=tiny")
# So that a poll or a wait of Snakemake does not fill the test.
QUICK = ("--slurm-attach-poll", "2", "--latency-wait", "5")
LONGEST = 600
TRAIN = """#!/bin/sh
# A stand-in of the tests for the fathom command; training counts and saves.
here=$(dirname "$0")
case $1 in train) exec {python} {trainer} "$TRIAL_OUTPUT" {recipe};; esac
exec {python} -S "$here/write.py" "$*"
"""


@pytest.fixture(scope="session")
def cluster():
    """A Slurm that is up."""
    if reason := toy.missing():
        pytest.skip(reason) if os.geteuid() else pytest.fail(reason)
    # Whoever ends the tests leaves no daemon.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    # munge takes no folder that others cannot enter.
    with tempfile.TemporaryDirectory(prefix="fathom-slurm-") as folder:
        made = Cluster(Path(folder))
        try:
            made.start()
            yield made
        finally:
            made.stop()
            signal.signal(signal.SIGTERM, before)


@pytest.fixture
def tmp_path(cluster, request):
    """A folder in the user's home; pytest's own is closed to others than root."""
    folder = cluster.home / re.sub(r"\W+", "_", request.node.name)[:60]
    folder.mkdir()
    cluster.give(folder)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    """A copy of the project with its stand-in, and all that a training needs."""
    folder = tmp_path_factory.mktemp("base")
    project = copy_of_the_project(folder)
    made = targets(Path("results"), row="6/6")
    files = stand_in.outputs(made, TABLE)
    stand_in.install(folder, toy.python(), files)
    from fathom.results.recipe import RECIPE

    command = folder / ".venv" / "bin" / "fathom"
    trainer = f"{ROOT}/tests/slurm/trainer.py"
    command.write_text(
        TRAIN.format(python=toy.python(), trainer=trainer, recipe=RECIPE["training"])
    )
    project.run("snakemake", "--cores", "2", TARGET, "--until", "encode_text", *ROW)
    return folder


@dataclass
class Case:
    """A copy of the project in which heads are started.

    Attributes:
        folder: of the copy.
        cluster: where jobs go.
        variables: of the environment of heads and jobs.
        heads: the processes that were started.
    """

    folder: Path
    cluster: Cluster
    variables: dict[str, str] = field(default_factory=dict)
    heads: list[subprocess.Popen] = field(default_factory=list)

    @cached_property
    def run(self) -> Path:
        """The folder of the training."""
        spec = load(self.folder, check=False).spec(RUN, "tiny")
        return Paths(self.folder / "results", "tiny").run(spec, 1)

    @property
    def environment(self) -> dict[str, str]:
        """Of heads."""
        packages = self.cluster.environment["PYTHONPATH"]
        library = {"PYTHONPATH": f"{self.folder / 'lib'}:{packages}"}
        output = {"TRIAL_OUTPUT": str(self.run / "training.json")}
        return self.cluster.environment | library | output | self.variables

    def start(self, *words: str, log: str = "head.log", limit: int = LONGEST) -> subprocess.Popen:
        """Start a head.

        Args:
            words: for Snakemake; `--config` with its switches last.
            log: the file of what it prints, appended to.
            limit: seconds after which it is killed.
        """
        limited = ("timeout", "-s", "KILL", str(limit), toy.python(), "-m", "snakemake")
        with open(self.folder / log, "a") as stream:
            head = subprocess.Popen(
                [*limited, "--profile", "slurm", *QUICK, *words],
                cwd=self.folder,
                env=self.environment,
                stdout=stream,
                stderr=subprocess.STDOUT,
                user=USER,
                group=USER,
                extra_groups=[],
            )
        self.heads.append(head)
        return head

    def train(self, *words: str, log: str = "head.log") -> subprocess.Popen:
        """Start a head that trains the run alone, with options."""
        return self.start(TARGET, "--until", "train_run", *words, *ROW, log=log)

    def end(self, head: subprocess.Popen, code: int = 0) -> str:
        """Wait for a head and return what all heads printed."""
        assert head.wait() == code, self.printed()
        return self.printed()

    def printed(self, log: str = "head.log") -> str:
        """Return what heads printed into the files of a pattern."""
        return "".join(path.read_text(encoding="utf-8") for path in self.folder.glob(log))

    def signal(self, head: subprocess.Popen, number: int) -> None:
        """Signal a head, which runs below `timeout`."""
        children = Path(f"/proc/{head.pid}/task/{head.pid}/children").read_text().split()
        os.kill(int(children[0]), number)

    def kill(self, head: subprocess.Popen) -> None:
        """Kill a head."""
        self.signal(head, signal.SIGKILL)
        head.wait(60)

    def update(self) -> int:
        """Return the last update of the training, 0 before the first."""
        path = self.run / "update.txt"
        return int(path.read_text() or 0) if path.exists() else 0

    def wait(self, condition: Callable[[], object], what: str, seconds: float = 300) -> None:
        """Wait until something holds, which only comes while a head runs."""

        def holds() -> object:
            # Before the look: what a head did last still counts.
            is_over = all(head.poll() is not None for head in self.heads)
            held = condition()
            assert held or not is_over, f"{what}: the head has ended\n{self.printed('*.log')}"
            return held

        wait(holds, what, seconds)

    def wait_for_update(self, update: int) -> None:
        """Wait until the training has come so far."""
        self.wait(lambda: self.update() >= update, f"update {update}")

    def job(self) -> str:
        """Return the number of the training's job."""
        [row] = [row for row in self.cluster.jobs() if "train_run" in row[3] and self.is_mine(row)]
        return row[0]

    def is_mine(self, row: list[str]) -> bool:
        """Return whether a job of the cluster is of this case."""
        return (self.folder / "results" / "cluster" / row[3]).is_dir()

    def attempts(self) -> list[str]:
        """Return the lines of the attempts."""
        return (self.run / "attempts.txt").read_text(encoding="utf-8").strip().split("\n")

    def starts(self) -> int:
        """Return how often the training has started."""
        return sum(line.startswith("from ") for line in self.attempts())


@contextmanager
def copied(project: Path, folder: Path, cluster: Cluster) -> Iterator[Case]:
    """Copy a project; its heads and jobs are ended at the end."""
    shutil.copytree(project, folder, symlinks=True)
    cluster.give(folder)
    made = Case(folder, cluster)
    try:
        yield made
    finally:
        for head in made.heads:
            if head.poll() is None:
                made.kill(head)
        numbers = [row[0] for row in cluster.jobs() if made.is_mine(row)]
        if numbers:
            cluster.call("scancel", *numbers, check=False)
            wait(lambda: not [row for row in cluster.jobs() if row[0] in numbers], "cancelled", 60)


@pytest.fixture
def case(cluster, base, tmp_path):
    """A copy of the project with the stand-in."""
    with copied(base, tmp_path / "a clone, ü", cluster) as made:
        yield made

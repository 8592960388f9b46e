"""A desk whose Slurm and clock are the test's, and stand-ins for Slurm's commands."""

import itertools
import json
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from snakemake_executor_plugin_slurm_attach import desk as module
from snakemake_executor_plugin_slurm_attach import slurm
from snakemake_executor_plugin_slurm_attach.desk import Desk, Job
from snakemake_executor_plugin_slurm_attach.request import ExecutorSettings, Request
from snakemake_executor_plugin_slurm_attach.slurm import Answer, Row

# Seconds between two looks of Snakemake, and two questions to squeue.
TICK, POLL = 1.0, 30.0


@dataclass
class Toy:
    """What Slurm knows and answers, and what it was asked."""

    jobs: dict[int, Row] = field(default_factory=dict)
    silent: bool = False  # squeue
    deaf: bool = False  # scontrol and sbatch
    unlisted: dict[int, Row] = field(default_factory=dict)  # what scontrol alone knows
    refusals: list[Answer] = field(default_factory=list)  # of the next submissions, in their order
    most: int = 10**6  # jobs in the queue
    now: float = 1e9
    asked: int = 0  # how often squeue was asked
    submitted: list[tuple[str, ...]] = field(default_factory=list)
    cancelled: list[int] = field(default_factory=list)
    numbers: itertools.count = field(default_factory=lambda: itertools.count(7))

    def rows(self, seconds):
        self.asked += 1
        return None if self.silent else sorted(self.jobs.values(), key=lambda row: row.number)

    def row_of(self, number):
        known = self.jobs | self.unlisted
        return None if self.deaf else [known[number]] if number in known else []

    def hide(self):
        """Leave all jobs out of the list."""
        self.unlisted, self.jobs = self.jobs, {}

    def submit(self, *words):
        self.submitted.append(words)
        if self.deaf:
            return Answer(1, message="Unable to contact slurm controller (connect failure)")
        if self.refusals:
            return self.refusals.pop(0)
        if sum(row.is_live for row in self.jobs.values()) >= self.most:
            return Answer(1, message="sbatch: error: QOSMaxSubmitJobPerUserLimit")
        [name] = [word for word in words if word.startswith("--job-name=")]
        return Answer(0, str(self.accept(name.partition("=")[2])))

    def accept(self, name, state="PENDING"):
        """Put a job into the queue."""
        number = next(self.numbers)
        self.jobs[number] = Row(number, name, state, "Priority")
        return number

    def become(self, number, state, reason="None"):
        """Give a job another state."""
        self.jobs[number] = Row(number, self.jobs[number].name, state, reason)

    def cancel(self, *numbers):
        self.cancelled += numbers
        return Answer(0)


@pytest.fixture
def toy(monkeypatch):
    """The Slurm of the test."""
    made = Toy()
    for name in ("rows", "row_of", "submit", "cancel"):
        monkeypatch.setattr(slurm, name, getattr(made, name))
    monkeypatch.setattr(module, "time", SimpleNamespace(time=lambda: made.now))
    monkeypatch.setattr(module, "BEGAN", made.now)
    return made


@dataclass
class Start:
    """A start with its desk, and the lines that it has printed."""

    toy: Toy
    desk: Desk
    folder: object
    lines: list[str]

    def add(self, seed=1, **resources) -> Job:
        """Bring a training; it can resume."""
        run = self.folder / "runs" / str(seed)
        run.mkdir(parents=True, exist_ok=True)
        given = {"resumes": str(run / "last.pt"), "runtime": 90} | resources
        outputs = (str(run / "training.json"),)
        request = Request("train_run", f"x.{seed}", outputs, given, 1, ExecutorSettings())
        script = self.folder / f"{seed}.sh"
        script.write_text("#!/bin/sh\n")
        return self.desk.add(request, script)

    def wait(self, seconds=TICK):
        """Let time pass, with a look each second."""
        for _ in range(int(seconds)):
            self.desk.tick()
            self.toy.now += TICK

    def ends(self, job, code=0, why="", **changed):
        """Leave the marker of a job's end."""
        said = {"name": job.request.name, "code": code, "why": why, "time": self.toy.now}
        path = self.desk.ended / f"{job.number}.json"
        path.write_text(json.dumps(said | changed))

    def saves(self, job):
        """Leave a newer save."""
        path = self.folder / "fresh.pt"
        path.write_text("x")
        path.replace(job.request.resumes)


@pytest.fixture
def begin(toy, tmp_path):
    """A function that makes a start, of the folder that all starts share."""

    def made():
        lines = []
        return Start(toy, Desk(tmp_path / "jobs", POLL, lines.append), tmp_path, lines)

    return made


@pytest.fixture
def start(begin):
    """One start."""
    return begin()


@pytest.fixture
def answers(tmp_path, monkeypatch):
    """A function that makes a command answer: by text and exit code, or by a shell script.

    Each call is a line of the list that the function `calls` returns.
    """
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))

    def answer(command, text="", code=0, message="", script=None):
        body = script or f"cat <<'X'\n{text}\nX\n" * bool(text)
        body += f"\necho '{message}' >&2\n" * bool(message) + ("" if script else f"exit {code}\n")
        path = folder / command
        path.write_text(f'#!/bin/bash\necho "{command} $*" >> "$CALLS"\n{body}', encoding="utf-8")
        path.chmod(0o755)

    return answer


@pytest.fixture
def calls(tmp_path):
    """A function that returns the calls of stand-ins so far."""

    def lines(command=""):
        path = tmp_path / "calls"
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        return [line for line in text.split("\n") if line.startswith(command) and line]

    return lines

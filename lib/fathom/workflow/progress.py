"""How trainings go, by their files and those of jobs and starts, and what is drawn of them."""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from fathom.artefacts.artefacts import Artefacts
from fathom.config.check import check
from fathom.config.paths import Paths
from fathom.config.schema.section import AsTuple, Section
from fathom.config.spec import Spec
from fathom.config.yaml_values import from_plain
from fathom.io.screen import duration
from fathom.results import run_state
from fathom.results.run_state import FAILED, NOT_STARTED, RUNNING, STALE, Pace, RunState
from fathom.results.tree import rows
from fathom.workflow import starts
from fathom.workflow.targets import Targets

WAITING, QUEUED = "waiting", "queued"
# Shown also where not every training is: what runs, and where a user may have to do something.
_ALWAYS = (RUNNING, QUEUED, run_state.STOPPED, FAILED, STALE)
# Of a failed training that are shown.
LINES = 3
_READ = 20_000


class Queued(Section):
    """A job on Slurm that has not ended well, as the start that waits for it has seen it last."""

    title: str  # its rule, and the run with the seed, or the data
    number: int | None  # None before it is submitted
    state: str  # Slurm's word, empty before the first
    reason: str  # why it waits, in Slurm's words; may be empty
    cure: str | None  # what a person must do before it starts
    failed: str | None  # why it has failed
    outputs: Annotated[tuple[str, ...], AsTuple]
    lines: str  # the file of what it printed

    @property
    def waits(self) -> bool:
        """Whether it has not started."""
        return not self.failed and self.state in ("", "PENDING")

    def __str__(self) -> str:
        if self.failed:
            return self.failed
        if self.cure:
            return f"job {self.number} waits for you ({self.reason}): {self.cure}"
        word = "waits" if self.waits else "runs"
        word = f"job {self.number} {word}" if self.number else "waits to be submitted"
        return f"{word} ({self.reason})" if self.reason not in ("", "None") else word


def queued(above: Path) -> list[Queued]:
    """Return the jobs that have not ended well, from the files of starts alone, by their names.

    Args:
        above: the folder of what is known of jobs.
    """
    jobs: dict[str, Queued] = {}
    files = (above / "heads").glob("*.json")
    for path in sorted(files, key=lambda path: path.stat().st_mtime if path.exists() else 0):
        for name, said in starts.read_or_empty(path).items():
            job, _ = check(Queued, from_plain(said, str(path)))
            jobs |= {name: job} if job else {}
    return [jobs[name] for name in sorted(jobs)]


@dataclass(frozen=True)
class Progress:
    """How a training goes."""

    # As in `RunState`; also waiting, for other jobs of a start that runs, and queued, on a cluster.
    kind: str
    state: RunState  # what the training's files say
    updates: int | None  # of the run in all; None where its epochs are not counted yet
    pace: Pace | None = None  # how fast it goes, of a training that runs
    job: Queued | None = None  # on a cluster
    log: Path | None = None  # what it printed, of a training that failed or is stale
    needs: str = ""  # the file that only the user can get, where nothing was trained without it

    @property
    def seconds_left(self) -> float | None:
        """How long it will still run at its present pace; None where that is not known."""
        if self.pace is None or self.updates is None or self.pace.seconds_per_update is None:
            return None
        return (self.updates - self.pace.update) * self.pace.seconds_per_update

    @property
    def reason(self) -> str:
        """Why it waits, has not started, was stopped or has failed; may be empty."""
        needs = f"needs {self.needs}" if self.needs else ""
        return self.state.reason or (str(self.job) if self.job else needs)

    @cached_property
    def last_lines(self) -> list[str]:
        """The last lines of its log."""
        if self.log is None:
            return []
        text = self.log.read_bytes()[-_READ:].decode("utf-8", "replace")
        return [line for line in text.split("\n") if line.strip()][-LINES:]

    @property
    def words(self) -> str:
        """How it goes, as the end of a line."""
        state, pace = self.state, self.pace
        text = self.kind
        if state.update and not (state.ended and state.update == self.updates):
            of = f" of {self.updates}" if self.updates else ""
            text += f" at update {state.update:,}{of}" if pace else f", update {state.update:,}{of}"
        if self.seconds_left is not None:
            text += f", {duration(self.seconds_left)} left"
        if pace:
            text += f", NLL {pace.nll:.3f} nats" if pace.nll is not None else ""
            text += f", {pace.tokens_per_second:,.0f} tokens/s" if pace.tokens_per_second else ""
        if self.kind == RUNNING and (state.silent or 0) > run_state.SILENT:
            text += f", no sign of life for {duration(state.silent or 0)}"
        if self.kind == STALE:
            text += f": {state.holder} has ended without a word; the next start resumes it"
        elif self.kind not in (RUNNING, WAITING, "finished") and self.reason not in ("", self.kind):
            text += f": {self.reason}"
        return f"{text}; its lines: {self.log}" if self.log else text

    @property
    def fields(self) -> dict[str, Any]:
        """The same as JSON has it."""
        state, pace, job = self.state, self.pace, self.job
        return {
            "state": self.kind,
            "update": state.update,
            "of": self.updates,
            "nll": pace and pace.nll,
            "tokens_per_second": pace and pace.tokens_per_second,
            "seconds_left": self.seconds_left,
            "reason": self.reason,
            "process": str(state.holder) if state.holder else None,
            "seconds_silent": state.silent,
            "job": job and job.number,
            "cure": job and job.cure,
            "log": str(self.log) if self.log else None,
            "last_lines": self.last_lines,
        }


class Progresses:
    """Reads how trainings go; everything is read when it is asked for."""

    def __init__(self, paths: Paths):
        self.paths = paths
        self.jobs = queued(paths.cluster)
        self._matched: set[str | Path] = set()
        # A folder may have several names, by links.
        self._by_output = {_followed(path): job for job in self.jobs for path in job.outputs}
        self._expected = {*map(_followed, starts.trainings_of_all(paths.cluster))}

    @property
    def other_jobs(self) -> list[Queued]:
        """The jobs that wait and are not of a training that `of` was called for."""
        return [job for job in self.jobs if job.waits and job.title not in self._matched]

    @property
    def other_trainings(self) -> int:
        """How many trainings starts make that `of` was not called for: of another scale, say."""
        return sum(not path.exists() for path in self._expected - self._matched)

    def of(self, spec: Spec, seed: int, needs: str = "") -> Progress:
        """Return how a training goes; `needs` is the file that its text waits for."""
        folder = self.paths.run(spec, seed)
        state = run_state.run_state(folder)
        file = _followed(self.paths.training(spec, seed))
        job = self._by_output.get(file)
        self._matched |= {file, job.title} if job else {file}
        setting = spec.training.updates
        updates = state.updates or (setting if isinstance(setting, int) else None)
        kind = self._kind(state, job, file)
        pace = run_state.pace(folder) if kind == RUNNING else None
        logs = [folder / "train.log", self.paths.train_log(spec, seed)]
        logs += [Path(job.lines)] if job else []
        logs = [path for path in logs if kind in (FAILED, STALE) and path.is_file()]
        log = max(logs, key=lambda path: path.stat().st_mtime, default=None)
        needs = needs if kind == NOT_STARTED else ""
        return Progress(kind, state, updates, pace, job, log, needs)

    def _kind(self, state: RunState, job: Queued | None, file: Path) -> str:
        if state.ended or state.kind == RUNNING:
            return state.kind
        if job is not None and job.failed:
            silent = state.kind in (NOT_STARTED, STALE)
            return FAILED if silent else state.kind
        if job is not None and (job.waits or state.kind == NOT_STARTED):
            return QUEUED
        expected = file in self._expected and state.kind != FAILED
        return WAITING if expected else state.kind


class Overview:
    """What the files of some papers say at one moment."""

    def __init__(self, artefacts: Artefacts, papers: list[str]):
        self._papers = papers
        self._progresses = Progresses(artefacts.paths)
        project, paths = artefacts.project, artefacts.paths
        self.targets = targets = Targets(project, artefacts.scale, paths, papers=tuple(papers))
        # Whether each table and figure is drawn, by paper, and verb and target.
        self._drawn: dict[str, dict[str, bool]] = {}
        for name in papers:
            self._drawn[name] = {
                f"{artefact.verb} {target}": targets.is_drawn(artefact)
                for target, artefact in targets.artefacts.items()
                if artefact.paper.name == name
            }
        # How each training goes, by paper, and the run's name and seed.
        self._trained: dict[str, dict[str, Progress]] = {
            name: {} for name in artefacts.project.papers
        }
        for name in targets.runs:
            spec = artefacts.project.spec(name, artefacts.scale)
            awaited = artefacts.awaited(targets.texts(name))
            for seed in artefacts.seeds_of(name):
                label = name if seed == 1 else f"{name} seed {seed}"
                self._trained[spec.paper][label] = self._progresses.of(spec, seed, awaited)
        self._cells = _verdicts(artefacts.paths.compare, papers)
        self._to_compare = paths.target("compare")
        # A study has no printed cells.
        self._compared = not all(map(artefacts.project.files.is_study, papers))

    @property
    def waits_for_a_start(self) -> bool:
        """Whether trainings have not ended, and no start makes any."""
        all_of_them = [each for trained in self._trained.values() for each in trained.values()]
        goes_on = any(each.kind in (RUNNING, QUEUED, WAITING) for each in all_of_them)
        return not goes_on and not all(each.state.ended for each in all_of_them)

    def lines(self, runs: bool) -> list[str]:
        """Return what a user reads; `runs` for every training."""
        lines = []
        for paper in self._papers:
            for run, progress in self._trained[paper].items():
                if runs or progress.kind in _ALWAYS:
                    lines.append(f"{run}  {progress.words}")
                    lines += [f"    {line}" for line in progress.last_lines]
            lines.append(f"{paper}: {self._summary(paper)}")
        if self._compared:
            counted = _counted(self._cells) or f"not compared yet; {self._to_compare}"
            lines.append(f"cells: {counted}")
        lines += [f"{job.title}: {job}" for job in self._progresses.other_jobs]
        if others := self._progresses.other_trainings:
            lines.append(
                f"trainings of starts that run, not counted above: {others}, of another scale "
                "(--scale), seed (--seeds) or paper"
            )
        return lines

    def _summary(self, paper: str) -> str:
        parts = []
        for verb in ("table", "figure"):
            done = [there for name, there in self._drawn[paper].items() if name.startswith(verb)]
            parts.append(f"{sum(done)} of {len(done)} {verb}s")
        trained = self._trained[paper]
        kinds = Counter(
            f"{each.kind}: {each.reason}" if each.needs else each.kind for each in trained.values()
        )
        parts.append(f"{len(trained)} runs" + (f" ({_counted(kinds)})" if kinds else ""))
        return ", ".join(parts)

    def as_json(self) -> dict[str, Any]:
        """Return the same as JSON has it, of all runs."""
        papers = {}
        for paper in self._papers:
            runs = {run: progress.fields for run, progress in self._trained[paper].items()}
            papers[paper] = {"drawn": self._drawn[paper], "runs": runs}
        jobs = [f"{job.title}: {job}" for job in self._progresses.jobs]
        return {"papers": papers, "cells": self._cells, "jobs": jobs}


def _followed(path: str | Path) -> Path:
    """Return the path to which links lead; of a circle of links, or what is no path, itself."""
    with suppress(RuntimeError, ValueError):
        return Path(path).resolve()
    return Path(path)


def _verdicts(path: Path, papers: list[str]) -> dict[str, int]:
    """Return how many reported cells have each verdict; none before the first comparison."""
    lines = rows(path) if path.exists() else []
    return Counter(line["verdict"] for line in lines if line.get("paper") in papers)


def _counted(counts: Mapping[str, int]) -> str:
    """Return counts as text, the largest first."""
    return ", ".join(f"{count} {words}" for words, count in Counter(counts).most_common())

"""How each training goes, by its own files, those of its job, and those of starts."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fathom.cluster import starts
from fathom.cluster.status import Queued, queued
from fathom.config.paths import Paths
from fathom.config.spec import Spec
from fathom.results import run_state
from fathom.results.run_state import Pace, RunState, pace

WAITING, QUEUED = "waiting", "queued"
# Of a failed training that are shown.
LINES = 3
_READ = 20_000


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

    @property
    def seconds_left(self) -> float | None:
        """How long it will still run at its present pace; None where that is not known."""
        if self.pace is None or self.updates is None or self.pace.seconds_per_update is None:
            return None
        return (self.updates - self.pace.update) * self.pace.seconds_per_update

    @property
    def reason(self) -> str:
        """Why it waits, was stopped or has failed; may be empty."""
        return self.state.reason or (str(self.job) if self.job else "")

    @cached_property
    def last_lines(self) -> list[str]:
        """The last lines of its log."""
        if self.log is None:
            return []
        text = self.log.read_bytes()[-_READ:].decode("utf-8", "replace")
        return [line for line in text.split("\n") if line.strip()][-LINES:]


class Progresses:
    """Reads how trainings go; everything is read when it is asked for."""

    def __init__(self, paths: Paths):
        self.paths = paths
        self.jobs = queued(paths.cluster)
        self._matched: set[str] = set()
        # A folder may have several names, by links.
        self._by_output = {path.resolve(): job for job in self.jobs for path in job.outputs}
        self._expected = {path.resolve() for path in starts.trainings_of_all(paths.cluster)}

    @property
    def other_jobs(self) -> list[Queued]:
        """The jobs that wait and are not of a training that `of` was called for."""
        return [job for job in self.jobs if job.waits and job.number not in self._matched]

    def of(self, spec: Spec, seed: int) -> Progress:
        """Return how a training goes."""
        folder = self.paths.run(spec, seed)
        state = run_state.run_state(folder)
        file = self.paths.training(spec, seed).resolve()
        job = self._by_output.get(file)
        self._matched |= {job.number} if job else set()
        asked = spec.training.updates
        updates = state.updates or (asked if isinstance(asked, int) else None)
        kind = self._kind(state, job, file)
        if kind == run_state.RUNNING:
            return Progress(kind, state, updates, pace(folder), job)
        shown = kind in (run_state.FAILED, run_state.STALE)
        log = _newest(self._logs(spec, seed, job)) if shown else None
        return Progress(kind, state, updates, None, job, log)

    def _kind(self, state: RunState, job: Queued | None, file: Path) -> str:
        if state.ended or state.kind == run_state.RUNNING:
            return state.kind
        if job is not None and job.failed:
            silent = state.kind in (run_state.NOT_STARTED, run_state.STALE)
            return run_state.FAILED if silent else state.kind
        if job is not None and (job.waits or state.kind == run_state.NOT_STARTED):
            return QUEUED
        expected = file in self._expected and state.kind != run_state.FAILED
        return WAITING if expected else state.kind

    def _logs(self, spec: Spec, seed: int, job: Queued | None) -> list[Path]:
        """Return where the lines of a training may be."""
        logs = [self.paths.run(spec, seed) / "train.log", self.paths.train_log(spec, seed)]
        return [*logs, job.lines] if job else logs


def _newest(files: list[Path]) -> Path | None:
    there = [path for path in files if path.is_file()]
    return max(there, key=lambda path: path.stat().st_mtime, default=None)

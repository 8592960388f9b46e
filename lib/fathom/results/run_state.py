"""How far a training is, whether it runs, and how fast, from the files of its run alone.

state.json is for launchers that do not pass on an exit code: torchrun ends in 1 whatever its
processes end in. The file is replaced when a training begins, at each save, and when it ends.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from fathom.config.schema.section import Section
from fathom.io import metrics
from fathom.io.errors import FathomError
from fathom.io.files import read_json, write_json
from fathom.io.locks import HOLDER, Holder, last_beat, read_holder
from fathom.results import training_record
from fathom.results.measurements import Outcome

STATE_FILE = "state.json"
TRAINING, SAVED, OUT_OF_MEMORY, FAILED = "training", "saved", "out_of_memory", "failed"
NOT_STARTED, RUNNING, STOPPED, STALE = "not started", "running", "stopped", "stale"
DAMAGED = "damaged"
# Seconds without a heartbeat after which a process on another host counts as gone: three periods,
# and what clocks differ by.
SILENT = 120.0
# Rows of the series over which the present speed is taken.
ROWS = 10


class State(Section, extra="ignore"):
    """The content of state.json; keys of other versions are not read."""

    # saved: it was stopped, and resumes; out_of_memory and failed: an error ended it.
    state: Literal["training", "saved", "out_of_memory", "failed"] | Outcome
    # Why it was stopped (limit, preempted, cancelled, stopped), the error's message, or what shows
    # the outcome; empty while it trains.
    reason: str = ""
    update: int = 0  # of the newest state on disk
    updates: int = 0  # of the run in all; 0 before that is known
    # An update has a multiple of these, which all attempts share; 0 where a process drew alone.
    micro_batches: int = 0
    # SHA-256 of each file of the plugin that brings its method, at the first attempt.
    plugin: dict[str, str] = Field(default_factory=dict)
    attempt: int  # from 1
    host: str  # where its first process runs or ran,
    pid: int  # and the number of this process
    job: str | None  # the scheduler's id
    time: str = ""  # when this was written, UTC

    @property
    def is_error(self) -> bool:
        """Whether an error ended the attempt."""
        return self.state in (OUT_OF_MEMORY, FAILED)


def write_state(folder: Path, state: State) -> None:
    """Write a run's state.json with the present time."""
    content = state.model_dump() | {"time": datetime.now(UTC).isoformat(timespec="seconds")}
    write_json(folder / STATE_FILE, content)


def read_state(folder: Path) -> State | None:
    """Return what a run's state.json says; None where it is missing or damaged."""
    try:
        return State.model_validate(read_json(folder / STATE_FILE))
    except (FathomError, ValidationError, OSError):
        return None


def fail(folder: Path, kind: str, reason: str) -> bool:
    """Record that an error ended an attempt, unless another of its processes has done so.

    `kind` is out_of_memory or failed. Returns whether this process is the first to record an error.
    """
    state = read_state(folder)
    if state is not None and state.is_error:
        return False
    if state is not None:
        write_state(folder, state.model_copy(update={"state": kind, "reason": reason}))
    return True


@dataclass(frozen=True)
class RunState:
    """How far a training is."""

    # finished, diverged or failed to train; not started; running; stopped, so that the next start
    # resumes it; failed, where an error ended it; stale, where its process is gone without a word;
    # damaged, where its record cannot be trusted.
    kind: str
    update: int | None = None  # the last that is logged, or saved where it does not run
    updates: int | None = None  # of the run in all
    reason: str = ""  # why it was stopped, what failed, or what shows the outcome
    holder: Holder | None = None  # the process that writes here, or did when it was killed
    silent: float | None = None  # seconds since its last sign of life, by this machine's clock

    @property
    def ended(self) -> bool:
        """Whether nothing is left to train."""
        return self.kind not in (NOT_STARTED, RUNNING, STOPPED, STALE, FAILED, DAMAGED)


def run_state(folder: Path) -> RunState:
    """Return how far the training of a folder is, of a run with one seed; nothing is written."""
    state, ended = read_state(folder), folder / "training.json"
    updates = (state.updates if state else 0) or None
    holder, silent = read_holder(folder / HOLDER), last_beat(folder / HOLDER)
    held = False
    if holder is not None and silent is not None:
        # Of a process of this machine it is certain whether it lives.
        held = holder.runs_here if holder.is_on_this_host else silent < SILENT
    if ended.exists():
        try:
            outcome = training_record.read(ended).outcome
            kind = outcome.kind.replace("_", " ")
            return RunState(kind, outcome.update, updates, outcome.reason)
        except FathomError:
            # It may be gone by now, as before a second training.
            if not held and ended.exists():
                return RunState(DAMAGED)
    logged = last_update(folder / "metrics.tsv")
    saved = state.update if state else logged
    if held:
        return RunState(RUNNING, logged or saved, updates, "", holder, silent)
    if holder is None and state is None and not (folder / "attempts.json").exists():
        return RunState(NOT_STARTED)
    kind, reason = STOPPED if holder is None else STALE, ""
    if state is not None and (state.is_error or state.state == SAVED):
        kind, reason = FAILED if state.is_error else STOPPED, state.reason
    return RunState(kind, saved, updates, reason, holder, silent)


@dataclass(frozen=True)
class Pace:
    """Where a training is, and how fast it goes at present."""

    update: int  # the last that is logged
    nll: float | None  # of its batch, in nats per target token; None where it is not finite
    tokens_per_second: float | None  # target tokens of the last rows, validation included
    seconds_per_update: float | None  # of the last rows


def pace(folder: Path) -> Pace | None:
    """Return how fast the training of a folder goes; None before its first row."""
    rows = series(folder / "metrics.tsv")
    if not rows:
        return None
    times = {row.get("update"): row.get("seconds") for row in series(folder / "times.tsv")}
    points = [(0.0, 0.0, 0.0)]
    for row in rows:
        update, tokens = row.get("update"), row.get("tokens")
        seconds = times.get(update)
        if update is not None and tokens is not None and seconds is not None:
            points.append((update, tokens, seconds))
    first, last = points[max(0, len(points) - 1 - ROWS)], points[-1]
    updates, tokens, seconds = (late - early for late, early in zip(last, first, strict=True))
    has_speed = updates > 0 and seconds > 0
    return Pace(
        int(rows[-1].get("update") or 0),
        rows[-1].get("nll"),
        tokens / seconds if has_speed else None,
        seconds / updates if has_speed else None,
    )


def last_update(path: Path) -> int | None:
    """Return the last update of a series that may be growing, or cut off by a kill."""
    rows = series(path)
    last = rows[-1].get("update") if rows else None
    return None if last is None else int(last)


def series(path: Path) -> list[metrics.Row]:
    """Return the rows of a series; none where it is missing or damaged."""
    try:
        return metrics.read(path)
    except (FathomError, OSError):
        return []

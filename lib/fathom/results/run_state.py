"""How far a training is, and whether it runs, from the files of its run alone."""

from dataclasses import dataclass
from pathlib import Path

from fathom.io.errors import FathomError
from fathom.io.holders import Holder, last_beat, read_holder
from fathom.io.locks import HOLDER
from fathom.results import training_file
from fathom.results.pace import last_update
from fathom.results.state_file import SAVED, State, read_state

NOT_STARTED, RUNNING, STOPPED, STALE = "not started", "running", "stopped", "stale"
FAILED, DAMAGED = "failed", "damaged"
# Seconds without a heartbeat after which a process on another host counts as gone: three periods,
# and what clocks differ by.
SILENT = 120.0


@dataclass(frozen=True)
class RunState:
    """How far a training is.

    Attributes:
        kind: finished, diverged or failed to train; not started; running; stopped, so that the next
            start resumes it; failed, where an error ended it; stale, where its process is gone
            without a word; damaged, where its record cannot be trusted.
        update: its last update that is logged, or saved where it does not run; None before that.
        updates: of the run in all; None before that is known.
        reason: why it was stopped, what failed, or what shows the outcome.
        holder: the process that writes here, or did when it was killed.
        silent: seconds since its last sign of life, by this machine's clock.
    """

    kind: str
    update: int | None = None
    updates: int | None = None
    reason: str = ""
    holder: Holder | None = None
    silent: float | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing is left to train."""
        return self.kind not in (NOT_STARTED, RUNNING, STOPPED, STALE, FAILED, DAMAGED)


def run_state(folder: Path) -> RunState:
    """Return how far the training of a folder is; nothing is written.

    Args:
        folder: of a run with one seed.
    """
    state, ended = read_state(folder), folder / "training.json"
    updates = (state.updates if state else 0) or None
    if ended.exists():
        try:
            outcome = training_file.read(ended).outcome
            kind = outcome.kind.replace("_", " ")
            return RunState(kind, outcome.update, updates, outcome.reason)
        except FathomError:
            if not _is_held(folder):
                return RunState(DAMAGED)
    holder, silent = read_holder(folder / HOLDER), last_beat(folder / HOLDER)
    logged = last_update(folder / "metrics.tsv")
    saved = state.update if state else logged
    if _is_held(folder):
        return RunState(RUNNING, logged or saved, updates, "", holder, silent)
    if holder is None and state is None and not (folder / "attempts.json").exists():
        return RunState(NOT_STARTED)
    kind, reason = _left(state, holder)
    return RunState(kind, saved, updates, reason, holder, silent)


def _is_held(folder: Path) -> bool:
    """Return whether a process that may live holds the folder's lock."""
    holder, silent = read_holder(folder / HOLDER), last_beat(folder / HOLDER)
    return holder is not None and silent is not None and _lives(holder, silent)


def _lives(holder: Holder, silent: float) -> bool:
    """Return whether the process that holds the lock may live; of this machine it is known."""
    return holder.runs_here if holder.is_on_this_host else silent < SILENT


def _left(state: State | None, holder: Holder | None) -> tuple[str, str]:
    """Return how a training was left that has not ended and does not run, and why."""
    if state is not None and state.is_error:
        return FAILED, state.reason
    if state is not None and state.state == SAVED:
        return STOPPED, state.reason
    return (STOPPED, "") if holder is None else (STALE, "")

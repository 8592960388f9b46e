"""state.json: how far a training is, for launchers that do not pass on its exit code.

torchrun ends in 1 whatever its processes end in. The file is replaced when the training begins, at
each save, and when it ends.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from fathom.config.schema.section import Section
from fathom.io.errors import FathomError
from fathom.io.files import read_json, write_json
from fathom.results.measurements import Outcome

STATE_FILE = "state.json"
TRAINING, SAVED, OUT_OF_MEMORY, FAILED = "training", "saved", "out_of_memory", "failed"


class State(Section):
    """How far a training is.

    Attributes:
        state: training; saved, where it was stopped and resumes; out_of_memory or failed, where an
            error ended it; or the outcome of a training that has ended.
        reason: why it was stopped (limit, preempted, cancelled, stopped), the error's message, or
            what shows the outcome; empty while it trains.
        update: the update of the newest state on disk; 0 before the first.
        updates: of the run in all; 0 before that is known.
        attempt: the number of the attempt, from 1.
        host: where its first process runs or ran,
        pid: and the number of this process.
        job: the scheduler's id of the job, if there is one.
        time: when this was written, UTC.
    """

    state: Literal["training", "saved", "out_of_memory", "failed"] | Outcome
    reason: str = ""
    update: int = 0
    updates: int = 0
    attempt: int
    host: str
    pid: int
    job: str | None
    time: str = ""

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

    Args:
        folder: of the run and seed, in which this attempt has begun.
        kind: out_of_memory or failed.
        reason: what the error says.

    Returns:
        Whether this process is the first to record an error.
    """
    state = read_state(folder)
    if state is not None and state.is_error:
        return False
    if state is not None:
        write_state(folder, state.model_copy(update={"state": kind, "reason": reason}))
    return True

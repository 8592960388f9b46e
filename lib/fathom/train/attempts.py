"""The attempts at one training: where each started, what ended it, on which host.

`ended_as` is how a training ended (finished, diverged, failed_to_train), why it was stopped (limit,
preempted, cancelled), what failed (out_of_memory, failed), or killed. What a process cannot know of
its own end, the next attempt finds out: a process that was killed wrote no end, and a job that its
scheduler stopped and started again under its id was preempted.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fathom.io.errors import FathomError
from fathom.io.files import read_json, write_json
from fathom.io.locks import Held
from fathom.results.recipe import RECIPE
from fathom.results.run_state import SAVED, TRAINING, State, write_state
from fathom.results.training_record import Ended
from fathom.train.environment import host_facts
from fathom.train.stopping import CANCELLED, LIMIT, NEAR, PREEMPTED, STOPPED, end_of_job

DAMAGED = "attempts.damaged"
KILLED = "killed"


class Attempts:
    """The list in attempts.json, the oldest first; a damaged file is renamed and reported."""

    def __init__(self, path: Path, report: Callable[[str], None]):
        self.path = path
        attempts = recorded(path)
        if attempts is None:
            os.replace(path, path.with_name(DAMAGED))
            report(f"{path}: damaged; renamed to {DAMAGED}")
        self.all: list[dict[str, Any]] = attempts or []

    @property
    def recipe(self) -> int:
        """The lowest recipe of the attempts: a resumed training has no later one."""
        return min(map(recipe_of, self.all))

    def start(self, update: int, recipe: int, last_seen: float | None = None) -> None:
        """Record that an attempt starts, and what ended the one before.

        Args:
            update: from which it trains on.
            recipe: of the code that trains.
            last_seen: when the process before was seen last, in seconds since 1970, if it was
                killed.
        """
        host = host_facts()
        if self.all:
            self.all[-1] |= _settled(self.all[-1], host["job"], last_seen)
        started = {"start": _now(), "from_update": update, "recipe": recipe}
        limit = {"job_ends": end_of_job()}
        self.all.append(host | started | limit | {"end": None, "ended_as": None})
        self._write()

    def end(self, update: int, ended_as: str) -> None:
        """Record that this attempt ends after an update, and as what."""
        self.all[-1] |= {"end": _now(), "to_update": update, "ended_as": ended_as}
        self._write()

    def _write(self) -> None:
        write_json(self.path, {"attempts": self.all})


def _settled(last: dict[str, Any], job: str | None, last_seen: float | None) -> dict[str, Any]:
    """Return what the attempt before lacks: its end, or why it was stopped."""
    if last.get("ended_as") == STOPPED:
        return {"ended_as": PREEMPTED if last.get("job") == job else CANCELLED}
    if last.get("ended_as") is not None:
        return {}
    job_ends = last.get("job_ends")
    at_limit = job_ends is not None and last_seen is not None and last_seen + NEAR >= job_ends
    return {"ended_as": LIMIT if at_limit else KILLED}


def recorded(path: Path) -> list[dict[str, Any]] | None:
    """Return the attempts of a file, none where it is missing; None where it is damaged."""
    if not path.exists():
        return []
    try:
        attempts = read_json(path).get("attempts")
    except FathomError:
        return None
    matches = isinstance(attempts, list) and all(isinstance(item, dict) for item in attempts)
    return attempts if matches else None


def recipe_of(attempt: dict[str, Any]) -> int:
    """Return the recipe of an attempt; 0 where none is recorded."""
    recipe = attempt.get("recipe")
    return recipe if isinstance(recipe, int) else 0


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class Attempt:
    """What the first process writes of an attempt: its lock, its entry in the list, state.json."""

    def __init__(self, folder: Path, held: Held, report: Callable[[str], None]):
        self.folder, self.held = folder, held
        self.attempts = Attempts(folder / "attempts.json", report)
        host = host_facts()
        place = {key: host[key] for key in ("host", "pid", "job")}
        self._trains = False
        self._state = State(state=TRAINING, attempt=len(self.attempts.all) + 1, **place)
        self._write({})

    def start(self, update: int, updates: int) -> None:
        """Record that the attempt trains."""
        self.attempts.start(update, RECIPE["training"], self.held.last_seen)
        self._trains = True
        self._write({"update": update, "updates": updates})

    def before_save(self) -> None:
        """Raise FathomError if another process has taken the lock over."""
        self.held.require()

    def saved(self, update: int) -> None:
        """Record that the state after an update is on disk."""
        self._write({"update": update})

    def stopped(self, update: int, reason: str) -> None:
        """Record that the training was stopped after an update, and why."""
        self.attempts.end(update, reason)
        self._write({"state": SAVED, "reason": reason})

    def failed(self, kind: str) -> None:
        """Record that an error of a kind ended the training, if the disk allows it."""
        with suppress(OSError):
            if self._trains:
                self.attempts.end(self._state.update, kind)

    def ended(self, update: int, outcome: Ended) -> None:
        """Record how the training ended; state.json says so only after training.json."""
        self.attempts.end(update, outcome.kind)
        self._trains = False

    def recorded(self, outcome: Ended) -> None:
        """Record that training.json is on disk."""
        self._write({"state": outcome.kind, "reason": outcome.reason})

    def _write(self, values: dict[str, Any]) -> None:
        """Replace state.json by one with other values."""
        self._state = self._state.model_copy(update=values)
        write_state(self.folder, self._state)

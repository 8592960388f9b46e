"""One attempt at a training: its lock, its line in attempts.json, and state.json."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from fathom.io.locks import Held
from fathom.results.recipe import RECIPE
from fathom.results.run_state import SAVED, TRAINING, State, write_state
from fathom.results.training_record import Ended
from fathom.train.attempts import Attempts
from fathom.train.environment import host_facts


class Attempt:
    """What the first process of a training writes besides what the training itself makes.

    Attributes:
        attempts: all of them, with this one.
    """

    def __init__(self, folder: Path, held: Held, report: Callable[[str], None]):
        """Begin; nothing is trained yet.

        Args:
            folder: of the run and seed.
            held: its lock.
            report: called with a line where the list of attempts is damaged.
        """
        self.folder, self.held = folder, held
        self.attempts = Attempts(folder / "attempts.json", report)
        host = host_facts()
        place = {key: host[key] for key in ("host", "pid", "job")}
        self._trains = False
        self._state = State(state=TRAINING, attempt=len(self.attempts.all) + 1, **place)
        self._write({})

    def start(self, update: int, updates: int) -> None:
        """Record that the attempt trains.

        Args:
            update: from which it trains on.
            updates: of the run in all.
        """
        self.attempts.start(update, RECIPE["training"], self.held.last_seen)
        self._trains = True
        self._write({"update": update, "updates": updates})

    def before_save(self) -> None:
        """Refuse to save where another process has taken the lock over.

        Raises:
            FathomError: it has.
        """
        self.held.require()

    def saved(self, update: int) -> None:
        """Record that the state after an update is on disk."""
        self._write({"update": update})

    def stopped(self, update: int, reason: str) -> None:
        """Record that the training was stopped after an update, and why."""
        self.attempts.end(update, reason)
        self._write({"state": SAVED, "reason": reason})

    def failed(self, kind: str) -> None:
        """Record that an error of a kind ended the training, unless the disk refuses that, too."""
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

"""The attempts of one training: where each started, how it ended, on which host."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fathom.io.files import read_json, write_json
from fathom.training.environment import host_facts


class Attempts:
    """A list on disk; an attempt without an end was killed.

    Attributes:
        all: the attempts, the oldest first.
    """

    def __init__(self, path: Path):
        """Read the list; it is empty for a new training."""
        self.path = path
        self.all: list[dict[str, Any]] = read_json(path)["attempts"] if path.exists() else []

    @property
    def recipe(self) -> int:
        """The lowest recipe of the attempts: a resumed training has no later one."""
        return min(attempt["recipe"] for attempt in self.all)

    def start(self, update: int, recipe: int) -> None:
        """Record that an attempt starts.

        Args:
            update: the last update of the attempt before.
            recipe: of the code that trains.
        """
        started = {"start": _now(), "from_update": update, "recipe": recipe}
        self.all.append(host_facts() | started | {"end": None, "ended_as": None})
        self._write()

    def end(self, update: int, ended_as: str) -> None:
        """Record that this attempt ends after an update, and as what."""
        self.all[-1] |= {"end": _now(), "to_update": update, "ended_as": ended_as}
        self._write()

    def _write(self) -> None:
        write_json(self.path, {"attempts": self.all})


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

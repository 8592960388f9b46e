"""The attempts of one training: where each started, how it ended, on which host."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fathom.errors import FathomError
from fathom.io.files import read_json, write_json
from fathom.training.environment import host_facts

DAMAGED = "attempts.damaged"


class Attempts:
    """A list on disk; an attempt without an end was killed.

    Attributes:
        all: the attempts, the oldest first.
    """

    def __init__(self, path: Path, report: Callable[[str], None]):
        """Read the list; it is empty for a new training.

        Args:
            path: attempts.json; a damaged one is renamed.
            report: called with a line where it is damaged.
        """
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


def recorded(path: Path) -> list[dict[str, Any]] | None:
    """Return the attempts of a file, none where it is missing; None where it is damaged."""
    if not path.exists():
        return []
    try:
        attempts = read_json(path).get("attempts")
    except FathomError:
        return None
    matches = isinstance(attempts, list) and all(isinstance(one, dict) for one in attempts)
    return attempts if matches else None


def recipe_of(attempt: dict[str, Any]) -> int:
    """Return the recipe of an attempt; 0 where none is recorded."""
    recipe = attempt.get("recipe")
    return recipe if isinstance(recipe, int) else 0


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

"""What is recorded of each attempt at a training, and which of its processes reports an error.

In attempts.json `ended_as` is how a training ended (finished, diverged, failed_to_train), why it
was stopped (limit, preempted, cancelled), what failed (out_of_memory, failed), or killed. What a
process cannot know of its own end, the next attempt finds out: a process that was killed wrote no
end, and a job that its scheduler stopped and started again under its id was preempted.
"""

import os
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from fathom.io.errors import FathomError
from fathom.io.files import read_json, set_aside, write_json
from fathom.io.locks import HOLDER, LOCK, Held
from fathom.io.machine import is_out_of_memory
from fathom.io.records import Recorded
from fathom.nn.weights import saved_updates
from fathom.results import training_record
from fathom.results.recipe import RECIPE
from fathom.results.run_state import (
    FAILED,
    OUT_OF_MEMORY,
    TRAINING,
    State,
    fail,
    read_state,
    write_state,
)
from fathom.results.training_record import SETTINGS, WEIGHTS, unfit_weights
from fathom.train.environment import host_facts
from fathom.train.ranks import PeerLost, Ranks
from fathom.train.state import REPLACED, set_aside_after
from fathom.train.stopping import CANCELLED, LIMIT, NEAR, PREEMPTED, STOPPED, end_of_job

ATTEMPTS, DAMAGED = "attempts.json", "attempts.damaged"
KILLED = "killed"
# What stays of a stale training: the lines of all attempts, and the lock, which is held.
STAYS = ("train.log", LOCK, HOLDER)
# Seconds in which the first process reports what all of them may have seen.
PATIENCE, _LOOK = 5.0, 0.1


class Attempt:
    """What the first process writes of an attempt: its entry in attempts.json, and state.json.

    A damaged attempts.json is renamed and reported.
    """

    def __init__(self, folder: Path, held: Held, report: Callable[[str], None]):
        self.folder, self.held = folder, held
        attempts = recorded(folder)
        if attempts is None:
            os.replace(folder / ATTEMPTS, folder / DAMAGED)
            report(f"{folder / ATTEMPTS}: damaged; renamed to {DAMAGED}")
        self.all = attempts or []  # the oldest first
        self._entry: dict[str, Any] | None = None  # of this attempt, once it trains
        host = host_facts()
        place = {key: host[key] for key in ("host", "pid", "job")}
        before = read_state(folder)
        plugin = before.plugin if before else {}
        self._state = State(state=TRAINING, attempt=len(self.all) + 1, plugin=plugin, **place)
        self.write()

    @property
    def published(self) -> list[dict[str, Any]]:
        """The attempts as training.json has them: without host, process, job and command."""
        places = host_facts().keys()
        return [{key: each[key] for key in each if key not in places} for each in self.all]

    @property
    def recipe(self) -> int:
        """The lowest recipe of the attempts: a resumed training has no later one."""
        return min(map(recipe_of, self.all))

    def require_plugin(self, files: Mapping[str, str]) -> None:
        """Refuse other files of a plugin than those of the first attempt; SHA-256 by path."""
        recorded = self._state.plugin
        if recorded and recorded != files:
            name, _ = min(recorded.items() ^ files.items())
            what = f"{name} of the plugin has changed since the training began"
            remedy = "bring the file back, or raise `recipe` in its card to train from nothing"
            raise FathomError(what, str(self.folder), remedy)

    def start(
        self,
        update: int,
        updates: int,
        micro_batches: int = 0,
        plugin: Mapping[str, str] | None = None,
    ) -> None:
        """Record that the attempt trains from an update on, and what ended the one before."""
        host = host_facts()
        if self.all:
            self.all[-1]["ended_as"] = _ended_as(self.all[-1], host["job"], self.held.last_seen)
        started = {"start": _now(), "from_update": update, "recipe": RECIPE["training"]}
        limit = {"job_ends": end_of_job()}
        self._entry = host | started | limit | {"end": None, "ended_as": None}
        self.all.append(self._entry)
        write_json(self.folder / ATTEMPTS, {"attempts": self.all})
        self.write(
            update=update, updates=updates, micro_batches=micro_batches, plugin=dict(plugin or {})
        )

    def end(self, update: int, ended_as: str) -> None:
        """Record that the attempt ends after an update, and as what."""
        self.all[-1] |= {"end": _now(), "to_update": update, "ended_as": ended_as}
        write_json(self.folder / ATTEMPTS, {"attempts": self.all})

    def failed(self, kind: str) -> None:
        """Record that an error of a kind ended the attempt, if it trains and the disk allows it."""
        if self._entry and self._entry["ended_as"] is None:
            with suppress(OSError):
                self.end(self._state.update, kind)

    def write(self, **values: Any) -> None:
        """Replace state.json by one with other values."""
        self._state = self._state.model_copy(update=values)
        write_state(self.folder, self._state)


def _ended_as(last: dict[str, Any], job: str | None, last_seen: float | None) -> str:
    """Return what ended the attempt before.

    `last_seen` is when its process was seen last, in seconds since 1970, if it was killed.
    """
    if last.get("ended_as") == STOPPED:
        return PREEMPTED if last.get("job") == job else CANCELLED
    if last.get("ended_as") is not None:
        return last["ended_as"]
    job_ends = last.get("job_ends")
    at_limit = job_ends is not None and last_seen is not None and last_seen + NEAR >= job_ends
    return LIMIT if at_limit else KILLED


def recorded(folder: Path) -> list[dict[str, Any]] | None:
    """Return the attempts of a run, none where the file is missing; None where it is damaged."""
    if not (folder / ATTEMPTS).exists():
        return []
    try:
        attempts = read_json(folder / ATTEMPTS).get("attempts")
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


def delete_stale(folder: Path, report: Callable[[str], None]) -> None:
    """Delete what a training of an older recipe left, its translations and measurements too."""
    today = RECIPE["training"]
    recipe = min(map(recipe_of, recorded(folder) or []), default=today)
    if recipe >= today:
        return
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name not in STAYS:
            path.unlink()
    report(f"{folder}: of recipe {recipe}, but today's is {today}: trained again from nothing")


def prepare_to_resume(folder: Path, report: Callable[[str], None]) -> None:
    """Prepare a training whose weights or record were lost after its end.

    What cannot be resumed from is renamed, with a line for each file, and so is training.json.
    Weights that were saved along the way are made again from a state before them. A series that has
    changed too cannot be made again, and raises FathomError.
    """
    path = folder / "training.json"
    try:
        ended = training_record.read(path)
    except FathomError as error:
        report(f"{error.where}: {error.what}; resuming")
        set_aside(path)
        return
    series = [name for name in ended.files if not name.startswith((WEIGHTS, SETTINGS))]
    recorded = Recorded(path, ended.files)
    try:
        recorded.require(*series)
    except FathomError as error:
        remedy = f"to train it from nothing, move {folder} away"
        raise FathomError(error.what, error.where, remedy) from None
    unfit = unfit_weights(path, ended)
    damaged = dict(unfit)
    if SETTINGS in ended.files and (reason := recorded.unfit(SETTINGS)):
        damaged[SETTINGS] = reason
    for name, reason in damaged.items():
        there = (folder / name).exists()
        what = f"{reason}; renamed to {set_aside(folder / name)}" if there else reason
        report(f"{folder / name}: {what}; resuming")
    along = saved_updates(name.removeprefix(WEIGHTS) for name in unfit)
    set_aside_after(folder / WEIGHTS, min(along) - 1 if along else ended.outcome.update)
    set_aside(path, REPLACED)


class Session:
    """The processes that train a run together, of which one reports an error.

    A process exits with status 1 and no message if another rank has reported the error. The ranks
    share a folder: whichever fails writes its error into state.json first, and a rank that only
    notices a lost peer looks there. So nothing is asked of a process that no longer answers.
    """

    def __init__(self, ranks: Ranks, folder: Path):
        self.ranks, self.folder = ranks, folder
        self.begun, self.attempt = False, None
        self._before = read_state(folder)

    def begin(self, attempt: Attempt | None) -> None:
        """Note that the attempt has begun; ranks other than the first have none."""
        self.begun, self.attempt = True, attempt

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if not isinstance(error, Exception):
            return
        kind = OUT_OF_MEMORY if is_out_of_memory(error) else FAILED
        if isinstance(error, PeerLost) and (state := self._error()):
            kind = state.state
        if self.attempt:
            self.attempt.failed(kind)
        if self._is_reported(error, kind) and self.ranks.world > 1:
            raise SystemExit(1) from error

    def _is_reported(self, error: Exception, kind: str) -> bool:
        """Return whether another rank has reported what ended all of them; if not, record it."""
        if isinstance(error, PeerLost) and self.ranks.rank > 1:
            return True
        if isinstance(error, FathomError):
            # The first process has the same error, or is the one that is lost.
            patience = 0.0 if self.ranks.is_main else PATIENCE
            end = time.monotonic() + patience
            while not self._error() and time.monotonic() < end:
                time.sleep(_LOOK)
            if self._error():
                return True
        with suppress(OSError):
            return self.begun and not fail(self.folder, kind, str(error).partition("\n")[0])
        return False

    def _error(self) -> State | None:
        """Return the error that a process of this attempt has recorded."""
        state = read_state(self.folder)
        return state if state and state.is_error and state != self._before else None

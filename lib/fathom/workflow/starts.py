"""The starts of a user: which live, which locks of Snakemake they hold, and what they will train.

A start is one running `snakemake`. It records itself in one file of the results, which is deleted
when its process ends; a record whose process is gone is of a start that was killed.
"""

import atexit
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from fathom.io.errors import FathomError
from fathom.io.files import read_json, write_json
from fathom.io.locks import started

# Where Snakemake keeps the locks of a working folder.
LOCKS = Path(".snakemake") / "locks"
STARTS = "starts"
T = TypeVar("T", dict, list)

# Everywhere, `above` is the folder of what is known of jobs.


def enter(above: Path) -> list[str]:
    """Record this start, and delete the records and the locks of starts that were killed.

    Snakemake's lock outlives a killed process. A lock that no dead start has recorded stays: it may
    be of a Snakemake that lives, or of another workflow.

    Returns:
        Lines for the user.
    """
    others = {path: record for path, record in _records(above).items() if not _is_ours(record)}
    dead = {path: record for path, record in others.items() if _is_gone(record)}
    left = [lock for record in dead.values() for lock in _locks_of(record)]
    freed = [lock for lock in left if lock == _version(Path(lock[0]))]
    for path, *_ in freed:
        Path(path).unlink(missing_ok=True)
    for path in dead:
        with suppress(OSError):
            path.unlink()
    _record(above)
    lines = ["the lock of an earlier start, which is gone, is removed"] if freed else []
    return [*lines, whose_lock(above)] if others and _is_locked() else lines


def hold(above: Path, locks: Iterable[str | Path]) -> None:
    """Record Snakemake's locks that this start holds."""
    _record(above, locks=[_version(Path(lock).absolute()) for lock in locks])


def _is_locked() -> bool:
    """Return whether somebody holds a lock of the working folder."""
    return LOCKS.is_dir() and any(LOCKS.iterdir())


def _version(lock: Path) -> list[Any]:
    """Return the full name of a lock, and what another one of this name has not in common."""
    try:
        status = lock.stat()
    except OSError:
        return [str(lock)]
    return [str(lock), status.st_ino, status.st_mtime_ns]


def _locks_of(record: dict[str, Any]) -> list[list[Any]]:
    """Return the locks that a start holds, each as `_version`."""
    locks = _part(record, "locks", list)
    return [lock for lock in locks if isinstance(lock, list) and lock and isinstance(lock[0], str)]


def whose_lock(above: Path) -> str:
    """Return whose a lock of Snakemake in the working folder may be, by the records of starts."""
    alive = [
        record
        for record in _records(above).values()
        if not (_is_ours(record) or _is_gone(record))
        and any(Path(lock[0]).parent == LOCKS.absolute() for lock in _locks_of(record))
    ]
    far = sorted({str(record["host"]) for record in alive} - {platform.node()})
    if far:
        return f"a start on {', '.join(far)} may still run here; if it is gone, add --unlock once"
    if alive:
        processes = ", ".join(str(record["pid"]) for record in alive)
        return f"process {processes} runs the workflow here, too; wait for it or stop it"
    return "another workflow may run in this folder; if none does, add --unlock once"


def add_trainings(above: Path, trainings: Mapping[Path, Sequence[Any]]) -> None:
    """Add trainings to what this start will make.

    Args:
        above: the folder of what is known of jobs.
        trainings: by their training.json the kind of network, and the updates if these are known.
    """
    made = {str(path.absolute()): what for path, what in trainings.items()}
    _record(above, trainings=trainings_of_this(above) | made)


def trainings_of_this(above: Path) -> dict[str, Any]:
    """Return what this start has added, by the full paths of training.json."""
    record = read_or_empty(_mine(above))
    return _part(record, "trainings", dict) if _is_ours(record) else {}


def trainings_of_all(above: Path) -> set[Path]:
    """Return the trainings that all starts will make which live, or may live."""
    records = (record for record in _records(above).values() if not _is_gone(record))
    return {Path(name) for record in records for name in _part(record, "trainings", dict)}


def _records(above: Path) -> dict[Path, dict[str, Any]]:
    """Return the records of all starts."""
    return {path: read_or_empty(path) for path in (above / STARTS).glob("*.json")}


def _mine(above: Path) -> Path:
    """Return the place of this process's record."""
    return above / STARTS / f"{platform.node()}.{os.getpid()}.json"


def _process() -> dict[str, Any]:
    return {"host": platform.node(), "pid": os.getpid(), "start": started(os.getpid())}


def _is_ours(record: dict[str, Any]) -> bool:
    return {key: record.get(key) for key in _process()} == _process()


def _is_gone(record: dict[str, Any]) -> bool:
    """Return whether the process of a record has ended; of another host, nothing is known."""
    # A record is written whole. One without these keys was edited or damaged, and as it names no
    # process, it could never be removed if it counted as one that may live.
    if not {*_process()} <= {*record}:
        return True
    if record["host"] != platform.node():
        return False
    return not isinstance(pid := record["pid"], int) or started(pid) != record["start"]


def _record(above: Path, **said: Any) -> None:
    """Write what is said of this process into its record, for as long as it runs."""
    path = _mine(above)
    before = read_or_empty(path)
    write_json(path, (before if _is_ours(before) else _process()) | said)
    _delete_at_exit(path, os.getpid())


def read_or_empty(path: Path) -> dict[str, Any]:
    """Return a record; empty where it is missing or damaged."""
    with suppress(FathomError):
        return read_json(path)
    return {}


def _part(record: dict[str, Any], key: str, kind: type[T]) -> T:
    """Return a list or mapping of a record, which somebody may have edited."""
    return found if isinstance(found := record.get(key), kind) else kind()


@cache
def _delete_at_exit(path: Path, pid: int) -> None:
    atexit.register(_delete, path, pid)


def _delete(path: Path, pid: int) -> None:
    """Delete this process's record, but not in a process that it forked."""
    if os.getpid() == pid:
        with suppress(OSError):
            path.unlink(missing_ok=True)

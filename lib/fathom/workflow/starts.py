"""The starts of a user: which live, which locks of Snakemake they hold, and what they will train.

A start is one running `snakemake`. It records itself in a file that is deleted when its process
ends; a record whose process is gone is of a start that was killed.
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

LOCKS = Path(".snakemake") / "locks"
T = TypeVar("T", dict, list)
HEADS = Path(".snakemake") / "fathom_heads"
STARTS = "starts"


def enter() -> list[str]:
    """Record this start in the working folder, and remove the locks of starts that were killed.

    Snakemake's lock outlives a killed process. A lock that no dead start has recorded stays: it may
    be of a Snakemake that lives, or of another workflow.

    Returns:
        Lines for the user.
    """
    read = {path: read_or_empty(path) for path in HEADS.glob("*.json")}
    records = {path: record for path, record in read.items() if not _is_ours(record)}
    dead = [path for path in records if _is_gone(path)]
    left = [lock for path in dead for lock in _part(records[path], "locks", list)]
    freed = [path for path in _locks() if [*_version(path)] in left]
    for path in freed:
        path.unlink(missing_ok=True)
    lines = ["the lock of an earlier start, which is gone, is removed"] if freed else []
    if records and _locks():
        lines.append(whose_lock())
    for path in dead:
        path.unlink(missing_ok=True)
    hold(())
    return lines


def hold(locks: Iterable[str | Path]) -> None:
    """Record this start in the working folder, with Snakemake's locks that it holds."""
    _record(_mine(HEADS), {"locks": [list(_version(Path(lock))) for lock in locks]})


def _locks() -> list[Path]:
    return [*LOCKS.iterdir()] if LOCKS.is_dir() else []


def _version(lock: Path) -> tuple[Any, ...]:
    """Return what another lock of the same name does not have in common with this one."""
    try:
        status = lock.stat()
    except OSError:
        return (lock.name,)
    return lock.name, status.st_ino, status.st_mtime_ns


def whose_lock() -> str:
    """Return whose a lock of Snakemake in the working folder may be, by the records of starts."""
    paths = (path for path in HEADS.glob("*.json") if not _is_gone(path))
    alive = [record for record in map(read_or_empty, paths) if not _is_ours(record)]
    far = sorted({str(record["host"]) for record in alive} - {platform.node()})
    if far:
        return f"a start on {', '.join(far)} may still run here; if it is gone, add --unlock once"
    if alive:
        processes = ", ".join(str(record["pid"]) for record in alive)
        return f"process {processes} runs the workflow here, too; wait for it or stop it"
    return "another workflow may run in this folder; if none does, add --unlock once"


def add_trainings(above: Path, trainings: Mapping[Path, Sequence[Any]]) -> None:
    """Add trainings to what this start will make; delete the records of starts that were killed.

    Args:
        above: the folder of what is known of jobs.
        trainings: by their training.json the kind of network, and the updates if these are known.
    """
    for path in (above / STARTS).glob("*.json"):
        if _is_gone(path):
            with suppress(OSError):
                path.unlink()
    if trainings:
        made = {str(path.absolute()): what for path, what in trainings.items()}
        _record(_mine(above / STARTS), {"trainings": trainings_of_this(above) | made})


def trainings_of_this(above: Path) -> dict[str, Any]:
    """Return what this start has added, by the full paths of training.json."""
    record = read_or_empty(_mine(above / STARTS))
    return _part(record, "trainings", dict) if _is_ours(record) else {}


def trainings_of_all(above: Path) -> set[Path]:
    """Return the trainings that all starts will make which live, or may live."""
    live = [path for path in (above / STARTS).glob("*.json") if not _is_gone(path)]
    records = map(read_or_empty, live)
    return {Path(name) for record in records for name in _part(record, "trainings", dict)}


def _mine(folder: Path) -> Path:
    """Return the place of this process's record."""
    return folder / f"{platform.node()}.{os.getpid()}.json"


def _process() -> dict[str, Any]:
    return {"host": platform.node(), "pid": os.getpid(), "start": started(os.getpid())}


def _is_ours(record: dict[str, Any]) -> bool:
    return {key: record.get(key) for key in _process()} == _process()


def _is_gone(path: Path) -> bool:
    """Return whether the process of a record has ended; of another host, nothing is known."""
    record = read_or_empty(path)
    # A record is written whole. One without these keys was edited or damaged, and as it names no
    # process, it could never be removed if it counted as one that may live.
    if not {*_process()} <= {*record}:
        return True
    if record["host"] != platform.node():
        return False
    return not isinstance(pid := record["pid"], int) or started(pid) != record["start"]


def _record(path: Path, content: dict[str, Any]) -> None:
    """Write a record of this process for as long as it runs."""
    write_json(path, _process() | content)
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

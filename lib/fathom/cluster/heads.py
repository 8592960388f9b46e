"""The processes that a user started in a working folder, and the locks that dead ones left.

Snakemake's lock outlives a killed process, and the user must remove it by `--unlock`. It does not
record whose it is; so each start records itself, and a lock whose owners are all gone is removed.
"""

import atexit
import os
import platform
from contextlib import suppress
from pathlib import Path

from fathom.cluster.jobs import read_or_empty
from fathom.io.files import write_json
from fathom.io.holders import started

LOCKS = Path(".snakemake") / "locks"
HEADS = Path(".snakemake") / "fathom_heads"


def enter() -> list[str]:
    """Record this process in the working folder, and remove locks that only dead ones can hold.

    Returns:
        Lines for the user.
    """
    mine = f"{platform.node()}.{os.getpid()}.json"
    others = [path for path in HEADS.glob("*.json") if path.name != mine]
    dead = [path for path in others if is_gone(path)]
    lines = _free(others, dead) if LOCKS.is_dir() and any(LOCKS.iterdir()) else []
    for path in dead:
        path.unlink(missing_ok=True)
    record()
    return lines


def record() -> None:
    """Record this process in the working folder for as long as it runs."""
    mine = HEADS / f"{platform.node()}.{os.getpid()}.json"
    write_json(mine, {"host": platform.node(), "pid": os.getpid(), "start": started(os.getpid())})
    atexit.register(leave, mine, os.getpid())


def _free(others: list[Path], dead: list[Path]) -> list[str]:
    """Remove the locks, if all of those who can hold them are dead; else say who may live.

    Of a lock that nobody here recorded, Snakemake itself names `--unlock`.
    """
    if not others:
        return []
    if len(dead) == len(others):
        for path in LOCKS.iterdir():
            path.unlink(missing_ok=True)
        return ["the lock of an earlier start, which is gone, is removed"]
    alive = [read_or_empty(path) for path in others if path not in dead]
    here = [str(one["pid"]) for one in alive if one.get("host") == platform.node()]
    far = sorted({one.get("host", "") for one in alive} - {platform.node()})
    if far:
        return [f"a start on {', '.join(far)} may still run here; if it is gone, add --unlock once"]
    return [f"process {', '.join(here)} runs the workflow here, too; wait for it or stop it"]


def is_gone(path: Path) -> bool:
    """Return whether the process of a record has ended; of another host, nothing is known."""
    record = read_or_empty(path)
    if record and record["host"] != platform.node():
        return False
    return started(int(record.get("pid", 0))) != record.get("start")


def leave(path: Path, pid: int) -> None:
    """Delete this process's record, and none in a process that it forked."""
    if os.getpid() == pid:
        with suppress(OSError):
            path.unlink(missing_ok=True)

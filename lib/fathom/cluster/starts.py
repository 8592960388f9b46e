"""What the starts of the workflow that run now will train, recorded for `fathom status`."""

import atexit
import os
import platform
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from fathom.cluster.heads import is_gone, leave
from fathom.cluster.jobs import read_or_empty
from fathom.io.files import write_json
from fathom.io.holders import started

STARTS = "starts"


def record(above: Path, trainings: Iterable[Path]) -> None:
    """Add trainings to the record of this start, which is deleted when its process ends.

    Records of starts that were killed are deleted.

    Args:
        above: the folder of what is known of jobs.
        trainings: the files that the start makes.
    """
    for path in (above / STARTS).glob("*.json"):
        if is_gone(path):
            with suppress(OSError):
                path.unlink()
    made = {str(path.absolute()) for path in trainings}
    if not made:
        return
    mine, process = _mine(above)
    if not mine.exists():
        atexit.register(leave, mine, process["pid"])
    made |= set(map(str, recorded(above)))
    write_json(mine, process | {"trainings": sorted(made)})


def recorded(above: Path) -> set[Path]:
    """Return the trainings that this start has recorded."""
    mine, process = _mine(above)
    record = read_or_empty(mine)
    same = {key: record.get(key) for key in process} == process
    return {Path(name) for name in record["trainings"]} if same else set()


def trainings(above: Path) -> set[Path]:
    """Return the files of all trainings that starts which may live will make."""
    live = [path for path in (above / STARTS).glob("*.json") if not is_gone(path)]
    return {Path(name) for path in live for name in read_or_empty(path).get("trainings", ())}


def _mine(above: Path) -> tuple[Path, dict[str, Any]]:
    """Return the record's path and what names this process in it."""
    host, pid = platform.node(), os.getpid()
    path = above / STARTS / f"{host}.{pid}.json"
    return path, {"host": host, "pid": pid, "start": started(pid)}

"""One process at a time in a folder; the lock ends with the process that holds it."""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from fathom.errors import FathomError

LOCK, HOLDER = "lock", "lock.holder"


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold a folder's lock while the block runs; it is freed however the process ends.

    Args:
        folder: it is made. The files `lock` and `lock.holder` stay in it; the second names the host
            and process of the last holder.

    Raises:
        FathomError: another process holds the lock.
    """
    folder.mkdir(parents=True, exist_ok=True)
    holder = folder / HOLDER
    lock = FileLock(folder / LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        name = holder.read_text(encoding="utf-8").strip() if holder.is_file() else ""
        what = f"locked by {name or 'another process'}"
        raise FathomError(what, str(folder), "wait for it or stop it") from None
    try:
        holder.write_text(f"process {os.getpid()} on {platform.node()}\n", encoding="utf-8")
        yield
    finally:
        lock.release()

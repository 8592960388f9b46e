"""One process at a time in a folder; the lock ends with the process that holds it."""

import errno
import os
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from fathom.errors import FathomError
from fathom.io.files import leftovers, naming, remove_leftovers, write_text

LOCK, HOLDER = "lock", "lock.holder"
# What a file system without locks answers.
_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)


@contextmanager
def only_writer(folder: Path, report: Callable[[str], None]) -> Iterator[None]:
    """Hold a folder's lock while the block runs; it is freed however the process ends.

    What killed writers left half-written in the folder is deleted.

    Args:
        folder: it is made. The files `lock` and `lock.holder` stay in it; the second names the host
            and process of the last holder.
        report: called with a line where the file system has no locks.

    Raises:
        FathomError: another process holds the lock.
    """
    folder.mkdir(parents=True, exist_ok=True)
    holder = folder / HOLDER
    # A lock by existence alone would outlive a killed process.
    lock = FileLock(folder / LOCK, timeout=0, fallback_to_soft=False)
    try:
        with naming(folder / LOCK):
            lock.acquire()
    except Timeout:
        what = f"locked by {_name(holder) or 'another process'}"
        raise FathomError(what, str(folder), "wait for it or stop it") from None
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        last = f"; the last one was {_name(holder)}" if _name(holder) else ""
        report(f"{folder}: no locks here, so start no second process{last}")
    try:
        write_text(holder, f"process {os.getpid()} on {platform.node()}\n")
        remove_leftovers(leftovers(folder))
        yield
    finally:
        lock.release()


def _name(holder: Path) -> str:
    """Return the host and process that a folder's file names; empty if there is no such file."""
    return holder.read_bytes().decode("utf-8", "replace").strip() if holder.is_file() else ""

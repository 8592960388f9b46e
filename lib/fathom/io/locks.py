"""One writer at a time: a lock on a folder, released when its process ends."""

import fcntl
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fathom.errors import FathomError


@contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Hold a lock while the block runs; the system releases it however the process ends.

    Args:
        path: the lock's file; its folder is created. The file remains, with its last holder's
            process and host.

    Raises:
        FathomError: another process holds the lock.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not truncated before the lock is held: the file names the holder.
    with open(path, "a+", encoding="utf-8") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            stream.seek(0)
            holder = stream.read().strip() or "another process"
            raise FathomError(
                f"locked by {holder}", str(path.parent), "wait for it or stop it"
            ) from None
        stream.truncate(0)
        stream.write(f"process {os.getpid()} on {platform.node()}\n")
        stream.flush()
        yield

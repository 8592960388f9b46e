"""One process at a time in a folder; the lock ends with the process that holds it.

The kernel's lock (flock) is free at once when its process ends. But some file systems have none,
and on some it holds on one host alone. So a file names the holder as well, and the holder gives it
the present time every PERIOD seconds. Another process takes the lock over when this has stopped for
three periods and the holder is gone.
"""

import errno
import fcntl
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import IO

from fathom.io.errors import FathomError
from fathom.io.files import leftovers, naming, remove_leftovers
from fathom.io.holders import UNKNOWN, Alive, Holder, beat, read_holder, silent_for, write_holder

LOCK, HOLDER = "lock", "lock.holder"
# Seconds between heartbeats, and between two looks at a lock that is waited for.
PERIOD, POLL = 10.0, 2.0
# What a file system without locks answers.
_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)


def nobody_asked(job: str) -> None:
    """Know nothing of a scheduler's job."""


class Held:
    """A lock that this process holds.

    Attributes:
        last_seen: the last heartbeat of the holder before, in seconds since 1970 by the clock of
            the file system, if that process was killed.
    """

    def __init__(self, path: Path, holder: Holder, last_seen: float | None):
        """Keep the file that names this process."""
        self.path, self.holder, self.last_seen = path, holder, last_seen

    def is_mine(self) -> bool:
        """Return whether no other process has taken the lock over, as from one that was frozen."""
        return read_holder(self.path) in (self.holder, None)

    def require(self) -> None:
        """Refuse to write where another process has taken the lock over.

        Raises:
            FathomError: it has.
        """
        if not self.is_mine():
            what = f"{read_holder(self.path)} has taken the lock over"
            raise FathomError(what, str(self.path.parent), "leave the training to it")


@contextmanager
def only_writer(
    folder: Path,
    report: Callable[[str], None],
    waiting: Callable[[], object] | None = None,
    alive: Alive = nobody_asked,
) -> Iterator[Held]:
    """Hold a folder's lock while the block runs; it is freed however the process ends.

    What killed writers left half-written in the folder is deleted.

    Args:
        folder: it is made. The file `lock` stays in it; `lock.holder` names the process that holds
            the lock, or held it when it was killed.
        report: called with a line where the file system has no locks, and for each process that is
            waited for.
        waiting: called every POLL seconds while another process holds the lock; without it the
            other process is a reason to end.
        alive: asks a scheduler about the job of a holder on another host.

    Raises:
        FathomError: another process holds the lock, and `waiting` is not given.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / HOLDER
    with ExitStack() as opened:
        with naming(folder / LOCK):
            stream = opened.enter_context(open(folder / LOCK, "ab"))
            held = _take(stream, path, report, waiting, alive)
        ended = Event()
        heart = Thread(target=_keep_alive, args=(held, ended), name="lock", daemon=True)
        heart.start()
        try:
            remove_leftovers(leftovers(folder))
            yield held
        finally:
            ended.set()
            heart.join()
            if held.is_mine():
                path.unlink(missing_ok=True)
            # A process that was started meanwhile has the file open, too.
            _free(stream)


def _take(
    stream: IO[bytes],
    path: Path,
    report: Callable[[str], None],
    waiting: Callable[[], object] | None,
    alive: Alive,
) -> Held:
    """Take the lock, after waiting for who holds it."""
    reported = None
    while True:
        locked = _kernel_lock(stream)
        if locked is not False and (held := _name_here(path, locked, report, alive)):
            return held
        if locked:
            _free(stream)
        other = read_holder(path) or UNKNOWN
        what, remedy = f"locked by {other}", "wait for it or stop it"
        if _silent(path):
            remedy = f"it has shown no life for a while; if it is gone, delete {path}"
        if waiting is None:
            raise FathomError(what, str(path.parent), remedy)
        # Between a holder's last act and the end of its lock nobody is named.
        if reported != (what, remedy) and not (reported and other is UNKNOWN):
            report(f"{path.parent}: {what}, and waited for; {remedy}")
            reported = what, remedy
        waiting()
        time.sleep(POLL)


def _name_here(
    path: Path, locked: bool | None, report: Callable[[str], None], alive: Alive
) -> Held | None:
    """Name this process as the holder, unless another one is named that may live.

    Args:
        path: of the holder's file.
        locked: True where this process has the kernel's lock, None where there is none.
        report: as in `only_writer`.
        alive: as in `only_writer`.
    """
    me, other = Holder.here(), read_holder(path)
    if other is None:
        if not write_holder(path, me, new=True):
            return None
        if locked is None:
            report(f"{path.parent}: no locks here; {HOLDER} keeps other processes out")
        return Held(path, me, None)
    # The kernel frees a lock with its process, but maybe on this host alone.
    freed = bool(locked and other.is_here)
    if not freed and not (_silent(path) and other.is_gone(alive, locked=bool(locked))):
        return None
    last_seen = path.stat().st_mtime
    write_holder(path, me, new=False)
    if not freed:
        # Of two that take it over at once, the last one to write holds it.
        time.sleep(POLL)
    if read_holder(path) != me:
        return None
    if not freed:
        report(f"{path.parent}: the lock of {other}, which is gone, is taken over")
    return Held(path, me, last_seen)


def _silent(path: Path) -> bool:
    """Return whether a holder's heartbeat has stopped for three periods."""
    try:
        return silent_for(path) > 3 * PERIOD
    except FileNotFoundError:
        return False


def _kernel_lock(stream: IO[bytes]) -> bool | None:
    """Try the kernel's lock: whether it was free, or None where the file system has none."""
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        return None
    return True


def _free(stream: IO[bytes]) -> None:
    with suppress(OSError):
        fcntl.flock(stream, fcntl.LOCK_UN)


def _keep_alive(held: Held, ended: Event) -> None:
    """Give the holder's file the present time until the block has ended."""
    while not ended.wait(PERIOD):
        # A full disk or a folder that was deleted is the business of the block.
        with suppress(OSError):
            if held.is_mine():
                beat(held.path)

"""One process at a time in a folder; the lock ends with the process that holds it.

The kernel's lock (flock) is free at once when its process ends. But some file systems have none,
and on some it holds on one host alone. So a file names the holder as well, and the holder gives it
the present time every PERIOD seconds. Another process takes the lock over when this has stopped for
three periods and the holder is gone. Heartbeats are compared with the time of a file that is
written now in the same folder, so that only the clock of the file system counts.
"""

import errno
import fcntl
import json
import os
import platform
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from threading import Event, Thread
from typing import IO

from fathom.io.errors import FathomError
from fathom.io.files import leftovers, naming, remove_leftovers, write_text
from fathom.io.machine import job_id

LOCK, HOLDER = "lock", "lock.holder"
# Seconds between heartbeats, and between two looks at a lock that is waited for.
PERIOD, POLL = 10.0, 2.0
# What a file system without locks answers.
_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
# Answers whether a scheduler's job may still run; None where the scheduler does not answer.
Alive = Callable[[str], bool | None]


def job_state_unknown(job: str) -> None:
    """Return None: there is no scheduler to ask."""


@dataclass(frozen=True)
class Holder:
    """A process that holds a lock."""

    host: str
    pid: int
    # When the process started, in ticks since the machine did: process ids are used again.
    started: int | None
    # The scheduler's id of its job.
    job: str | None
    # Differs for every time that a lock is taken.
    token: str

    @classmethod
    def here(cls) -> "Holder":
        """Return this process, which takes a lock now."""
        pid = os.getpid()
        return cls(platform.node(), pid, started(pid), job_id(), secrets.token_hex(8))

    def __str__(self) -> str:
        job = f" (job {self.job})" if self.job else ""
        return f"process {self.pid} on {self.host}{job}" if self.host else "another process"

    @property
    def is_on_this_host(self) -> bool:
        """Whether it runs, or ran, on this machine."""
        return self.host == platform.node()

    @property
    def runs_here(self) -> bool:
        """Whether it is a process of this machine now."""
        return self.is_on_this_host and started(self.pid) == self.started

    def is_gone(self, alive: Alive, locked: bool) -> bool:
        """Return whether it is gone, given that its heartbeat has stopped.

        No answer of the scheduler counts as alive. Without one, `locked`, whether the kernel gave
        this process the lock, is the evidence.
        """
        if self.is_on_this_host:
            return not self.runs_here
        if self.job is None:
            return locked
        # A job that runs a second time under its id is its own proof.
        return self.job == job_id() or alive(self.job) is False


UNKNOWN = Holder("", 0, None, None, "")


def write_holder(path: Path, holder: Holder, *, new: bool) -> bool:
    """Name the holder of a lock, with `new` where no file is yet; False if another was faster."""
    text = json.dumps(asdict(holder), allow_nan=False)
    if not new:
        write_text(path, text)
        return True
    try:
        with open(path, "x", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
    except FileExistsError:
        return False
    except OSError:
        # Of a full disk: a name that is cut off would keep everybody out.
        path.unlink(missing_ok=True)
        raise
    return True


def read_holder(path: Path) -> Holder | None:
    """Return the holder that a file names; UNKNOWN where it is damaged, None where it is gone."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        # Other versions write more.
        return Holder(**{field.name: said[field.name] for field in fields(Holder)})
    except FileNotFoundError:
        return None
    except (KeyError, TypeError, ValueError):
        return UNKNOWN


def is_silent(path: Path) -> bool:
    """Return whether a holder's heartbeat has stopped for three periods.

    Time is that of the file system. A lock that was freed is not silent.
    """
    probe = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(probe, "wb") as stream:
            stream.write(b"now")
            stream.flush()
            os.fsync(stream.fileno())
            now = os.fstat(stream.fileno()).st_mtime
        # Opened, since a network's file system answers from memory for a file that is not.
        with open(path, "rb") as stream:
            return now - os.fstat(stream.fileno()).st_mtime > 3 * PERIOD
    except FileNotFoundError:
        return False
    finally:
        probe.unlink(missing_ok=True)


def last_beat(path: Path) -> float | None:
    """Return about how many seconds ago the last heartbeat was; None where the lock is free.

    For readers, which may write nothing in the folder: by the clock of this machine.
    """
    with suppress(OSError), open(path, "rb") as stream:
        return max(0.0, time.time() - os.fstat(stream.fileno()).st_mtime)
    return None


def started(pid: int) -> int | None:
    """Return when a process started, in ticks; None where there is none, or no /proc."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name, in brackets, may have spaces; the start is the 20th word after it. Z is a process
    # that has ended and whose parent has not asked yet.
    state, *words = text.rpartition(")")[2].split()
    return None if state == "Z" else int(words[18])


class Held:
    """A lock that this process holds."""

    def __init__(self, path: Path, holder: Holder, last_seen: float | None):
        self.path, self.holder = path, holder
        # The last heartbeat of the holder before, if that process was killed: seconds since 1970
        # by the clock of the file system.
        self.last_seen = last_seen

    def is_mine(self) -> bool:
        """Return whether no other process has taken the lock over, as from one that was frozen."""
        return read_holder(self.path) in (self.holder, None)

    def require(self) -> None:
        """Refuse to write where another process has taken the lock over."""
        if not self.is_mine():
            what = f"{read_holder(self.path)} has taken the lock over"
            raise FathomError(what, str(self.path.parent), "leave the training to it")


@contextmanager
def only_writer(
    folder: Path,
    report: Callable[[str], None],
    waiting: Callable[[], object] | None = None,
    alive: Alive = job_state_unknown,
) -> Iterator[Held]:
    """Hold a folder's lock while the block runs; it is freed however the process ends.

    The folder is made, and what killed writers left half-written in it is deleted. The file `lock`
    stays in it; `lock.holder` names the process that holds the lock, or held it when it was killed.

    Args:
        report: called with a line where the file system has no locks, and for each process that is
            waited for.
        waiting: called every POLL seconds while another process holds the lock; with None it is
            refused instead.
        alive: asks a scheduler about the job of a holder on another host.
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
        holder = read_holder(path) or UNKNOWN
        what, remedy = f"locked by {holder}", "wait for it or stop it"
        if is_silent(path):
            remedy = f"it has shown no life for a while; if it is gone, delete {path}"
        if waiting is None:
            raise FathomError(what, str(path.parent), remedy)
        # Between a holder's last act and the end of its lock nobody is named.
        if reported != (what, remedy) and not (reported and holder is UNKNOWN):
            report(f"{path.parent}: {what}, and waited for; {remedy}")
            reported = what, remedy
        waiting()
        time.sleep(POLL)


def _name_here(
    path: Path, locked: bool | None, report: Callable[[str], None], alive: Alive
) -> Held | None:
    """Name this process as the holder, unless another one is named that may live.

    `locked` is True where this process has the kernel's lock, and None where there is none.
    """
    me, holder = Holder.here(), read_holder(path)
    if holder is None:
        if not write_holder(path, me, new=True):
            return None
        if locked is None:
            report(f"{path.parent}: no locks here; {HOLDER} keeps other processes out")
        return Held(path, me, None)
    # The kernel frees a lock with its process, but maybe on this host alone.
    freed = bool(locked and holder.is_on_this_host)
    if not freed and not (is_silent(path) and holder.is_gone(alive, locked=bool(locked))):
        return None
    last_seen = path.stat().st_mtime
    write_holder(path, me, new=False)
    if not freed:
        # Of two that take it over at once, the last one to write holds it.
        time.sleep(POLL)
    if read_holder(path) != me:
        return None
    if not freed:
        report(f"{path.parent}: the lock of {holder}, which is gone, is taken over")
    return Held(path, me, last_seen)


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
                os.utime(held.path)

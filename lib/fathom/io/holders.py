"""The process that holds the lock of a folder, by the file that names it, and whether it lives.

The time of the file is the holder's heartbeat. It is compared with the time of a file that is
written now in the same folder, so that only the clock of the file system counts.
"""

import json
import os
import platform
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from fathom.io.jobs import job_id

# Says of a scheduler's job whether it may still run; None where the scheduler does not answer.
Alive = Callable[[str], bool | None]


@dataclass(frozen=True)
class Holder:
    """A process that holds a lock.

    Attributes:
        host: the name of its machine.
        boot: which start of this machine it is; None where the system does not say.
        pid: its number.
        started: when it started, in ticks since the machine did: numbers are used again.
        job: the scheduler's id of its job.
        token: differs for every time that a lock is taken.
    """

    host: str
    boot: str | None
    pid: int
    started: int | None
    job: str | None
    token: str

    @classmethod
    def here(cls) -> "Holder":
        """Return this process, which takes a lock now."""
        pid = os.getpid()
        return cls(platform.node(), _boot(), pid, started(pid), job_id(), secrets.token_hex(8))

    def __str__(self) -> str:
        """Name the process, its host and its job."""
        job = f" (job {self.job})" if self.job else ""
        return f"process {self.pid} on {self.host}{job}" if self.host else "another process"

    @property
    def is_on_this_host(self) -> bool:
        """Whether it runs, or ran, on this machine."""
        return self.host == platform.node()

    @property
    def is_here(self) -> bool:
        """Whether it runs, or ran, on this machine since its last start."""
        return self.is_on_this_host and self.boot == _boot()

    @property
    def runs_here(self) -> bool:
        """Whether it is a process of this machine now."""
        if not self.is_here:
            return False
        if self.started is not None:
            return started(self.pid) == self.started
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return True

    def is_gone(self, alive: Alive, locked: bool) -> bool:
        """Return whether it is gone, given that its heartbeat has stopped.

        Args:
            alive: asks the scheduler about its job; silence counts as alive.
            locked: whether the kernel gave this process the lock, which is evidence where nobody
                can be asked.
        """
        if self.is_on_this_host:
            return not self.runs_here
        if self.job is None:
            return locked
        # A job that runs a second time under its id is its own proof.
        return self.job == job_id() or alive(self.job) is False


UNKNOWN = Holder("", None, 0, None, None, "")


def write_holder(path: Path, holder: Holder, *, new: bool) -> bool:
    """Name the holder of a lock.

    Args:
        path: the file.
        holder: this process.
        new: whether to write only where there is no file yet.

    Returns:
        False where another process was faster.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(part if not new else path, "w" if not new else "x", encoding="utf-8") as stream:
            json.dump(asdict(holder), stream, allow_nan=False)
            stream.flush()
            os.fsync(stream.fileno())
    except FileExistsError:
        return False
    if not new:
        os.replace(part, path)
    return True


def read_holder(path: Path) -> Holder | None:
    """Return the holder that a file names; UNKNOWN where it is damaged, None where it is gone."""
    try:
        return Holder(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError):
        return UNKNOWN


def silent_for(path: Path) -> float:
    """Return the seconds since a holder's last heartbeat, by the clock of the file system.

    Raises:
        FileNotFoundError: the lock was freed.
    """
    probe = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(probe, "wb") as stream:
            stream.write(b"now")
            stream.flush()
            os.fsync(stream.fileno())
            now = os.fstat(stream.fileno()).st_mtime
    finally:
        probe.unlink(missing_ok=True)
    # Opened, since a network's file system answers from memory for a file that is not.
    with open(path, "rb") as stream:
        return now - os.fstat(stream.fileno()).st_mtime


def last_beat(path: Path) -> float | None:
    """Return about how many seconds ago the last heartbeat was; None where the lock is free.

    For readers, which may write nothing in the folder: by the clock of this machine.
    """
    with suppress(OSError), open(path, "rb") as stream:
        return max(0.0, time.time() - os.fstat(stream.fileno()).st_mtime)
    return None


def beat(path: Path) -> None:
    """Give the file the present time."""
    os.utime(path)


def _boot() -> str | None:
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
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

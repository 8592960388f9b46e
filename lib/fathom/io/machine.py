"""The machine and the job in which this process runs: processor, memory, scheduler's id, faults."""

import errno
import os
import platform
import re
import subprocess
from importlib.metadata import distributions
from pathlib import Path

from fathom.io.errors import FathomError

INFO = Path("/proc/cpuinfo")
# The variable in which Slurm, PBS, LSF and SGE give a job its id.
VARIABLES = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID")
# What to do about errors of the machine. Files are replaced at once, so none that is half-written
# is trusted after them.
_REMEDIES = {
    "make room there, and start again": (errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
    "give the right to write there or name another folder, and start again": (
        errno.EACCES, errno.EPERM, errno.EROFS,
    ),
    "move what is in the way, or use another folder, and start again": (
        errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP,
        errno.ENOTEMPTY, errno.EXDEV,
    ),
    "it was deleted or moved; start again": (errno.ENOENT, errno.ESTALE),
    "the disk or its connection fails; repair it, and start again": (
        errno.EIO, errno.ENODEV, errno.ENXIO, errno.ENOTCONN, errno.ETIMEDOUT, errno.EREMOTEIO,
        errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP,
    ),
    "end other programs, and start again": (
        errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM, errno.EBUSY,
    ),
}  # fmt: skip
_MEMORY = (
    "lower tokens_per_device in config/config.yaml (8192 in place of auto), or end other programs"
)
# Slurm's words for a job that has ended.
_ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "DEADLINE"}
_ENDED |= {"NODE_FAIL", "BOOT_FAIL", "PREEMPTED"}


def job_id() -> str | None:
    """Return the id of the scheduler's job; None outside of one."""
    return next((os.environ[name] for name in VARIABLES if os.environ.get(name)), None)


def job_is_live(job: str) -> bool | None:
    """Return whether a job of Slurm waits or runs; None without an answer, or without Slurm."""
    words = ("scontrol", "--oneliner", "show", "job", job)
    try:
        done = subprocess.run(words, capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if state := re.search(rb"\bJobState=([A-Z_]+)", done.stdout):
        return state[1].decode() not in _ENDED
    return False if b"invalid job id" in done.stderr.lower() else None


def installed_torch(prefix: Path) -> str:
    """Return the version of torch below a prefix, as of a virtual environment; or nothing.

    Torch itself takes seconds to import.
    """
    places = map(str, prefix.glob("lib*/python3*/site-packages"))
    return next((found.version for found in distributions(name="torch", path=[*places])), "")


def processor() -> str:
    """Return the processor's name as the system gives it, or its architecture."""
    lines = INFO.read_text(encoding="utf-8").split("\n") if INFO.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(filter(None, names), "") or platform.processor() or platform.machine()


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether a device or the machine had no memory left.

    torch's class for a full GPU is recognised by its name: torch is not imported here. A full
    machine is a RuntimeError of torch like many others, or an ImportError where torch itself does
    not fit, as in a job with a limit.
    """
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    words = {RuntimeError: "can't allocate memory", ImportError: "failed to map segment"}
    return any(isinstance(error, kind) and text in str(error) for kind, text in words.items())


def fault_of_machine(error: Exception) -> FathomError | None:
    """Return the sentence of what the machine refused, or None where a bug is likelier."""
    if is_out_of_memory(error):
        return FathomError("no memory is left", "memory", _MEMORY)
    # Of libraries in Rust, and of a folder that is copied, the text alone has the number.
    said = re.search(r"(?:\(os error |\[Errno )(\d+)", str(error))
    number = getattr(error, "errno", None) or (int(said[1]) if said else None)
    remedies = {number: remedy for remedy, group in _REMEDIES.items() for number in group}
    if number is None or number not in remedies:
        return None
    where = str(getattr(error, "filename", None) or "disk")
    return FathomError(os.strerror(number), where, remedies[number])

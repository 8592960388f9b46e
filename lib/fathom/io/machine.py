"""The machine and the job in which this process runs: processor, memory, scheduler's id."""

import os
import platform
from pathlib import Path

INFO = Path("/proc/cpuinfo")
# The variable in which Slurm, PBS, LSF and SGE give a job its id.
VARIABLES = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID")


def job_id() -> str | None:
    """Return the id of the scheduler's job; None outside of one."""
    return next((os.environ[name] for name in VARIABLES if os.environ.get(name)), None)


def processor() -> str:
    """Return the processor's name as the system gives it, or its architecture."""
    lines = INFO.read_text(encoding="utf-8").split("\n") if INFO.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(filter(None, names), "") or platform.processor() or platform.machine()


def most_memory(reset: bool = False) -> int | None:
    """Return the most memory that this process had, in bytes; None where the system has no number.

    With `reset` it counts from now on, where the system can do that.
    """
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        lines = Path("/proc/self/status").read_text(encoding="utf-8").split("\n")
    except OSError:
        return None
    return next((1024 * int(each.split()[1]) for each in lines if each.startswith("VmHWM")), None)


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether a device or the machine had no memory left.

    torch's class for a full GPU is recognised by its name: torch is not imported here. A full
    machine is a RuntimeError of torch like many others.
    """
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and "can't allocate memory" in str(error)

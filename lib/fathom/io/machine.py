"""The machine and the job in which this process runs: processor, memory, scheduler's id."""

import os
import platform
import re
import subprocess
from pathlib import Path

INFO = Path("/proc/cpuinfo")
# The variable in which Slurm, PBS, LSF and SGE give a job its id.
VARIABLES = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID")
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
        done = subprocess.run(words, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if state := re.search(r"\bJobState=([A-Z_]+)", done.stdout):
        return state[1] not in _ENDED
    return False if "invalid job id" in done.stderr.lower() else None


def processor() -> str:
    """Return the processor's name as the system gives it, or its architecture."""
    lines = INFO.read_text(encoding="utf-8").split("\n") if INFO.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(filter(None, names), "") or platform.processor() or platform.machine()


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether a device or the machine had no memory left.

    torch's class for a full GPU is recognised by its name: torch is not imported here. A full
    machine is a RuntimeError of torch like many others.
    """
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and "can't allocate memory" in str(error)

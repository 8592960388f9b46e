"""The most memory that a process had; any environment can use this file, which needs nothing."""

import resource
from pathlib import Path

STATUS = Path("/proc/self/status")


def resident() -> float:
    """Return the most memory that this process had, in MB.

    Linux counts the memory of the process that started this one, unless its own file is asked.
    """
    if STATUS.exists():
        lines = STATUS.read_text(encoding="utf-8").split("\n")
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

"""The processor of this machine."""

import platform
from pathlib import Path

INFO = Path("/proc/cpuinfo")


def processor() -> str:
    """Return the processor's name as the system gives it, or its architecture."""
    lines = INFO.read_text(encoding="utf-8").split("\n") if INFO.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(filter(None, names), "") or platform.processor() or platform.machine()

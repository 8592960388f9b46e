"""What a part of the benchmark returns, and how it is printed: as Markdown."""

import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import torch

from fathom.io.machine import processor

Cell = str | float | None
PACKAGES = ("torch", "fairseq-fixed", "numpy")
# The share of the cores that may be busy with other work before the run is marked.
BUSY = 0.25


@dataclass(frozen=True)
class Table:
    """One table of the benchmark.

    Attributes:
        title: what it compares, and under which settings.
        columns: heads; units are part of them.
        rows: a cell for each column; None is printed as a dash.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


def cell(value: Cell) -> str:
    """Return a cell as it is printed: three significant digits, no exponent."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if isinstance(value, int) or value == 0 or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{max(0, 3 - len(str(int(abs(value)))))}f}"


def markdown(table: Table) -> str:
    """Return a table with its title."""
    aligned = ["---", *["--:"] * (len(table.columns) - 1)]
    lines = [table.columns, aligned, *([cell(value) for value in row] for row in table.rows)]
    rows = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table.title}\n\n{rows}\n"


def machine(device: torch.device) -> dict[str, Any]:
    """Return what the numbers depend on: machine, other load, versions, state of the code."""
    load = os.getloadavg()[0]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "processor": processor(),
        "cores": cores,
        "threads": torch.get_num_threads(),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "load": round(load, 2),
        "busy": load > BUSY * (cores or 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "commit": _commit(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def described(facts: Mapping[str, Any]) -> str:
    """Return machine, load and versions as a sentence or two."""
    packages = ", ".join(f"{name} {number}" for name, number in facts["packages"].items())
    device = "" if facts["device"] == "cpu" else f"{facts['device']}; "
    busy = " **The machine was busy with other work.**" if facts["busy"] else ""
    return (
        f"{device}{facts['processor']}, {facts['cores']} cores, {facts['threads']} thread(s), "
        f"load {facts['load']} at the start; Python {facts['python']}, {packages}; commit "
        f"{facts['commit']}, {facts['date']}.{busy}"
    )


def _commit() -> str:
    """Return the commit of the code, with a mark where files were changed."""
    command = ["git", "describe", "--always", "--dirty"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()

"""Start-up: CPU seconds of a fresh process to the end of its first update."""

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.peer.results import Cell, Table
from benchmarks.peer.timing import spread, turns
from benchmarks.peer.workload import ROOT, STATIC, Workload

OURS, STOCK = "fathom train", "fairseq's layers"
COLUMNS = ("", "user s", "quartiles", "with the system's s")


def seconds(*arguments: str) -> tuple[float, float]:
    """Return user and system seconds of a process that makes one update."""
    command = [sys.executable, "-m", "benchmarks.peer.first_update", *arguments]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    user, system = done.stdout.split()[-2:]
    return float(user), float(system)


def table(workload: Workload, rounds: int) -> Table:
    """Return the seconds of ours and of fairseq's layers; both start from warm file caches."""
    taken: dict[str, list[tuple[float, float]]] = {OURS: [], STOCK: []}
    for number, name in turns(list(taken), rounds + 1):
        with tempfile.TemporaryDirectory() as folder:
            results = Path(folder)
            tensors = results / "tensors" / workload.folder.name
            tensors.parent.mkdir()
            tensors.symlink_to(workload.folder.absolute())
            run = (STATIC,) if name == OURS else ()
            own = seconds("fathom" if name == OURS else "fairseq", folder, *run)
        # The first round fills the caches.
        if number > 1:
            taken[name].append(own)
    rows: list[list[Cell]] = []
    numbers = {}
    for name, own in taken.items():
        user, both = spread([pair[0] for pair in own]), spread([sum(pair) for pair in own])
        quartiles = f"{user.low:.2f} to {user.high:.2f}"
        rows.append([name, f"{user.middle:.2f}", quartiles, f"{both.middle:.2f}"])
        numbers[f"first_update.{name}"] = user.middle
    title = "A fresh process up to the end of its first update, 3/3 layers"
    return Table("start_up", title, COLUMNS, rows, numbers)

"""Cost of Snakemake's plan by jobs, and of a command's start by the runs of a project."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.growth.curves import Curve, Panel
from benchmarks.peer.workload import ROOT

SEEDS = (1, 3, 10, 30)
RUNS = (0, 250, 500, 1000)
STARTS = 5
BIN = Path(sys.executable).parent
# Linux counts the memory of a process as that of one that it starts: a small one starts commands.
SMALL = """
import os, sys
_, status, usage = os.wait4(os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:]), 0)
print(usage.ru_utime, usage.ru_maxrss, flush=True)
sys.exit(os.waitstatus_to_exitcode(status))
"""
# Snakemake prints how many jobs it planned.
TOTAL = re.compile(r"^total\s+(\d+)", re.MULTILINE)


def measured(command: Sequence[str], folder: Path, ends_with: int = 0) -> tuple[float, float, str]:
    """Run a command; return user seconds and peak MB of it and its children, and what it printed.

    Args:
        command: the command.
        folder: the project's, and where it runs.
        ends_with: the exit code that is expected.

    Raises:
        RuntimeError: it ended with another one.
    """
    environment = os.environ | {"FATHOM_PROJECT": str(folder)}
    done = subprocess.run(
        [sys.executable, "-S", "-c", SMALL, *command],
        cwd=folder,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode != ends_with:
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr}")
    *printed, last = done.stdout.rstrip("\n").split("\n")
    user, kilobytes = last.split()
    return float(user), int(kilobytes) / 1024, "\n".join(printed)


def plan(_: object) -> dict[str, list[Panel]]:
    """Return user seconds and memory of `snakemake -n all` by jobs, which grow with seeds."""
    times, memory = [], []
    with tempfile.TemporaryDirectory() as folder:
        for seeds in SEEDS:
            settings = [f"seeds={seeds}", f"results={folder}"]
            command = [
                str(BIN / "snakemake"),
                "-n",
                "all",
                "--quiet",
                "rules",
                "--config",
                *settings,
            ]
            spent, peak, printed = measured(command, ROOT)
            jobs = float(TOTAL.findall(printed)[-1])
            times.append((jobs, spent))
            memory.append((jobs, peak))
    return {
        "jobs": [
            Panel("jobs of a plan", "user s", [Curve("snakemake -n", times)]),
            Panel("jobs of a plan", "peak MB", [Curve("snakemake -n", memory)]),
        ]
    }


def starts(_: object) -> dict[str, list[Panel]]:
    """Return user seconds of `fathom score` by the runs of a project.

    It ends as soon as it sees that nothing is translated, so that its start is all that it does.
    """
    points = []
    for added in RUNS:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            grown(root, added)
            command = [str(BIN / "fathom"), "score", "m2o_diverse_12_12", "--scale", "tiny"]
            # The first start may read more than the others.
            taken = [measured(command, root, ends_with=1)[0] for _ in range(STARTS + 1)][1:]
            points.append((float(added + runs_of(ROOT)), median(taken)))
    curve = Curve("fathom score", points, constant=True)
    return {"runs": [Panel("runs of a project", "user s", [curve])]}


def grown(root: Path, runs: int) -> None:
    """Write the project's config with more runs, which differ from each other in one setting.

    Args:
        root: the folder to write.
        runs: how many are added.
    """
    shutil.copytree(ROOT / "config", root / "config")
    if not runs:
        return
    numbers = ", ".join(str(100 + number) for number in range(runs))
    settings = "like: m2o_diverse, outcome: {exploded_for: <n>}"
    entry = f"  grown_<n>: {{for: {{n: [{numbers}]}}, {settings}}}"
    with open(root / "config/papers/latent_depth/runs.yaml", "a", encoding="utf-8") as stream:
        stream.write(f"{entry}  # a copy, to measure\n")


def runs_of(root: Path) -> int:
    """Return the runs of a project."""
    from fathom.config.load import load

    return len(load(root, check=False).entries)

"""The most memory of one contender's updates, measured in a process of its own.

    python -m benchmarks.peer.memory <results> <device> <shape> <contender>

It prints MB: on a CPU what the process took beyond its imports and the text, on CUDA what torch
allocated there.
"""

import subprocess
import sys
from pathlib import Path

import torch

from benchmarks.peer import contenders
from benchmarks.peer.resident import resident
from benchmarks.peer.workload import ROOT, Shape, Workload, shape_named

UPDATES = 4


def peak(workload: Workload, shape: Shape, contender: str) -> float:
    """Return the MB of a contender's first updates."""
    command = [sys.executable, "-m", "benchmarks.peer.memory", str(workload.results)]
    command += [str(workload.device), shape.name, contender]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout.split()[-1])


def main() -> None:
    """Make the updates, and print the MB."""
    results, device, shape, contender = sys.argv[1:]
    torch.set_num_threads(1)
    workload = Workload(Path(results).absolute(), torch.device(device))
    job = contenders.job(workload, shape_named(shape), UPDATES)
    before = resident()
    update = contenders.named(job, contender)
    for number in range(1, UPDATES + 1):
        update(number)
    cuda = workload.device.type == "cuda"
    taken = torch.cuda.max_memory_allocated() / 2**20 if cuda else resident() - before
    sys.stdout.write(f"{taken:.1f}\n")


if __name__ == "__main__":
    main()

"""One process up to the end of its first update; it prints its CPU seconds, user and system.

    python -m benchmarks.peer.first_update fathom <results> <run>
    python -m benchmarks.peer.first_update fairseq <results>

The first is `fathom train` itself, stopped after its first update. The second makes the same update
with fairseq's layers on the same text, without a command line, checks of config or files of a run.
"""

import os
import sys
from pathlib import Path


def end() -> None:
    """Print the seconds of this process, and end it."""
    times = os.times()
    sys.stdout.write(f"{times.user:.4f} {times.system:.4f}\n")
    sys.stdout.flush()
    os._exit(0)


def fathom(results: str, run: str) -> None:
    """Run the command, which ends after the first update."""
    from fathom.train import two_level

    update = two_level.TwoLevel.update

    def first(self, *args):
        result = update(self, *args)
        end()
        return result

    two_level.TwoLevel.update = first
    sys.argv = ["fathom", "train", run, "--scale", "tiny", "--results", results, "--device", "cpu"]
    from fathom.cli.main import main

    main()


def fairseq(results: str) -> None:
    """Make fairseq's update."""
    import torch

    from benchmarks.peer import contenders
    from benchmarks.peer.workload import Workload

    torch.set_num_threads(1)
    workload = Workload(Path(results), torch.device("cpu"))
    job = contenders.job(workload, workload.static_shapes[0], 1)
    contenders.stock(job, "one pass")(1)
    end()


if __name__ == "__main__":
    {"fathom": fathom, "fairseq": fairseq}[sys.argv[1]](*sys.argv[2:])

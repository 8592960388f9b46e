"""Trains a run of the tests in a process of its own, which a test may kill."""

import os
import signal
import sys
from pathlib import Path

from tests.training.small_runs import LAUNCH, latent, specification

from fathom.training import train as module
from fathom.training.train import train

RUNS = {"latent": latent, "static": specification}


def main(name: str, updates: int, tensors: str, folder: str, kill_at: int) -> None:
    """Train, and be killed without warning after an update; 0 for never."""
    if kill_at:
        original = module.Training._one_update

        def one_update(self):
            ending = original(self)
            if self.update == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            return ending

        module.Training._one_update = one_update
    train(RUNS[name](updates=updates), 1, Path(tensors), Path(folder), LAUNCH, print)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5]))

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import torch

from fathom.training.ranks import Ranks

ROOT = Path(__file__).parents[2]


def start(tensors, rank, world, port):
    announced = {"RANK": rank, "WORLD_SIZE": world, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    paths = os.pathsep.join([str(ROOT / "lib"), str(ROOT)])
    return subprocess.Popen(
        [sys.executable, str(ROOT / "tests/training/two_processes.py"), str(tensors)],
        env=os.environ | {key: str(value) for key, value in announced.items()}
        | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_alone_sums_change_nothing():
    tensor = torch.ones(3)
    assert torch.equal(Ranks(0, 1).sum(tensor), torch.ones(3))


def test_two_processes_make_the_updates_that_one_makes(tensors):
    alone = start(tensors, 0, 1, 0)
    port = free_port()
    pair = [start(tensors, rank, 2, port) for rank in (0, 1)]
    one = json.loads(alone.communicate(timeout=100)[0])
    two = json.loads(pair[0].communicate(timeout=100)[0])
    assert pair[1].wait(timeout=100) == 0
    assert (one["world"], two["world"]) == (1, 2)
    # Sums in another order, amplified by Adam's first steps.
    torch.testing.assert_close(
        torch.tensor(one["updates"]), torch.tensor(two["updates"]), atol=1e-3, rtol=0
    )
    torch.testing.assert_close(
        torch.tensor(one["alpha"]), torch.tensor(two["alpha"]), atol=1e-5, rtol=0
    )

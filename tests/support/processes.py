"""Trainings in other processes: several together, or one that is killed."""

import multiprocessing
import os
import signal
import socket

import torch

from fathom.train.loop import Training
from fathom.train.ranks import Ranks
from tests.support.small_runs import SWITCHES, train_run

FORK = multiprocessing.get_context("fork")


def start_together(tensors, world, what, answers=None):
    """Return what each of `world` processes sent, by rank; `answers` of them send anything."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    answered = FORK.Queue()
    processes = []
    for rank in range(world):
        announced = {"RANK": str(rank), "WORLD_SIZE": str(world), "MASTER_PORT": port}
        announced["MASTER_ADDR"] = "127.0.0.1"
        processes.append(FORK.Process(target=what, args=(tensors, announced, answered)))
        processes[-1].start()
    found = sorted(answered.get(timeout=60) for _ in range(world if answers is None else answers))
    for process in processes:
        process.join()
    return found


def join(announced):
    """Return the rank of this process among those that `announced` names."""
    os.environ.update(announced)
    return Ranks.join(torch.device("cpu"))


def kill(*_):
    """Kill this process without warning."""
    os.kill(os.getpid(), signal.SIGKILL)


def killed(act):
    """Call a function in a process of its own, which must be killed meanwhile."""
    process = FORK.Process(target=act)
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL


def train_and_be_killed(spec, tensors, folder, kill_at, options=SWITCHES):
    """Train in a process of its own that is killed without warning after an update."""

    def child():
        after_each_update(lambda training: training.update == kill_at and kill())
        train_run(spec, tensors, folder, options)

    killed(child)


def after_each_update(act):
    """Let every training of this process call a function with itself after each update."""
    one_update = Training._one_update

    def then_act(self):
        ending = one_update(self)
        act(self)
        return ending

    Training._one_update = then_act

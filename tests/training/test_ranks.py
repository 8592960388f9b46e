import multiprocessing
import os
import signal
import socket

import pytest
import torch

from fathom.io.signals import Stopped
from fathom.training.loop import Training, TrainPaths
from fathom.training.ranks import Ranks
from fathom.training.train import train
from fathom.training.update_batches import MicroBatches
from tests.support.small_runs import OPTIONS, latent
from tests.training.test_two_level import Run, without_dropout

FORK = multiprocessing.get_context("fork")


def three_updates(tensors, announced, said):
    """Join the processes that `announced` names, and make three updates with them."""
    os.environ.update(announced)
    ranks = Ranks.join(torch.device("cpu"))
    run = Run(without_dropout(latent()), tensors)
    run.two_level.ranks = ranks
    results = []
    for number in range(1, 4):
        update = run.micro_batches(number, micro=2)
        own = MicroBatches(update.batches[ranks.rank :: ranks.world], update.tokens, update.tasks)
        numbers = run.two_level.update(number, own).numbers()
        results.append([numbers["nll"], numbers["loss"], numbers["gradient_norm"]])
    said.put((ranks.rank, ranks.world, results, run.network.decoder.method.alpha.tolist()))


def stopped_by_a_signal_to_the_last(folder):
    """Return what trains until the last process alone is asked to stop, after update 1."""

    def run(tensors, announced, said):
        os.environ.update(announced)
        one_update = Training._one_update

        def then_signal(self):
            ending = one_update(self)
            if self.update == 1 and self.ranks.rank == self.ranks.world - 1:
                os.kill(os.getpid(), signal.SIGTERM)
            return ending

        Training._one_update = then_signal
        try:
            train(latent(), 1, TrainPaths(tensors, folder), OPTIONS, lambda line: None)
        except Stopped as stopped:
            said.put((int(announced["RANK"]), stopped.number, str(stopped)))

    return run


def start_together(tensors, world, what=three_updates):
    """Return what each of `world` processes sent, by rank."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    said = FORK.Queue()
    processes = []
    for rank in range(world):
        announced = {"RANK": str(rank), "WORLD_SIZE": str(world), "MASTER_PORT": port}
        announced["MASTER_ADDR"] = "127.0.0.1"
        processes.append(FORK.Process(target=what, args=(tensors, announced, said)))
        processes[-1].start()
    found = sorted(said.get(timeout=60) for _ in processes)
    for process in processes:
        process.join()
    return found


def test_alone_sums_change_nothing():
    tensor = torch.ones(3)
    assert torch.equal(Ranks(0, 1).sum(tensor), torch.ones(3))


def test_two_processes_make_the_updates_that_one_makes(tensors):
    ((_, _, alone, alpha),) = start_together(tensors, 1)
    both = start_together(tensors, 2)
    assert [(rank, world) for rank, world, _, _ in both] == [(0, 2), (1, 2)]
    for _, _, updates, theirs in both:
        for one, two in zip(alone, updates, strict=True):
            # Sums in another order, amplified by Adam's first steps.
            assert one == pytest.approx(two, abs=1e-3)
        torch.testing.assert_close(torch.tensor(alpha), torch.tensor(theirs), atol=1e-5, rtol=0)


def test_a_signal_to_one_process_stops_all_after_the_same_update(tensors, tmp_path):
    both = start_together(tensors, 2, stopped_by_a_signal_to_the_last(tmp_path))
    stop = str(Stopped(signal.SIGTERM, " after update 2"))
    assert both == [(rank, signal.SIGTERM, stop) for rank in (0, 1)]
    assert torch.load(tmp_path / "checkpoints" / "last.pt", weights_only=True)["update"] == 2

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
from tests.support.small_runs import OPTIONS, latent, specification
from tests.training.test_two_level import Run, without_dropout

FORK = multiprocessing.get_context("fork")


ONE_TASK = {"training": {"one_task_per_batch": True}}
RUNS = [
    latent(),
    latent(ONE_TASK),
    specification("adapters", ("encoder", "decoder"), ONE_TASK, bottleneck=8),
]


def updates_of(spec, count):
    """Return what joins the processes that `announced` names, and makes updates with them."""

    def run_them(tensors, announced, said):
        os.environ.update(announced)
        ranks = Ranks.join(torch.device("cpu"))
        run = Run(without_dropout(spec), tensors)
        run.two_level.ranks = ranks
        results = []
        for number in range(1, count + 1):
            update = run.micro_batches(number, micro=2)
            own = update.batches[ranks.rank :: ranks.world]
            numbers = run.two_level.update(
                number, MicroBatches(own, update.tokens, update.tasks)
            ).numbers()
            results.append([numbers["nll"], numbers["loss"], numbers["gradient_norm"]])
        method = run.network.decoder.method
        values = [value.tolist() for value in method.parameters()]
        said.put((ranks.rank, ranks.world, results, values))

    return run_them


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


def start_together(tensors, world, what):
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


@pytest.mark.parametrize("spec", RUNS, ids=["latent", "latent of one task", "adapters of one task"])
def test_two_processes_make_the_updates_that_one_makes(tensors, spec):
    ((_, _, alone, values),) = start_together(tensors, 1, updates_of(spec, 3))
    both = start_together(tensors, 2, updates_of(spec, 3))
    assert [(rank, world) for rank, world, _, _ in both] == [(0, 2), (1, 2)]
    for _, _, updates, theirs in both:
        for one, two in zip(alone, updates, strict=True):
            # Sums in another order, amplified by Adam's first steps.
            assert one == pytest.approx(two, abs=1e-3)
        for own, other in zip(values, theirs, strict=True):
            torch.testing.assert_close(torch.tensor(own), torch.tensor(other), atol=1e-5, rtol=0)


def test_a_signal_to_one_process_stops_all_after_the_same_update(tensors, tmp_path):
    both = start_together(tensors, 2, stopped_by_a_signal_to_the_last(tmp_path))
    stop = str(Stopped(signal.SIGTERM, " after update 2"))
    assert both == [(rank, signal.SIGTERM, stop) for rank in (0, 1)]
    assert torch.load(tmp_path / "checkpoints" / "last.pt", weights_only=True)["update"] == 2

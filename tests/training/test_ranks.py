import multiprocessing
import os
import socket

import pytest
import torch

from fathom.training.ranks import Ranks
from fathom.training.two_level import Parts
from tests.training.small_runs import latent
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
        whole = run.parts(number, micro=2)
        mine = Parts(whole.mine[ranks.rank :: ranks.world], whole.tokens, whole.tasks)
        result = run.two_level.update(number, mine)
        results.append([result.nll, result.loss, result.gradient_norm])
    said.put((ranks.rank, ranks.world, results, run.network.decoder.method.alpha.tolist()))


def start_together(tensors, world):
    """Return what each of `world` processes said, by rank."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    said = FORK.Queue()
    processes = []
    for rank in range(world):
        announced = {"RANK": str(rank), "WORLD_SIZE": str(world), "MASTER_PORT": port}
        announced["MASTER_ADDR"] = "127.0.0.1"
        processes.append(FORK.Process(target=three_updates, args=(tensors, announced, said)))
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

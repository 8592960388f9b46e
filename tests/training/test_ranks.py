import errno
import fcntl
import multiprocessing
import os
import signal
import socket
import time
from dataclasses import replace

import pytest
import torch

from fathom.io import locks
from fathom.io.files import read_json
from fathom.io.signals import Stopped
from fathom.results.run_state import read_state
from fathom.train import train as one_message
from fathom.train.loop import Training, TrainPaths
from fathom.train.ranks import Ranks
from fathom.train.train import train
from fathom.train.update_batches import MicroBatches
from tests.support.refused import says
from tests.support.small_runs import OPTIONS, latent, masked, specification
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


def trains(folder, options=OPTIONS, spec=None, at=lambda training: None):
    """Return what trains a run, and sends how it ended.

    Args:
        folder: of the run.
        options: of the training.
        spec: the run.
        at: called after each update.
    """

    def run(tensors, announced, said):
        os.environ.update(announced)
        one_update = Training._one_update

        def then(self):
            ending = one_update(self)
            at(self)
            return ending

        Training._one_update = then
        rank, lines = int(announced["RANK"]), []
        try:
            train(spec or latent(), 1, TrainPaths(tensors, folder), options, lines.append)
            said.put((rank, "trained", ""))
        except SystemExit as silent_end:
            said.put((rank, "silent", silent_end.code))
        except Exception as error:
            said.put((rank, type(error).__name__, str(error)))

    return run


def start_together(tensors, world, what, answers=None):
    """Return what each of `world` processes sent, by rank; `answers` of them send anything."""
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
    found = sorted(said.get(timeout=60) for _ in range(world if answers is None else answers))
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


def weights(folder):
    state = torch.load(folder / "checkpoints" / "last.pt", weights_only=True)
    return state["model"], state["rng"]


@pytest.mark.slow
@pytest.mark.parametrize("spec", [latent(), masked()], ids=["latent", "masked"])
def test_1_2_and_4_processes_draw_the_same_dropout(tensors, tmp_path, spec):
    shared = replace(OPTIONS, micro_batches=4)
    for world in (1, 2, 4):
        start_together(tensors, world, trains(tmp_path / str(world), shared, spec))
    alone, _ = weights(tmp_path / "1")
    before = train_alone(spec, tensors, tmp_path / "0")
    for world in (2, 4):
        several, _ = weights(tmp_path / str(world))
        for name, value in alone.items():
            torch.testing.assert_close(several[name], value, atol=2e-4, rtol=0)
    # Other masks move the weights farther than that.
    assert any((before[name] - value).abs().max() > 1e-3 for name, value in alone.items())


def train_alone(spec, tensors, folder):
    """Return the weights of a process that shares nothing."""
    train(spec, 1, TrainPaths(tensors, folder), OPTIONS, lambda line: None)
    return weights(folder)[0]


def test_processes_that_cannot_share_an_update_evenly_end_with_one_message(tensors, tmp_path):
    """Field fault 19: a number of GPUs that does not divide."""
    shared = replace(OPTIONS, micro_batches=3)
    (first, kind, line), second = start_together(tensors, 2, trains(tmp_path, shared))
    assert (first, kind, second) == (0, "FathomError", (1, "silent", 1))
    says("no even shares", 3, 2, where="micro_batches").check(line)
    assert not list(tmp_path.iterdir())


def killed(rank):
    """Return what kills a process after its second update."""

    def kill(training):
        if training.ranks.rank == rank and training.update == 2:
            os.kill(os.getpid(), signal.SIGKILL)

    return kill


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 2])
def test_one_process_that_is_killed_ends_all_with_one_message(tensors, tmp_path, monkeypatch, rank):
    """Field fault 16: it was a bug of fathom, in gloo's words."""
    monkeypatch.setattr(one_message, "PATIENCE", 1.0)
    others = start_together(tensors, 3, trains(tmp_path, at=killed(rank)), answers=2)
    # gloo may tell the first process of the lost one only when the second one has ended.
    assert sorted(kind for _, kind, _ in others) == ["PeerLost", "silent"]
    [(number, line)] = [(number, line) for number, kind, line in others if kind == "PeerLost"]
    assert number in ({0, 1} - {rank})
    says("lost process", where=f"process {number}").check(line)
    assert read_state(tmp_path).state == "failed"
    train_alone(latent(), tensors, tmp_path)
    attempts = read_json(tmp_path / "training.json")["attempts"]
    assert [one["ended_as"] for one in attempts][:-1] == ["failed" if rank else "killed"]


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1])
def test_one_process_without_memory_ends_all_with_its_message(tensors, tmp_path, monkeypatch, rank):
    """Field fault 16, by torch's own error."""
    monkeypatch.setattr(one_message, "PATIENCE", 1.0)

    def full(training):
        if training.ranks.rank == rank and training.update == 2:
            raise torch.OutOfMemoryError("CUDA out of memory")

    both = start_together(tensors, 2, trains(tmp_path, at=full))
    assert [kind for _, kind, _ in both] == [
        "OutOfMemoryError" if number == rank else "silent" for number in (0, 1)
    ]
    assert read_state(tmp_path).state == "out_of_memory"
    (attempt,) = read_json(tmp_path / "attempts.json")["attempts"]
    assert attempt["ended_as"] == "out_of_memory"


@pytest.mark.slow
def test_no_process_trains_while_the_first_one_waits_for_the_lock(tensors, tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "POLL", 0.05)
    ended = FORK.Event()

    def hold():
        with locks.only_writer(tmp_path, lambda line: None):
            held.set()
            time.sleep(1)
            ended.set()

    held = FORK.Event()
    holder = FORK.Process(target=hold)
    holder.start()
    assert held.wait(60)

    def after_the_holder(training):
        assert ended.is_set()

    both = start_together(tensors, 2, trains(tmp_path, at=after_the_holder))
    holder.join()
    assert [kind for _, kind, _ in both] == ["trained"] * 2


def test_a_lock_that_cannot_be_taken_ends_all_with_one_message(tensors, tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(fcntl, "flock", refuse)
    both = start_together(tensors, 2, trains(tmp_path))
    assert [(rank, kind) for rank, kind, _ in both] == [(0, "OSError"), (1, "silent")]

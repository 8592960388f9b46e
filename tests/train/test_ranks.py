"""Several processes make the updates of one, and end with one message."""

import errno
import fcntl
import os
import signal
import time
from types import SimpleNamespace

import pytest
import torch
import torch.distributed as dist
from torch import nn

from fathom.io import locks
from fathom.io.files import read_json
from fathom.io.signals import Stopped, raised
from fathom.results.run_state import read_state
from fathom.train import ranks, session
from fathom.train.batches.held_out import ordered
from fathom.train.loop import Training, TrainPaths
from fathom.train.outcomes import validate
from fathom.train.ranks import GradientSums, Ranks
from fathom.train.train import train
from tests.support.processes import (
    FORK,
    after_each_update,
    join,
    kill,
    start_together,
    train_and_be_killed,
)
from tests.support.refused import refused, says
from tests.support.small_corpus import silent
from tests.support.small_runs import (
    SWITCHES,
    Run,
    latent,
    masked,
    specification,
    switched,
    train_run,
    without_dropout,
)
from tests.support.states import state

ONE_TASK = {"training": {"tasks_per_update": 1}}
RUNS = [
    latent(),
    latent({"training": {"tasks_per_update": 3}}),
    specification("adapters", ("encoder", "decoder"), ONE_TASK, bottleneck=8),
]


def updates_of(spec, count):
    """Return what joins the processes that `announced` names, and makes updates with them."""

    def run_them(tensors, announced, said):
        ranks = join(announced)
        run = Run(without_dropout(spec), tensors)
        run.two_level.ranks = ranks
        results = []
        for number in range(1, count + 1):
            numbers = run.share(number, ranks, micro=2)[1].numbers()
            results.append([numbers["nll"], numbers["loss"], numbers["gradient_norm"]])
        method = run.network.decoder.method
        values = [value.tolist() for value in method.parameters()]
        said.put((ranks.rank, ranks.world, results, values))

    return run_them


def trains(folder, options=SWITCHES, spec=None, at=lambda training: None):
    """Return what trains a run, calls `at` after each update, and sends how it ended."""

    def run(tensors, announced, said):
        os.environ.update(announced)
        after_each_update(at)
        rank = int(announced["RANK"])
        try:
            # The first process alone writes training.json.
            train(spec or latent(), 1, TrainPaths(tensors, folder), options, silent)
            said.put((rank, "trained", ""))
        except SystemExit as silent_end:
            said.put((rank, "silent", silent_end.code))
        except (Exception, Stopped) as error:
            said.put((rank, type(error).__name__, str(error)))

    return run


@pytest.mark.parametrize(
    "spec", RUNS, ids=["latent", "latent of three drawn tasks", "adapters of one task"]
)
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


def validations(tensors, announced, said):
    """Send a process's NLL of validation, and how many batches it predicts for it."""
    ranks = join(announced)
    run, counted = Run(latent(), tensors), []
    batches = ordered(run.tensors.splits("valid"), 50)
    run.network.encoder.register_forward_pre_hook(lambda *_: counted.append("batch"))
    found = validate(run.network.use_gates("soft"), batches, 3, ranks)
    said.put((ranks.rank, len(counted), len(batches), found.nll, found.by_task))


def test_processes_share_the_batches_of_validation_and_have_the_same_numbers(tensors):
    ((_, _, count, nll, by_task),) = start_together(tensors, 1, validations)
    both = start_together(tensors, 2, validations)
    assert [batches for _, batches, *_ in both] == [-(-count // 2), count // 2]
    assert count > 2
    assert both[0][3:] == both[1][3:]
    assert (both[0][3], *both[0][4]) == pytest.approx((nll, *by_task), abs=1e-9)


def tokens_by_memory(tensors, announced, said):
    """Send the bound of a micro-batch of a process whose device has memory of its own."""
    ranks, lines = join(announced), []
    run, spec = Run(latent(), tensors), latent()
    training = SimpleNamespace(switches=switched(tokens_per_device="auto"), spec=spec, ranks=ranks)
    training.network, training.tensors = run.network, run.tensors
    training.device = torch.device("cpu")
    on_cpu = Training._tokens_per_device(training)
    training.device, training.reporter = torch.device("cuda"), SimpleNamespace(line=lines.append)
    torch.cuda.mem_get_info = lambda device: (10**8, (1 + ranks.rank) * 10**9)
    said.put((ranks.rank, on_cpu, Training._tokens_per_device(training), lines))


def test_processes_have_the_tokens_that_fit_on_the_smallest_device(tensors):
    ((_, on_cpu, alone, lines),) = start_together(tensors, 1, tokens_by_memory)
    assert on_cpu == 16384
    says("tokens_per_device: auto is", remedy="").check(lines)
    assert start_together(tensors, 2, tokens_by_memory) == [
        (0, on_cpu, alone, lines),
        (1, on_cpu, alone, []),
    ]


def test_a_signal_to_one_process_stops_all_after_the_same_update(tensors, tmp_path):
    def signal_to_the_last(training):
        if training.update == 1 and training.ranks.rank == training.ranks.world - 1:
            os.kill(os.getpid(), signal.SIGTERM)

    both = start_together(tensors, 2, trains(tmp_path, at=signal_to_the_last))
    stop = str(Stopped(signal.SIGTERM, " after update 2"))
    assert both == [(rank, "Stopped", stop) for rank in (0, 1)]
    assert state(tmp_path)["update"] == 2


@pytest.mark.slow
@pytest.mark.parametrize("spec", [latent(), masked()], ids=["latent", "masked"])
def test_1_2_and_4_processes_draw_the_same_dropout(tensors, tmp_path, spec):
    shared = switched(micro_batches=4)
    for world in (1, 2, 4):
        start_together(tensors, world, trains(tmp_path / str(world), shared, spec))
    train_run(spec, tensors, tmp_path / "0")
    before, alone, *several = (state(tmp_path / str(world))["model"] for world in (0, 1, 2, 4))
    for weights in several:
        torch.testing.assert_close(weights, alone, atol=2e-4, rtol=0)
    # Other masks move the weights farther than that.
    assert any((before[name] - value).abs().max() > 1e-3 for name, value in alone.items())


@pytest.mark.slow
def test_fewer_processes_continue_a_training_as_it_was_begun(tensors, tmp_path):
    """A start may get fewer GPUs than the one before."""

    def stop_at_two(training):
        if training.update == 2:
            os.kill(os.getpid(), signal.SIGTERM)

    fewer, whole = tmp_path / "fewer", tmp_path / "whole"
    start_together(tensors, 2, trains(fewer, at=stop_at_two))
    assert read_state(fewer).micro_batches == 2
    refused = start_together(tensors, 3, trains(fewer))
    assert [kind for _, kind, _ in refused] == ["FathomError", "silent", "silent"]
    says("multiples of 2 micro-batches, which 3 devices cannot share").check(refused[0][2])
    assert start_together(tensors, 1, trains(fewer)) == [(0, "trained", "")]
    start_together(tensors, 2, trains(whole))
    alone = tmp_path / "alone"
    train_run(latent(), tensors, alone)
    continued, expected, other = (state(each)["model"] for each in (fewer, whole, alone))
    torch.testing.assert_close(continued, expected, atol=2e-4, rtol=0)
    # Other masks move the weights farther than that.
    assert any((other[name] - value).abs().max() > 1e-3 for name, value in expected.items())


def test_processes_that_cannot_share_an_update_evenly_end_with_one_message(tensors, tmp_path):
    """A number of GPUs that does not divide."""
    shared = switched(micro_batches=3)
    (first, kind, line), second = start_together(tensors, 2, trains(tmp_path, shared))
    assert (first, kind, second) == (0, "FathomError", (1, "silent", 1))
    says("multiples of 3 micro-batches, which 2 devices cannot share", where="micro_batches").check(
        line
    )
    assert not list(tmp_path.iterdir())


LEFT_OVER = [
    {"WORLD_SIZE": "2"},
    {"WORLD_SIZE": "abc", "RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"},
    {"WORLD_SIZE": "2", "RANK": "x", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"},
    {"WORLD_SIZE": "2", "RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": ""},
    {"WORLD_SIZE": "2", "RANK": "0", "MASTER_PORT": "1"},
    {"WORLD_SIZE": "-2", "RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"},
]


@pytest.mark.parametrize("left", LEFT_OVER)
def test_what_another_program_left_in_the_shell_is_refused_in_one_line(monkeypatch, left):
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in left.items():
        monkeypatch.setenv(name, value)
    with refused(f"WORLD_SIZE is '{left['WORLD_SIZE']}'", remedy="run `unset WORLD_SIZE`"):
        Ranks.join(torch.device("cpu"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("rank", [0, 1])
def test_a_process_that_waits_for_others_says_so_and_hears_signals(rank, number):
    """torch waits half an hour in compiled code, and only KILL ended it."""
    said = FORK.Queue()

    def wait_for_ever():
        ranks._SILENT, ranks.say = 1, said.put
        place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29617"}
        try:
            with raised():
                join({"RANK": str(rank), "WORLD_SIZE": "2", **place})
        except Stopped as stopped:
            said.put(stopped.number)

    process = FORK.Process(target=wait_for_ever, daemon=True)
    process.start()
    line = f"fathom: process {rank} waits for process {1 - rank}, at 127.0.0.1:29617"
    assert said.get(timeout=60) == line
    os.kill(process.pid, number)
    assert said.get(timeout=60) == number
    process.join(60)
    assert process.exitcode == 0


@pytest.mark.parametrize("alone", [{}, {"WORLD_SIZE": ""}, {"WORLD_SIZE": "1"}])
def test_a_process_without_others_is_the_only_one(monkeypatch, alone):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    for name, value in alone.items():
        monkeypatch.setenv(name, value)
    assert Ranks.join(torch.device("cpu")) == Ranks(0, 1)


def test_a_process_without_a_checkpoint_says_0():
    assert str(Ranks(0, 1).bounds(0)) == "(0.0, 0.0)"


@pytest.mark.parametrize(("of_second", "updates"), [(4, "3 and 4"), (3, "3, each its own")])
def test_processes_with_different_checkpoints_end_with_one_message(
    tensors, tmp_path, of_second, updates
):
    """Hosts whose folders of results are not one: their weights would be mixed."""
    spec = latent({"training": {"save_every": 1, "keep_weights": 2}})
    newest = {tmp_path / str(rank): at for rank, at in enumerate((3, of_second))}
    for folder, at in newest.items():
        train_and_be_killed(spec, tensors, folder, at, switched(save_minutes=1e-9))
    before = [sorted(folder.glob("checkpoints/*")) for folder in newest]

    def train_in_own_folder(tensors, announced, said):
        trains(tmp_path / announced["RANK"], spec=spec)(tensors, announced, said)

    (first, kind, line), second = start_together(tensors, 2, train_in_own_folder)
    assert (first, kind, second) == (0, "FathomError", (1, "silent", 1))
    what = f"processes have different checkpoints, of updates {updates}"
    says(what, where="0/checkpoints", remedy="give all hosts one folder").check(line)
    assert [state(folder)["update"] for folder in newest] == list(newest.values())
    assert [sorted(folder.glob("checkpoints/*")) for folder in newest] == before


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 2])
def test_one_process_that_is_killed_ends_all_with_one_message(tensors, tmp_path, monkeypatch, rank):
    """It was a bug of fathom, in gloo's words."""
    monkeypatch.setattr(session, "PATIENCE", 1.0)

    def be_killed(training):
        if training.ranks.rank == rank and training.update == 2:
            kill()

    others = start_together(tensors, 3, trains(tmp_path, at=be_killed), answers=2)
    # gloo may tell the first process of the lost one only when the second one has ended.
    assert sorted(kind for _, kind, _ in others) == ["PeerLost", "silent"]
    [(number, line)] = [(number, line) for number, kind, line in others if kind == "PeerLost"]
    assert number in ({0, 1} - {rank})
    says("another process of this training has ended", where=f"process {number}").check(line)
    assert read_state(tmp_path).state == "failed"
    attempts = train_run(latent(), tensors, tmp_path)["attempts"]
    assert [one["ended_as"] for one in attempts][:-1] == ["failed" if rank else "killed"]


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1])
def test_one_process_without_memory_ends_all_with_its_message(tensors, tmp_path, monkeypatch, rank):
    """The error is torch's own."""
    monkeypatch.setattr(session, "PATIENCE", 1.0)

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


WIDTH = 4
# Micro-batches of each process, as the layers that each one uses: layers of both, of one, of none;
# a layer of an earlier micro-batch alone; a process without any micro-batch.
CASES = {
    "the same layers": ([[0, 1, 2]], [[0, 1, 2]]),
    "a layer of one process, and one of none": ([[0, 2]], [[0, 1]]),
    "several micro-batches": ([[0, 1], [2]], [[0, 1, 2], [1]]),
    "a process without a batch": ([[0, 1, 2], [0]], []),
}
LIMITS = {"one message": 10**9, "a message for each parameter": 1}


def layers():
    torch.manual_seed(5)
    return nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(4))


def backward(model, rank, micro_batches, before_last=lambda: None):
    """Run micro-batches forward and backward; gradients add up."""
    stream = torch.Generator().manual_seed(rank)
    for number, used in enumerate(micro_batches, start=1):
        x = torch.randn(3, WIDTH, generator=stream)
        for layer in used:
            x = model[layer](x)
        if number == len(micro_batches):
            before_last()
        x.square().sum().backward()


def gradients(model):
    return [one.grad if one.grad is None else one.grad.tolist() for one in model.parameters()]


def summed_afterwards(model):
    """Return the sums of all gradients in one message after the backward pass."""
    used = torch.tensor([float(one.grad is not None) for one in model.parameters()])
    dist.all_reduce(used)
    parts = [torch.zeros_like(one) if one.grad is None else one.grad for one in model.parameters()]
    flat = torch.cat([part.reshape(-1) for part in parts])
    dist.all_reduce(flat)
    sums = flat.split([part.numel() for part in parts])
    return [
        total.view_as(part).tolist() if some else None
        for total, part, some in zip(sums, parts, used.tolist(), strict=True)
    ]


def two_updates(case, limit):
    """Return what a process sends: sums of two updates, during and after the backward pass."""

    def run(_, announced, said):
        rank = join(announced).rank
        ours, plain = layers(), layers()
        sums, found = GradientSums(ours.parameters(), limit), []
        for _ in range(2):
            ours.zero_grad()
            plain.zero_grad()
            backward(ours, rank, case[rank], sums.expect_last)
            sums.finish()
            backward(plain, rank, case[rank])
            found.append((gradients(ours), summed_afterwards(plain)))
        said.put((rank, found))

    return run


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("limit", LIMITS.values(), ids=LIMITS)
def test_sums_are_those_after_the_backward_pass_and_what_nobody_used_has_none(case, limit):
    for _, updates in start_together(None, 2, two_updates(case, limit)):
        for ours, theirs in updates:
            assert ours == theirs
            used = {layer for of_process in case for batch in of_process for layer in batch}
            assert [one is None for one in ours[::2]] == [n not in used for n in range(4)]


def starts_of_messages(_, announced, said):
    """Send how many messages start during the backward pass, and how many at its end."""
    rank = join(announced).rank
    model, started = layers(), []
    sums = GradientSums(model.parameters(), limit=1)
    all_reduce = dist.all_reduce

    def counted(*given, **named):
        started.append("message")
        return all_reduce(*given, **named)

    dist.all_reduce = counted
    backward(model, rank, [[0, 1, 2, 3], [0, 1, 2, 3]], sums.expect_last)
    during = len(started)
    sums.finish()
    said.put((rank, during, len(started)))


def test_messages_start_during_the_last_backward_pass():
    # One more says between the hosts which parameters were used.
    assert start_together(None, 2, starts_of_messages) == [(0, 8, 9), (1, 8, 9)]

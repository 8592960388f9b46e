"""Gradients of two real processes, summed during the backward pass as after it."""

import os

import pytest
import torch
import torch.distributed as dist
from torch import nn

from fathom.train.ranks import GradientSums, Ranks
from tests.training.test_ranks import start_together

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
        os.environ.update(announced)
        rank = Ranks.join(torch.device("cpu")).rank
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
    os.environ.update(announced)
    rank = Ranks.join(torch.device("cpu")).rank
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
    assert start_together(None, 2, starts_of_messages) == [(0, 8, 8), (1, 8, 8)]

import pytest
import torch
from torch import nn

from fathom.config.schema.run import Adam
from fathom.nn.weights import read_checkpoint, write_checkpoint
from fathom.train.optimisers import AdamW, theta_adam
from tests.support.small_runs import specification

BETAS, EPS, DECAY = (0.9, 0.98), 1e-6, 0.1
SHAPES = ((4, 3), (5,), (2, 2, 2), ())
YES, NO = torch.tensor(True), torch.tensor(False)


def parameters():
    stream = torch.Generator().manual_seed(3)
    return [nn.Parameter(torch.randn(shape, generator=stream)) for shape in SHAPES]


def ours(tensors):
    return AdamW([(tensors[:2], DECAY), (tensors[2:], 0.0)], Adam(betas=BETAS, eps=EPS))


def theirs(tensors):
    groups = [{"params": tensors[:2], "weight_decay": DECAY}]
    groups.append({"params": tensors[2:], "weight_decay": 0.0})
    return torch.optim.AdamW(groups, lr=0.0, betas=BETAS, eps=EPS, fused=True)


def rate(number):
    return 1e-2 * min(number / 8, (8 / number) ** 0.5)


def put_gradients(number, *lists):
    """Give each list the same gradients; the second parameter has one at odd updates only."""
    stream = torch.Generator().manual_seed(number)
    for place, shape in enumerate(SHAPES):
        gradient = torch.randn(shape, generator=stream)
        for tensors in lists:
            absent = place == 1 and number % 2 == 0
            tensors[place].grad = None if absent else gradient.clone()


def their_step(adam, number):
    for group in adam.param_groups:
        group["lr"] = rate(number)
    adam.step()


def equal(one, other):
    return all(map(torch.equal, one, other))


def test_fifty_steps_are_torchs_to_the_bit_and_so_is_their_state():
    one, other = parameters(), parameters()
    mine, torchs = ours(one), theirs(other)
    for number in range(1, 51):
        put_gradients(number, one, other)
        mine.step(rate(number), YES)
        their_step(torchs, number)
        assert equal(one, other), number
    saved, expected = mine.state_dict(), torchs.state_dict()
    assert saved["state"].keys() == expected["state"].keys()
    for place, state in expected["state"].items():
        assert state.keys() == saved["state"][place].keys()
        assert all(torch.equal(value, saved["state"][place][name]) for name, value in state.items())
    for group, theirs_ in zip(saved["param_groups"], expected["param_groups"], strict=True):
        assert group.items() <= theirs_.items()


@pytest.mark.parametrize("first", [ours, theirs])
def test_a_checkpoint_of_each_is_continued_by_both_alike(tmp_path, first):
    start = parameters()
    adam = first(start)
    for number in range(1, 11):
        put_gradients(number, start)
        adam.step(rate(number), YES) if first is ours else their_step(adam, number)
    write_checkpoint(tmp_path / "state.pt", {"theta": adam.state_dict()})
    continued = []
    for build in (ours, theirs):
        tensors = [nn.Parameter(one.detach().clone()) for one in start]
        after = build(tensors)
        after.load_state_dict(read_checkpoint(tmp_path / "state.pt")["theta"])
        for number in range(11, 31):
            put_gradients(number, tensors)
            after.step(rate(number), YES) if build is ours else their_step(after, number)
        continued.append(tensors)
    assert equal(*continued)


def test_a_step_that_is_not_taken_changes_no_bit_of_weights_and_state():
    one, other = parameters(), parameters()
    skipping, whole = ours(one), ours(other)
    for number in range(1, 6):
        put_gradients(number, one, other)
        skipping.step(rate(number), YES)
        whole.step(rate(number), YES)
        put_gradients(number, one)
        for tensor in one:
            if tensor.grad is not None:
                tensor.grad.fill_(torch.nan)
        skipping.step(rate(number), NO)
    assert equal(one, other)
    for parameter, reference in zip(one, other, strict=True):
        assert equal(skipping.state[parameter].values(), whole.state[reference].values())


def test_frozen_weights_leave_nothing_to_move():
    adam = AdamW([([], DECAY), ([], 0.0)], Adam(betas=BETAS, eps=EPS))
    adam.step(1.0, YES)
    adam.load_state_dict(adam.state_dict())
    assert adam.state == {}


def test_thetas_optimiser_has_the_settings_of_the_run():
    changes = {"adam": {"betas": (0.8, 0.7), "eps": 1e-3}, "weight_decay": 0.1}
    settings = specification(changes={"training": changes}).training
    own, added = (nn.Parameter(torch.ones(2)) for _ in range(2))
    adam = theta_adam([own], [added], settings)
    assert adam.groups == [([own], 0.1), ([added], 0.0)]
    assert (adam.adam.betas, adam.adam.eps) == ((0.8, 0.7), 1e-3)


def test_what_a_method_adds_does_not_decay():
    settings = specification(changes={"training": {"weight_decay": 0.1}}).training
    own, added = (nn.Parameter(torch.ones(2)) for _ in range(2))
    own.grad = added.grad = torch.zeros(2)
    theta_adam([own], [added], settings).step(1.0, YES)
    assert torch.allclose(own, torch.full((2,), 0.9))
    assert torch.equal(added, torch.ones(2))

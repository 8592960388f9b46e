from dataclasses import replace

import torch
from torch import nn

from fathom.models.hooks import ParameterGroup
from fathom.training.optimisers import LazyAdam, clip, theta_adam
from tests.training.small_runs import specification

BETAS, EPS = (0.9, 0.98), 1e-6


def group(parameter, rows_are_tasks=True):
    return ParameterGroup("phi", (parameter,), 1.0, 1, 1.0, rows_are_tasks)


def gradients(rows, count):
    return torch.randn(count, rows, 4, generator=torch.Generator().manual_seed(5))


def test_thetas_optimiser_has_the_settings_of_the_run():
    settings = replace(
        specification().training, adam_betas=(0.8, 0.7), adam_eps=1e-3, weight_decay=0.1
    )
    (found,) = theta_adam([nn.Parameter(torch.ones(2))], settings).param_groups
    assert (found["betas"], found["eps"], found["weight_decay"]) == ((0.8, 0.7), 1e-3, 0.1)


def test_with_all_tasks_present_it_is_torchs_adam():
    ours, theirs = nn.Parameter(torch.ones(3, 4)), nn.Parameter(torch.ones(3, 4))
    lazy = LazyAdam(group(ours), BETAS, EPS)
    adam = torch.optim.Adam([theirs], lr=0.01, betas=BETAS, eps=EPS)
    for gradient in gradients(3, 20):
        ours.grad, theirs.grad = gradient.clone(), gradient.clone()
        lazy.step(0.01, torch.arange(3))
        adam.step()
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=0)


def test_an_absent_tasks_row_and_moments_rest_to_the_bit():
    parameter = nn.Parameter(torch.ones(3, 4))
    lazy = LazyAdam(group(parameter), BETAS, EPS)
    for gradient in gradients(3, 5):
        parameter.grad = gradient.clone()
        lazy.step(0.01, torch.tensor([0, 2]))
    assert torch.equal(parameter[1], torch.ones(4))
    assert not lazy.first[0][1].any()
    assert not lazy.second[0][1].any()
    assert lazy.steps[0].tolist() == [5, 0, 5]


def test_a_row_that_was_absent_moves_as_if_its_own_updates_were_the_only_ones():
    sparse, dense = nn.Parameter(torch.ones(2, 4)), nn.Parameter(torch.ones(1, 4))
    lazy, alone = LazyAdam(group(sparse), BETAS, EPS), LazyAdam(group(dense), BETAS, EPS)
    for number, gradient in enumerate(gradients(2, 6)):
        sparse.grad = gradient.clone()
        lazy.step(0.01, torch.tensor([0, 1] if number % 2 else [0]))
        if number % 2:
            dense.grad = gradient[1:].clone()
            alone.step(0.01, torch.tensor([0]))
    assert torch.equal(sparse[1], dense[0])


def test_a_shared_posterior_moves_as_a_whole():
    parameter = nn.Parameter(torch.ones(1, 4))
    lazy = LazyAdam(group(parameter, rows_are_tasks=False), BETAS, EPS)
    parameter.grad = torch.ones(1, 4)
    lazy.step(0.01, torch.tensor([5, 6]))
    torch.testing.assert_close(parameter.detach(), torch.full((1, 4), 0.99), atol=1e-6, rtol=0)


def test_state_goes_to_disk_and_back():
    parameter = nn.Parameter(torch.ones(3, 4))
    lazy, other = (LazyAdam(group(parameter), BETAS, EPS) for _ in range(2))
    parameter.grad = torch.ones(3, 4)
    lazy.step(0.01, torch.tensor([1]))
    other.load_state_dict(lazy.state_dict())
    for name, value in lazy.state_dict().items():
        assert torch.equal(value[0], other.state_dict()[name][0])


def test_clip_scales_gradients_down_and_returns_the_norm_that_they_had():
    parameter = nn.Parameter(torch.zeros(4))
    parameter.grad = torch.full((4,), 3.0)
    assert float(clip([parameter], 1.0)) == 6.0
    torch.testing.assert_close(parameter.grad.norm(), torch.tensor(1.0), atol=1e-5, rtol=0)


def test_a_clip_of_zero_leaves_the_gradients():
    parameter = nn.Parameter(torch.zeros(4))
    parameter.grad = torch.full((4,), 3.0)
    assert float(clip([parameter], 0.0)) == 6.0
    assert torch.equal(parameter.grad, torch.full((4,), 3.0))

import torch
from torch import nn

from fathom.config.schema.run import Adam
from fathom.nn.hooks import ParameterGroup
from fathom.train.optimisers import LazyAdam, clip, clip_each, rate_of

BETAS, EPS = (0.9, 0.98), 1e-6
ADAM = Adam(betas=BETAS, eps=EPS)
YES, NO = torch.tensor(True), torch.tensor(False)


def group(parameter, rows_are_tasks=True):
    return ParameterGroup("phi", (parameter,), 1.0, 1, 1.0, rows_are_tasks)


def gradients(rows, count):
    return torch.randn(count, rows, 4, generator=torch.Generator().manual_seed(5))


def phi_group(**changes):
    values = {"learning_rate_multiplier": 3.0, "every": 1, "clip": 1.0, "rows_are_tasks": True}
    return ParameterGroup("phi", (nn.Parameter(torch.ones(2, 3, 4)),), **(values | changes))


def test_a_groups_rate_is_a_multiple_of_thetas_or_its_own():
    assert rate_of(phi_group(), 0.01) == 0.03
    assert rate_of(phi_group(learning_rate=0.5), 0.01) == 0.5


def test_a_group_may_have_decay_rates_of_its_own():
    assert LazyAdam(phi_group(), ADAM).betas == BETAS
    assert LazyAdam(phi_group(betas=(0.9, 0.999)), ADAM).betas == (0.9, 0.999)


def test_each_vector_of_the_last_dimension_can_be_scaled_down_alone():
    parameter = nn.Parameter(torch.zeros(2, 2, 4))
    parameter.grad = torch.tensor([[3.0, 0.3], [0.0, 40.0]])[..., None] * torch.ones(4)
    before = parameter.grad.clone()
    norm = clip_each([parameter], 1.0)
    assert torch.allclose(norm, before.norm())
    assert torch.allclose(parameter.grad.norm(dim=-1), torch.tensor([[1.0, 0.6], [0.0, 1.0]]))
    assert torch.equal(parameter.grad[0, 1], before[0, 1])
    parameter.grad = before.clone()
    clip_each([parameter], 0.0)
    assert torch.equal(parameter.grad, before)
    assert not clip_each([nn.Parameter(torch.ones(2))], 1.0)


def test_with_all_tasks_present_it_is_torchs_adam():
    ours, theirs = nn.Parameter(torch.ones(3, 4)), nn.Parameter(torch.ones(3, 4))
    lazy = LazyAdam(group(ours), ADAM)
    adam = torch.optim.Adam([theirs], lr=0.01, betas=BETAS, eps=EPS)
    for gradient in gradients(3, 20):
        ours.grad, theirs.grad = gradient.clone(), gradient.clone()
        lazy.step(0.01, torch.arange(3), YES)
        adam.step()
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=0)


def test_an_absent_tasks_row_and_moments_rest_to_the_bit():
    parameter = nn.Parameter(torch.ones(3, 4))
    lazy = LazyAdam(group(parameter), ADAM)
    for gradient in gradients(3, 5):
        parameter.grad = gradient.clone()
        lazy.step(0.01, torch.tensor([0, 2]), YES)
    assert torch.equal(parameter[1], torch.ones(4))
    assert not lazy.first[0][1].any()
    assert not lazy.second[0][1].any()
    assert lazy.steps[0].tolist() == [5, 0, 5]


def test_a_row_that_was_absent_moves_as_if_its_own_updates_were_the_only_ones():
    sparse, dense = nn.Parameter(torch.ones(2, 4)), nn.Parameter(torch.ones(1, 4))
    lazy, alone = LazyAdam(group(sparse), ADAM), LazyAdam(group(dense), ADAM)
    for number, gradient in enumerate(gradients(2, 6)):
        sparse.grad = gradient.clone()
        lazy.step(0.01, torch.tensor([0, 1] if number % 2 else [0]), YES)
        if number % 2:
            dense.grad = gradient[1:].clone()
            alone.step(0.01, torch.tensor([0]), YES)
    assert torch.equal(sparse[1], dense[0])


def test_a_step_that_is_not_taken_changes_no_bit_and_is_not_counted():
    parameter = nn.Parameter(torch.ones(3, 4))
    lazy = LazyAdam(group(parameter), ADAM)
    parameter.grad = torch.full((3, 4), torch.nan)
    lazy.step(0.01, torch.arange(3), NO)
    assert torch.equal(parameter, torch.ones(3, 4))
    assert not any(lazy.state_dict()[name][0].any() for name in ("first", "second", "steps"))
    parameter.grad = torch.ones(3, 4)
    lazy.step(0.01, torch.arange(3), YES)
    before = [parameter.detach().clone(), *(each[0].clone() for each in lazy.state_dict().values())]
    parameter.grad = torch.full((3, 4), torch.inf)
    lazy.step(0.01, torch.arange(3), NO)
    after = [parameter, *(each[0] for each in lazy.state_dict().values())]
    assert all(map(torch.equal, before, after))


def test_a_shared_posterior_moves_as_a_whole():
    parameter = nn.Parameter(torch.ones(1, 4))
    lazy = LazyAdam(group(parameter, rows_are_tasks=False), ADAM)
    parameter.grad = torch.ones(1, 4)
    lazy.step(0.01, torch.tensor([5, 6]), YES)
    torch.testing.assert_close(parameter.detach(), torch.full((1, 4), 0.99), atol=1e-6, rtol=0)


def test_state_goes_to_disk_and_back():
    parameter = nn.Parameter(torch.ones(3, 4))
    lazy, other = (LazyAdam(group(parameter), ADAM) for _ in range(2))
    parameter.grad = torch.ones(3, 4)
    lazy.step(0.01, torch.tensor([1]), YES)
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

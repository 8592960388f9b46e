"""Dropout from 16-bit random words."""

import pytest
import torch

from fathom.nn.cpu import dropout

SHARES = [0.1, 0.25, 0.5, 0.9]


def test_the_expectation_and_the_share_of_zeros_are_those_of_the_probability():
    torch.manual_seed(1)
    draws = 400_000
    for p in SHARES:
        y = dropout(torch.ones(draws), p)
        assert y.unique().tolist() == pytest.approx([0, 1 / (1 - p)], rel=2e-5 / (1 - p))
        # Five standard deviations of a mean of these draws.
        assert abs((y == 0).double().mean() - p) < 5 * (p * (1 - p) / draws) ** 0.5
        assert abs(y.double().mean() - 1) < 5 * (p / (1 - p) / draws) ** 0.5


def test_the_probability_is_a_multiple_of_one_over_65536_and_the_scale_is_exact():
    kept = dropout(torch.ones(64, dtype=torch.float64), 0.1).max().item()
    assert 1 - 1 / kept == pytest.approx(round(0.1 * 65536) / 65536, abs=1e-15)
    assert abs(1 - 1 / kept - 0.1) <= 1 / 131072


def test_neighbouring_values_and_calls_are_independent():
    torch.manual_seed(1)
    n = 400_000
    first, second = (dropout(torch.ones(n), 0.5).sub(1).double() for _ in range(2))
    for other in (second, first.roll(1), first.roll(2), first.roll(3), first.roll(4)):
        assert abs((first * other).mean()) < 5 / n**0.5


def test_equal_states_of_the_generator_give_equal_masks():
    x = torch.randn(5, 7)
    torch.manual_seed(3)
    first, state = dropout(x, 0.3), torch.get_rng_state()
    second = dropout(x, 0.3)
    torch.manual_seed(3)
    assert torch.equal(dropout(x, 0.3), first)
    torch.set_rng_state(state)
    assert torch.equal(dropout(x, 0.3), second)
    assert not torch.equal(first, second)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_gradient_has_the_same_mask(dtype):
    x = torch.randn(5, 7).to(dtype).requires_grad_()
    y = dropout(x, 0.3)
    (gradient,) = torch.autograd.grad(y, x, torch.ones_like(y))
    assert y.dtype == gradient.dtype == dtype
    assert torch.equal(y, x * gradient)
    assert 0 < (gradient == 0).sum() < gradient.numel()


def test_without_training_or_probability_the_input_is_returned_and_nothing_is_drawn():
    x, state = torch.randn(5), torch.get_rng_state()
    assert dropout(x, 0.0) is x
    assert dropout(x, 0.3, training=False) is x
    assert torch.equal(torch.get_rng_state(), state)


def test_near_one_almost_all_is_dropped_and_at_one_all():
    x = torch.ones(1000)
    y = dropout(x, 1 - 1e-9)
    assert torch.isfinite(y).all()
    assert (y == 0).sum() > 900
    assert not dropout(x, 1.0).any()


def test_any_shape_is_taken():
    for shape in ((0,), (1,), (3,), (4,), (2, 3, 5), ()):
        assert dropout(torch.ones(shape), 0.5).shape == shape
    columns = torch.ones(6, 8)[:, 2:5]
    assert dropout(columns, 0.5).shape == (6, 3)

"""What the released code computes on samples, and the limits that tell it from the paper's."""

import math

import pytest
import torch
from torch import Tensor

from fathom.methods.latent_layers import released
from fathom.methods.latent_layers.released import (
    log_mean,
    selected_half,
    squared_depth_loss,
    straight_through,
    utilisation_entropy,
)

LN_HALF = math.log(0.5)


def gradient(function, *values: float) -> Tensor:
    """Return the gradient of a function of one vector, in float64."""
    at = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    return torch.autograd.grad(function(at).sum(), at)[0]


# Straight-through samples


def test_straight_through_samples_are_exactly_0_or_1():
    z = torch.rand(100_000, generator=torch.Generator().manual_seed(1))
    for each in (z, torch.tensor([0.0, 0.5, 1.0])):
        assert torch.equal(straight_through(each), (each > 0.5).float())


def test_straight_through_samples_have_the_gradient_of_the_soft_ones():
    logits = torch.linspace(-4, 4, 9, dtype=torch.float64)
    found = gradient(lambda each: straight_through(torch.sigmoid(each / 5)), *logits.tolist())
    soft = gradient(lambda each: torch.sigmoid(each / 5), *logits.tolist())
    assert torch.equal(found, soft)


# The half of the divergence


@pytest.mark.parametrize("chosen", range(5))
def test_with_hard_samples_it_only_counts_layers(chosen):
    z = (torch.arange(4) < chosen).double()
    found = selected_half(z, LN_HALF).mean()
    assert found.item() == pytest.approx(chosen * math.log(2) / 4, abs=1e-6)


def test_with_soft_samples_it_is_negative_down_to_its_minimum():
    z = torch.linspace(0, 1, 100_001, dtype=torch.float64)
    found = selected_half(z, LN_HALF)
    lowest = found.argmin()
    assert found[lowest].item() == pytest.approx(-1 / (2 * math.e), abs=1e-6)
    assert found[lowest].item() == pytest.approx(-0.184, abs=1e-4)
    assert z[lowest].item() == pytest.approx(1 / (2 * math.e), abs=1e-4)


def test_its_value_and_gradient_are_finite_at_both_ends():
    for dtype in (torch.float32, torch.float64):
        ends = torch.tensor([0.0, 1.0], dtype=dtype)
        found = selected_half(ends, LN_HALF)
        assert found[0].item() == 0
        assert found[1].item() == pytest.approx(math.log(2), abs=1e-6)
    slopes = gradient(lambda z: selected_half(z, LN_HALF), 0.0, 1.0)
    # ln 1e-7 + ln 2 and 1 + ln 2.
    assert slopes.tolist() == pytest.approx([-15.425, 1.6931], abs=1e-3)


# The mean of all tasks' samples as its prior


def test_tasks_that_agree_on_hard_samples_pay_nothing():
    z = torch.tensor([1.0, 1.0, 0.0, 0.0]).expand(8, 4)
    assert selected_half(z, log_mean(z)).abs().max() < 1e-6
    # As released: the sum over tasks over its sum over layers, which makes ½ ln 2 of agreement.
    summed = z.sum(dim=0)
    wrong = torch.log(summed / summed.sum() + released.SMALLEST)
    assert selected_half(z, wrong).mean().item() == pytest.approx(0.347, abs=1e-3)


def test_tasks_that_differ_pay_for_it():
    halves = torch.tensor([[1.0], [0.0]]).repeat(2, 1)
    assert selected_half(halves, log_mean(halves)).mean().item() == pytest.approx(math.log(2) / 2)


def test_the_mean_of_samples_is_a_constant_and_finite_where_none_selects():
    z = torch.zeros(3, 2, requires_grad=True)
    found = log_mean(z)
    assert not found.requires_grad
    assert torch.isfinite(found).all()


# The depth


def test_the_square_agrees_with_finite_differences_and_flattens_towards_its_target():
    u = torch.rand(4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda each: squared_depth_loss(each, 1.0), u)
    assert squared_depth_loss(torch.tensor([0.5, 0.5, 2.0]), 1.0).item() == 4.0
    for target, slope in ((1.0, 0.0), (0.9, 0.2), (3.0, -4.0)):
        found = gradient(lambda each, k=target: squared_depth_loss(each, k), 0.25, 0.75)
        assert found.tolist() == pytest.approx([slope, slope])


# The entropy of utilisation


def test_the_entropy_is_lowest_where_tasks_agree():
    assert utilisation_entropy(torch.tensor([0.0, 1.0, 1.0, 0.0])).item() == 0
    assert utilisation_entropy(torch.tensor([1 / math.e] * 2)).item() == pytest.approx(2 / math.e)


def test_the_entropy_has_its_whole_gradient_and_none_where_no_task_uses_a_layer():
    found = gradient(utilisation_entropy, 0.0, 0.25, 1 / math.e, 1.0)
    expected = [0.0, -math.log(0.25) - 1, 0.0, -1.0]
    assert found.tolist() == pytest.approx(expected, abs=1e-12)
    u = torch.tensor([0.3, 0.9], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(utilisation_entropy, u)

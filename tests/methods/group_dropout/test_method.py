"""The class of latent group dropout: its losses, parameters and temperature."""

import math

import pytest
import torch
from torch.distributions import Categorical

from fathom.methods.group_dropout.method import GroupDropout
from tests.reference.soft_masks import logits
from tests.support.refused import refused
from tests.support.small_networks import card, method, stack

RELEASED = card("group_dropout").about.presets["as_released"]


def dropout(name: str = "encoder", tasks: int = 3, seed: int = 1, **settings) -> GroupDropout:
    """Return the method of one stack of three layers in update 1, with logits that are not 0."""
    each = GroupDropout(stack(name, tasks=tasks), **method("group_dropout", **settings).settings)
    each.phi.data = logits(*each.phi.shape, seed=3).float()
    each.start_update(seed, 1)
    return each


def test_the_regulariser_is_summed_over_sites_and_a_mean_over_the_updates_tasks():
    each = dropout()
    loss = each.losses(100, torch.tensor([0, 2]))["entropy"]
    expected = -Categorical(logits=each.phi).entropy().sum(dim=1)
    assert loss.value.item() == pytest.approx((expected[0] + expected[2]).item() / 2, rel=1e-5)
    assert loss.weight == 1e-4
    loss.value.backward()
    assert not each.phi.grad[1].any()
    assert set(dropout(**RELEASED).losses(100, torch.tensor([0]))) == {"uniform_divergence"}


def test_phi_is_a_group_with_a_constant_rate_of_its_own():
    each = GroupDropout(stack(), **method("group_dropout").settings)
    (group,) = each.parameter_groups()
    assert group.parameters == (each.phi,)
    assert not each.phi.any()
    assert (group.name, group.every, group.clip, group.rows_are_tasks) == ("phi", 1, 1.0, True)
    assert (group.learning_rate, group.betas, group.clip_each) == (1e-3, (0.9, 0.999), False)
    assert dropout(**RELEASED).parameter_groups()[0].clip_each


def test_the_temperature_follows_the_updates_by_the_cards_settings():
    paper, released = dropout(), dropout(**RELEASED)
    for update, expected in ((1, 0.5 * math.exp(-1e-4)), (9163, 0.2), (300_000, 0.2)):
        for each, tau in ((paper, expected), (released, 0.2)):
            each.start_update(1, update)
            assert each.tau == pytest.approx(tau, abs=1e-12)
    short = dropout(tau_updates=100, tau_every=20)
    short.start_update(1, 59)
    assert short.tau == pytest.approx(0.5 * math.exp(-0.4))


def test_more_groups_than_there_are_cannot_be_on():
    with refused("active groups", 17, 16):
        dropout(active=17)
    with refused("unequal groups", ..., 12):
        dropout(groups=12, active=3)

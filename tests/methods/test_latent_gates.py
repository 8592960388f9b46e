"""What the gates of a stack sample, cost and report, with each of their settings."""

import math

import pytest
import torch

from fathom.methods.latent_layers import equations
from fathom.methods.latent_layers.method import LatentLayers
from tests.support.small_networks import card, method, stack

BOTH = torch.tensor([0, 1])
AS_RELEASED = card("latent_layers").about.presets["as_released"]


def gates(side: str = "decoder", layers: int = 3, tasks: int = 2, **settings) -> LatentLayers:
    """Return the method of one stack."""
    filled = method("latent_layers", **settings).settings
    return LatentLayers(stack(side, layers, tasks), **filled)


# Losses


def test_the_losses_are_the_weighted_divergence_and_distance_from_the_target():
    """[latent_depth Eq. 8]"""
    each = gates(kl_weight=0.7, kl_scale="sum", target_depth=2, depth_weight=0.3)
    each.alpha.data = torch.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, -1.0]])
    each.start_update(1, 9)
    found = sum(loss.weight * loss.value for loss in each.losses(100, BOTH).values())
    q = torch.sigmoid(each.alpha)
    divergence = (q * (2 * q).log() + (1 - q) * (2 - 2 * q).log()).sum() / 2
    z = torch.sigmoid(each.alpha + each.noise)
    expected = 0.7 * divergence + 0.3 * (z.sum() / 2 - 2).abs()
    assert torch.allclose(found, expected)


def test_the_divergence_is_the_mean_over_the_tasks_of_the_update():
    each = gates(tasks=3, kl_weight=0.5, kl_scale="sum")
    each.alpha.data = torch.tensor([[1.0, 2.0, 0.0], [9.0, 9.0, 9.0], [0.0, -1.0, 0.0]])
    each.start_update(1, 1)
    loss = each.losses(100, torch.tensor([0, 2]))["kl"]
    kl = equations.kl_divergence(each.alpha, equations.beta_prior(1, 1)).sum(dim=1)
    assert loss.value.item() == pytest.approx((kl[0] + kl[2]).item() / 2)
    assert loss.weight == 0.5
    loss.value.backward()
    assert each.alpha.grad[1].tolist() == [0, 0, 0]


@pytest.mark.parametrize("tasks", [torch.tensor([0, 1, 2]), torch.tensor([0, 2])])
def test_under_the_aggregated_prior_a_tasks_gradient_does_not_depend_on_who_is_present(tasks):
    """[latent_depth Eq. 7] In the sum of all tasks' KLs the prior's own gradients cancel."""
    each = gates(tasks=3, prior="aggregated")
    each.alpha.data = torch.tensor([[1.0, 2.0, 0.0], [4.0, -2.0, 1.0], [0.0, -1.0, 0.0]])
    each.start_update(1, 1)
    value = each.losses(100, tasks)["kl"].value
    value.backward()
    rows = [row.detach().requires_grad_() for row in each.alpha]
    rested = [task for task in range(3) if task not in tasks.tolist()]
    prior = equations.aggregated_posterior(torch.stack(rows))
    kl = equations.kl_divergence(torch.stack(rows), prior).mean(dim=1)
    assert torch.allclose(value, kl[tasks].mean())
    slopes = torch.stack(torch.autograd.grad(kl.sum(), rows)) / len(tasks)
    slopes[rested] = 0
    assert torch.allclose(each.alpha.grad, slopes, atol=1e-7)


def test_the_depth_loss_takes_the_samples_that_the_network_took():
    each = gates(target_depth=0.25, depth_weight=0.3)
    each.start_update(1, 4)
    each.begin(BOTH)
    taken = torch.stack(each.sentence_gates).detach().squeeze().t()  # (B, L)
    loss = each.losses(100, BOTH)["depth"]
    assert loss.value.item() == pytest.approx(taken.mean(dim=0).sum().item() - 0.25)
    assert loss.weight == 0.3


def test_the_depth_loss_leaves_absent_tasks_out():
    each = gates(tasks=3, target_depth=0)
    each.start_update(1, 1)
    loss = each.losses(100, torch.tensor([0, 2]))["depth"].value
    assert torch.allclose(loss, each.samples()[[0, 2]].mean(dim=0).sum())
    loss.backward()
    assert each.alpha.grad[1].tolist() == [0, 0, 0]


def test_the_depth_loss_acts_where_the_settings_say():
    for side, expected in (("encoder", {"kl"}), ("decoder", {"kl", "depth"})):
        each = gates(side, target_depth=1)
        each.start_update(1, 1)
        assert set(each.losses(100, BOTH)) == expected
    each = gates("decoder")
    each.start_update(1, 1)
    assert set(each.losses(100, BOTH)) == {"kl"}


def test_weights_follow_the_updates_and_are_never_negative():
    each = gates(
        kl_weight=2.0, kl_anneal_start=10, kl_anneal_length=10, target_depth=1,
        depth_weight=0.1, depth_anneal_start=20, depth_anneal_length=10, utilisation_entropy=True,
    )  # fmt: skip
    found = {"kl": [], "depth": [], "entropy": []}
    for update in (1, 10, 15, 20, 25, 31):
        each.start_update(1, update)
        for name, loss in each.losses(100, BOTH).items():
            found[name].append(loss.weight)
    assert found["kl"] == pytest.approx([0.0, 0.0, 1.0, 2.0, 2.0, 2.0])
    assert found["depth"] == found["entropy"] == pytest.approx([0.0, 0.0, 0.0, 0.0, 0.05, 0.1])


# As released


@pytest.mark.parametrize("prior", ["beta", "aggregated"])
def test_as_released_the_divergence_is_the_selecting_half_of_the_samples(prior):
    each = gates(kl="selected_half", kl_scale="sum", prior=prior, tasks=3)
    each.alpha.data = torch.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, -1.0], [0.2, 0.1, 0.0]])
    each.start_update(1, 9)
    value = each.losses(100, torch.tensor([0, 2]))["kl"].value
    z = each.samples().detach()
    p = z.mean(dim=0) if prior == "aggregated" else torch.tensor(0.5)
    expected = (z * (z.log() - p.log()))[[0, 2]].sum() / 2
    assert value.item() == pytest.approx(expected.item(), abs=1e-5)
    value.backward()
    assert not each.alpha.grad[1].any()
    assert each.alpha.grad[[0, 2]].all()


def test_as_released_hard_samples_pay_for_their_number_alone():
    each = gates(layers=8, **(AS_RELEASED | {"target_depth": 3}))
    each.start_update(1, 501)
    losses = each.losses(100, BOTH)
    chosen = each.samples().detach().sum(dim=1)
    assert losses["kl"].value.item() == pytest.approx(chosen.mean().item() * math.log(2) / 8)
    assert losses["depth"].value.item() == (chosen.mean().item() - 3) ** 2
    u = each.samples().detach().mean(dim=0)
    expected = -torch.xlogy(u, u).sum().item()
    assert losses["entropy"].value.item() == pytest.approx(expected, abs=1e-6)
    sum(loss.value for loss in losses.values()).backward()
    assert torch.isfinite(each.alpha.grad).all()


def test_as_released_samples_are_soft_at_first_and_hard_from_then_on():
    each, soft = gates(**AS_RELEASED), gates(tau=5.0)
    for update, hard in ((1, False), (500, False), (501, True), (9000, True)):
        slopes = []
        for one in (each, soft):
            one.alpha.grad = None
            one.start_update(1, update)
            z = one.samples()
            (z * torch.arange(1.0, 7.0).view(2, 3)).sum().backward()
            slopes.append(one.alpha.grad)
        values = (soft.samples() > 0.5).float() if hard else soft.samples()
        assert torch.equal(each.samples(), values)
        assert torch.equal(*slopes)


def test_logits_start_at_nothing_whatever_memory_held():
    torch.use_deterministic_algorithms(True)
    try:
        # In this mode memory that nobody has written holds NaN.
        assert torch.empty(8, 24).isnan().all()
        for settings in ({}, AS_RELEASED):
            assert torch.equal(gates(layers=24, tasks=8, **settings).alpha, torch.zeros(8, 24))
    finally:
        torch.use_deterministic_algorithms(False)


# Reports


def test_phi_is_its_own_group():
    each = gates(inner_updates=5, phi_learning_rate_multiplier=10.0, phi_clip=0.5)
    (group,) = each.parameter_groups()
    assert group.parameters == (each.alpha,)
    assert (group.name, group.every, group.clip) == ("phi", 5, 0.5)
    assert (group.learning_rate_multiplier, group.rows_are_tasks) == (10.0, True)


@pytest.mark.parametrize(
    ("threshold", "at_least", "kept"),
    [
        (0.5, 0, [[1, 1, 1], [0, 0, 1]]),
        (0.9, 0, [[0, 1, 0], [0, 0, 0]]),
        (0.9, 2, [[0, 1, 1], [1, 0, 1]]),
    ],
)
def test_hard_gates_take_the_threshold_and_the_layers_that_are_kept_in_any_case(
    threshold, at_least, kept
):
    each = gates(hard_threshold=threshold).eval()
    each.alpha.data = torch.tensor([[0.0, 3.0, 2.0], [-2.0, -3.0, 0.0]])
    each.inference, each.hard_at_least = "hard", at_least
    assert each.gates().tolist() == kept


def test_diagnostics_are_the_logits_the_samples_and_their_utilisation():
    each = gates(tasks=4)
    assert set(each.diagnostics()) == {"alpha"}
    each.start_update(1, 1)
    found = each.diagnostics()
    axes = {name: reading.axes for name, reading in found.items()}
    assert axes == {
        "alpha": ("task", "layer"),
        "samples": ("task", "layer"),
        "utilisation": ("layer",),
    }
    assert torch.equal(found["alpha"].values, torch.zeros(4, 3))
    assert torch.equal(found["samples"].values, each.samples())
    assert torch.equal(found["utilisation"].values, each.samples().mean(dim=0))
    assert not any(reading.values.requires_grad for reading in found.values())

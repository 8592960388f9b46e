"""Equations of latent layers, what the released code computes, and the gates of a stack."""

import math

import pytest
import torch
from torch import Tensor
from torch.autograd.functional import jacobian
from torch.distributions import Bernoulli, kl_divergence

from fathom.methods.latent_layers import equations, released
from fathom.methods.latent_layers.equations import (
    annealed,
    annealed_temperature,
    depth_of,
    hard_gates,
)
from fathom.methods.latent_layers.method import LatentLayers
from fathom.methods.latent_layers.released import (
    log_mean,
    selected_half,
    squared_depth_loss,
    straight_through,
    utilisation_entropy,
)
from tests.support.small_networks import card, method, stack

DRAWS = 100_000


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_an_open_gate_is_the_block_and_a_closed_one_the_identity_to_the_bit(dtype):
    """[latent_depth Eq. 2]"""
    x, y = torch.randn(5, 3, 8).to(dtype), (100 * torch.randn(5, 3, 8)).to(dtype)
    one = torch.ones(1, 3, 1, dtype=dtype)
    assert torch.equal(equations.gated_block(x, y, one), y)
    assert torch.equal(equations.gated_block(x, y, 0 * one), x)


def test_the_gate_scales_the_block_of_each_sentence():
    """[latent_depth Eq. 2]"""
    x, y = torch.randn(5, 3, 8), torch.randn(5, 3, 8)
    z = torch.tensor([0.2, 0.5, 0.9])
    found = equations.gated_block(x, y, z[None, :, None])
    for sentence in range(3):
        block = y[:, sentence] - x[:, sentence]
        assert torch.allclose(found[:, sentence], x[:, sentence] + z[sentence] * block, atol=1e-6)


def test_gradients_are_scaled_by_the_gates_of_the_layers_above():
    """[latent_depth Eq. 6]: 1 + Σ_m z_m dF_m(x_m)/dx_l, with total derivatives.

    Nothing computes it: it follows from Eq. 2. With each layer's own Jacobian it would be wrong.
    """
    torch.manual_seed(2)
    weights = [torch.randn(4, 4, dtype=torch.float64) for _ in range(4)]
    gate = [0.3, 0.8, 0.5, 0.7]
    start = torch.randn(4, dtype=torch.float64)
    slope = torch.randn(4, dtype=torch.float64)  # ∂L/∂x_L

    def block(m: int, x: Tensor) -> Tensor:
        return torch.tanh(weights[m] @ x)

    def output(x: Tensor, first: int, last: int) -> Tensor:
        for m in range(first, last):
            x = equations.gated_block(x, x + block(m, x), gate[m])
        return x

    for first in range(4):
        x = output(start, 0, first).requires_grad_()
        (found,) = torch.autograd.grad(slope @ output(x, first, 4), x)
        total = local = torch.eye(4, dtype=torch.float64)
        for m in range(first, 4):
            x_m = output(x, first, m).detach()
            total = total + gate[m] * jacobian(lambda x, m=m: block(m, output(x, first, m)), x)  # noqa: B023
            local = local + gate[m] * jacobian(lambda x, m=m: block(m, x), x_m)
        assert torch.allclose(found, slope @ total, rtol=0, atol=1e-12)
        # With one layer above, both are the same.
        assert torch.allclose(found, slope @ local, atol=1e-2) is (first == 3)


def noise(count: int, seed: int = 1) -> Tensor:
    return equations.logistic_noise(count, torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("alpha", [-2.0, 0.0, 0.7])
@pytest.mark.parametrize("tau", [0.01, 0.2, 1.0, 5.0])
def test_a_sample_is_over_one_half_as_often_as_the_posterior_says(alpha, tau):
    z = equations.gumbel_sample(torch.tensor(alpha), noise(DRAWS), tau)
    p = 1 / (1 + math.exp(-alpha))
    deviation = math.sqrt(p * (1 - p) / DRAWS)
    assert abs((z > 0.5).float().mean().item() - p) < 4 * deviation


def test_the_sample_is_the_two_way_softmax_of_the_paper():
    """[latent_depth Eq. 5]"""
    alphas = torch.tensor([0.3, -0.4])
    gumbels = torch.tensor([0.9, 0.1])
    for tau in (0.5, 1.0, 5.0):
        softmax = torch.softmax((alphas + gumbels) / tau, dim=0)[1]
        found = equations.gumbel_sample(alphas[1] - alphas[0], gumbels[1] - gumbels[0], tau)
        assert torch.allclose(found, softmax)


def test_the_noise_is_the_difference_of_two_gumbels():
    stream = torch.Generator().manual_seed(3)
    gumbels = -torch.log(-torch.log(torch.rand(2, DRAWS, generator=stream, dtype=torch.float64)))
    difference = (gumbels[1] - gumbels[0]).sort().values
    # The largest distance of two empirical distributions, 4 sigma of Kolmogorov and Smirnov.
    own = noise(DRAWS).double().sort().values
    ranks = torch.searchsorted(own, difference).double() / DRAWS
    expected = torch.arange(DRAWS, dtype=torch.float64) / DRAWS
    assert (ranks - expected).abs().max() < 4 / math.sqrt(DRAWS)


def test_the_noise_is_finite_at_the_ends_of_the_uniform_draw(monkeypatch):
    monkeypatch.setattr(torch, "rand", lambda *size, **_: torch.tensor([0.0, 1.0]))
    assert noise(2).tolist() == pytest.approx([-15.94, 15.94], abs=0.01)


LOGITS = [-100.0, -40.0, -20.0, -3.0, -0.5, 0.0, 0.7, 5.0, 20.0, 40.0, 100.0]


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (2.0, 1.0), (1.0, 3.0)])
def test_the_divergence_is_that_of_torch_distributions(a, b):
    """[latent_depth Eq. 4], [latent_depth prior]"""
    alpha = torch.tensor(LOGITS, dtype=torch.float64)
    found = equations.kl_divergence(alpha, equations.beta_prior(a, b))
    prior = torch.tensor(a / (a + b), dtype=torch.float64)
    expected = kl_divergence(Bernoulli(logits=alpha), Bernoulli(probs=prior))
    assert torch.allclose(found, expected, atol=1e-12)


def test_the_divergence_and_its_gradient_are_finite_in_float32():
    alpha = torch.tensor(LOGITS, requires_grad=True)
    kl = equations.kl_divergence(alpha, equations.beta_prior(1.0, 1.0))
    kl.sum().backward()
    assert torch.isfinite(kl).all()
    assert torch.isfinite(alpha.grad).all()
    assert torch.allclose(kl[[0, -1]], torch.tensor(math.log(2)))


def divergence_from_aggregate(alpha: Tensor) -> Tensor:
    return equations.kl_divergence(alpha, equations.aggregated_posterior(alpha)).mean(dim=0)


def test_the_aggregated_posterior_is_the_mean_over_tasks():
    """[latent_depth Eq. 7]"""
    alpha = torch.randn(5, 4, dtype=torch.float64)
    selected, skipped = equations.aggregated_posterior(alpha)
    mean = torch.sigmoid(alpha).mean(dim=0)
    assert torch.allclose(selected.exp(), mean)
    assert torch.allclose(skipped.exp(), 1 - mean)


def test_tasks_that_agree_pay_nothing_and_none_pays_more_than_ln_2_a_layer():
    agreed = torch.randn(1, 4).expand(6, 4)
    assert divergence_from_aggregate(agreed).abs().max() < 1e-6
    for scale in (1.0, 10.0, 100.0, 300.0):
        kl = divergence_from_aggregate(scale * torch.randn(6, 50))
        assert torch.isfinite(kl).all()
        assert (kl <= math.log(2) + 1e-6).all()
    halves = torch.tensor([100.0, -100.0])[:, None].repeat(3, 4).requires_grad_()
    kl = divergence_from_aggregate(halves)
    assert torch.allclose(kl, torch.tensor(math.log(2)))
    kl.sum().backward()
    assert torch.isfinite(halves.grad).all()


@pytest.mark.parametrize("tasks", [[0, 1, 2], [0]])
def test_only_all_tasks_together_may_hold_the_aggregate_fixed(tasks):
    """Σ_n KL(q_n ‖ mean q) has the same gradient whether or not the mean is differentiated."""
    found = []
    for detached in (False, True):
        alpha = torch.linspace(-2, 3, 12, dtype=torch.float64).view(3, 4).requires_grad_()
        prior = equations.aggregated_posterior(alpha.detach() if detached else alpha)
        equations.kl_divergence(alpha, prior)[tasks].sum().backward()
        found.append(alpha.grad)
    assert torch.allclose(*found, atol=1e-14) is (len(tasks) == 3)


# L_K and the scale of the divergence


def test_the_depth_loss_is_the_distance_and_has_no_gradient_on_its_kink():
    """[latent_depth L_K]"""
    u = torch.tensor([0.5, 0.75, 0.25], requires_grad=True)
    for target, distance, slope in ((1.0, 0.5, 1.0), (2.5, 1.0, -1.0), (1.5, 0.0, 0.0)):
        loss = equations.depth_loss(u, target)
        (gradient,) = torch.autograd.grad(loss, u)
        assert loss.item() == pytest.approx(distance)
        assert torch.equal(gradient, torch.full((3,), slope))


def test_the_depth_loss_is_the_norm_of_the_mean_and_not_the_mean_of_norms():
    z = torch.tensor([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    assert equations.depth_loss(equations.utilisation(z), 1.5).item() == 0
    assert sum(equations.depth_loss(row, 1.5).item() for row in z) / 2 == 1.5


def test_utilisation_is_the_mean_over_tasks():
    """[latent_depth u_l]"""
    z = torch.tensor([[0.2, 1.0], [0.6, 0.0]])
    assert torch.allclose(equations.utilisation(z), torch.tensor([0.4, 0.5]))


def test_the_three_scales_of_the_divergence():
    kl = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
    assert equations.scaled_kl(kl, "sum", 4.0).tolist() == [3.0, 8.0]
    assert equations.scaled_kl(kl, "mean", 4.0).tolist() == [1.5, 4.0]
    assert equations.scaled_kl(kl, "per_token", 4.0).tolist() == [0.75, 2.0]


@pytest.mark.parametrize("multiplier", [1.0, 2.0])
def test_one_logit_moves_like_two_at_twice_their_rate(multiplier):
    """[latent_depth Eq. 5] has two logits; under Adam their difference moves by two steps."""
    pair = torch.zeros(2, 3, 4, dtype=torch.float64, requires_grad=True)
    alpha = torch.zeros(3, 4, dtype=torch.float64, requires_grad=True)
    adams = [torch.optim.Adam([pair], lr=0.01), torch.optim.Adam([alpha], lr=0.01 * multiplier)]
    stream = torch.Generator().manual_seed(3)
    wanted = torch.rand(3, 4, generator=stream, dtype=torch.float64)
    for _ in range(50):
        noise = torch.randn(3, 4, generator=stream, dtype=torch.float64)
        two = torch.softmax(torch.stack([pair[0] + noise, pair[1]]), dim=0)[0]
        for adam, z in zip(adams, (two, equations.gumbel_sample(alpha, noise, 1.0)), strict=True):
            adam.zero_grad()
            (z - wanted).square().sum().backward()
            adam.step()
    assert torch.allclose(pair[0] - pair[1], alpha, atol=1e-6) == (multiplier == 2.0)


@pytest.mark.parametrize(
    ("update", "start", "length", "expected"),
    [
        (1, 10, 5, 0.0),
        (10, 10, 5, 0.0),
        (11, 10, 5, 0.4),
        (14, 10, 5, 1.6),
        (15, 10, 5, 2.0),
        (999, 10, 5, 2.0),
        (9, 10, 0, 0.0),
        (10, 10, 0, 2.0),
        (1, 0, 0, 2.0),
    ],
)
def test_a_weight_grows_from_nothing_to_its_whole(update, start, length, expected):
    assert annealed(2.0, update, start, length) == pytest.approx(expected)


def test_the_temperature_falls_geometrically_and_stays():
    """[latent_depth tau]"""
    assert annealed_temperature(1.0, None, 50, 100) == 1.0
    assert annealed_temperature(1.0, 0.01, 50, 100) == pytest.approx(0.1)
    assert annealed_temperature(1.0, 0.01, 100, 100) == pytest.approx(0.01)
    assert annealed_temperature(1.0, 0.01, 900, 100) == pytest.approx(0.01)


SLIGHT = [[0.0, 1e-3, -1e-3], [9.0, -9.0, 2.0]]
CLOSED = [[-0.3, -0.1, -0.2], [0.5, -0.1, -0.2], [0.5, 0.1, 0.2], [-1, -1, -1]]


# [latent_depth pruning]
@pytest.mark.parametrize(
    ("alpha", "threshold", "at_least", "gates"),
    [
        (SLIGHT, 0.5, 0, [[1, 1, 0], [1, 0, 1]]),
        (SLIGHT, 0.9, 0, [[0, 0, 0], [1, 0, 0]]),
        (CLOSED, 0.5, 0, [[0, 0, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0]]),
        (CLOSED, 0.5, 1, [[0, 1, 0], [1, 0, 0], [1, 1, 1], [1, 0, 0]]),
        (CLOSED, 0.5, 2, [[0, 1, 1], [1, 1, 0], [1, 1, 1], [1, 1, 0]]),
    ],
)
def test_gates_from_the_threshold_on_are_open_and_the_likeliest_in_any_case(
    alpha, threshold, at_least, gates
):
    assert hard_gates(torch.tensor(alpha), threshold, at_least).tolist() == gates
    if not at_least:
        depth = depth_of(torch.tensor(alpha), threshold)
        assert depth.by_task == tuple(sum(of_task) for of_task in gates)


def test_depth_counts_hard_gates_and_says_how_decided_they_are():
    assert depth_of(torch.zeros(2, 3), 0.5).by_task == (3, 3)
    alpha = torch.tensor([[0.05, -0.05, 2.0], [-0.2, -2.0, 0.0]])
    depth = depth_of(alpha, 0.5)
    assert depth.by_task == (2, 1)
    assert depth.effective_depth == 1.5
    assert depth.sum_p == pytest.approx(torch.sigmoid(alpha).sum().item() / 2)


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

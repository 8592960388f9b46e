"""Each equation of the method alone, then the class that wires them."""

import math

import pytest
import torch
from torch import Tensor
from torch.distributions import Bernoulli, kl_divergence

from fathom.methods import latent_layers as equations
from fathom.methods.latent_layers import LatentLayers
from tests.reference.small_networks import method

BOTH = torch.tensor([0, 1])
DRAWS = 100_000


def gates(side: str = "decoder", layers: int = 3, tasks: int = 2, **settings) -> LatentLayers:
    """Return the method of one stack."""
    return LatentLayers(layers, tasks, side, **method("latent_layers", **settings).settings)


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

    Nothing computes it: it follows from Eq. 2.
    """
    torch.manual_seed(2)
    weights = [torch.randn(4, 4, dtype=torch.float64) for _ in range(3)]
    gate = [0.3, 0.8, 0.5]
    start = torch.randn(4, dtype=torch.float64)

    def stack(x: Tensor, layers: int) -> Tensor:
        for weight, z in list(zip(weights, gate, strict=True))[:layers]:
            x = equations.gated_block(x, x + torch.tanh(weight @ x), z)
        return x

    whole = torch.autograd.functional.jacobian(lambda x: stack(x, 3), start)
    total = torch.eye(4, dtype=torch.float64)
    for m, z in enumerate(gate):
        block = lambda x, m=m: torch.tanh(weights[m] @ stack(x, m))  # noqa: E731
        total += z * torch.autograd.functional.jacobian(block, start)
    assert torch.allclose(whole, total, atol=1e-12)


def noise(count: int, seed: int = 1) -> Tensor:
    return equations.logistic_noise(count, torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("alpha", [-2.0, 0.0, 0.7])
@pytest.mark.parametrize("tau", [0.2, 1.0, 5.0])
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


def test_at_temperature_one_a_neutral_gate_is_uniform():
    z = equations.gumbel_sample(torch.tensor(0.0), noise(DRAWS), 1.0)
    for cut in (0.1, 0.25, 0.5, 0.9):
        deviation = math.sqrt(cut * (1 - cut) / DRAWS)
        assert abs((z < cut).float().mean().item() - cut) < 4 * deviation


@pytest.mark.parametrize("alpha", [1.0, 2.0])
def test_the_mean_at_temperature_one_has_a_closed_form_which_is_not_the_posterior(alpha):
    z = equations.gumbel_sample(torch.tensor(alpha), noise(DRAWS), 1.0)
    a = math.exp(alpha)
    mean = a * (a - 1 - alpha) / (a - 1) ** 2
    assert abs(z.mean().item() - mean) < 4 * z.std().item() / math.sqrt(DRAWS)


def test_samples_become_discrete_as_the_temperature_falls():
    z = equations.gumbel_sample(torch.tensor(0.3), noise(1000), 1e-4)
    assert ((z < 1e-3) | (z > 1 - 1e-3)).float().mean() > 0.99


def test_the_noise_is_finite_at_the_ends_of_the_uniform_draw():
    ends = torch.logit(torch.tensor([0.0, 1.0]), eps=torch.finfo(torch.float32).eps)
    assert torch.isfinite(ends).all()
    assert torch.isfinite(noise(DRAWS)).all()


LOGITS = [-100.0, -40.0, -20.0, -3.0, -0.5, 0.0, 0.7, 5.0, 20.0, 40.0, 100.0]


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (2.0, 1.0), (1.0, 3.0)])
def test_the_divergence_is_that_of_torch_distributions(a, b):
    """[latent_depth Eq. 4]"""
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


def test_the_divergence_has_its_closed_gradient():
    alpha = torch.tensor([0.7], dtype=torch.float64, requires_grad=True)
    equations.kl_divergence(alpha, (math.log(0.25), math.log(0.75))).backward()
    assert alpha.grad.item() == pytest.approx(0.398775, abs=1e-6)


def test_a_posterior_equal_to_its_prior_costs_nothing():
    alpha = torch.tensor([math.log(2.0)])
    assert equations.kl_divergence(alpha, equations.beta_prior(2.0, 1.0)).abs().item() < 1e-6
    assert equations.kl_divergence(torch.zeros(1), equations.beta_prior(1.0, 1.0)).item() == 0


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
    halves = torch.tensor([100.0, -100.0])[:, None].repeat(3, 4)
    assert torch.allclose(divergence_from_aggregate(halves), torch.tensor(math.log(2)))


def test_all_tasks_together_may_hold_the_aggregate_fixed():
    """Σ_n KL(q_n ‖ mean q) has the same gradient whether or not the mean is differentiated."""
    found = []
    for detached in (False, True):
        alpha = torch.linspace(-2, 3, 12, dtype=torch.float64).view(3, 4).requires_grad_()
        prior = equations.aggregated_posterior(alpha.detach() if detached else alpha)
        equations.kl_divergence(alpha, prior).sum().backward()
        found.append(alpha.grad)
    assert torch.allclose(*found, atol=1e-14)


# L_K, annealing, temperature, and the scale of the divergence


def test_the_depth_loss_is_the_distance_and_has_no_gradient_on_its_kink():
    u = torch.tensor([0.5, 0.75, 0.25], requires_grad=True)
    for target, distance, slope in ((1.0, 0.5, 1.0), (2.5, 1.0, -1.0), (1.5, 0.0, 0.0)):
        loss = equations.depth_loss(u, target)
        (gradient,) = torch.autograd.grad(loss, u)
        assert loss.item() == pytest.approx(distance)
        assert torch.equal(gradient, torch.full((3,), slope))


def test_the_depth_loss_agrees_with_finite_differences_off_its_kink():
    z = torch.rand(2, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda each: equations.depth_loss(equations.utilisation(each), 0.2), z
    )


def test_utilisation_is_the_mean_over_tasks():
    z = torch.tensor([[0.2, 1.0], [0.6, 0.0]])
    assert torch.allclose(equations.utilisation(z), torch.tensor([0.4, 0.5]))


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
    assert equations.annealed(2.0, update, start, length) == pytest.approx(expected)


def test_the_temperature_falls_geometrically_and_stays():
    assert equations.annealed_temperature(1.0, None, 50, 100) == 1.0
    assert equations.annealed_temperature(1.0, 0.01, 50, 100) == pytest.approx(0.1)
    assert equations.annealed_temperature(1.0, 0.01, 100, 100) == pytest.approx(0.01)
    assert equations.annealed_temperature(1.0, 0.01, 900, 100) == pytest.approx(0.01)


def test_the_three_scales_of_the_divergence():
    kl = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
    assert equations.scaled_kl(kl, "sum", 4.0).tolist() == [3.0, 8.0]
    assert equations.scaled_kl(kl, "mean", 4.0).tolist() == [1.5, 4.0]
    assert equations.scaled_kl(kl, "per_token", 4.0).tolist() == [0.75, 2.0]


# The class: losses


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


def test_a_token_scaled_divergence_is_spread_over_a_tasks_tokens():
    found = []
    for scale in ("sum", "per_token"):
        each = gates(kl_scale=scale)
        each.alpha.data.fill_(1.0)
        each.start_update(1, 1)
        found.append(each.losses(100, BOTH)["kl"].value.item())
    assert found[0] / found[1] == pytest.approx(50)


@pytest.mark.parametrize("tasks", [torch.tensor([0, 1, 2]), torch.tensor([0, 2])])
def test_in_the_aggregated_prior_absent_tasks_are_constants(tasks):
    each = gates(tasks=3, prior="aggregated")
    each.alpha.data = torch.tensor([[1.0, 2.0, 0.0], [4.0, -2.0, 1.0], [0.0, -1.0, 0.0]])
    each.start_update(1, 1)
    value = each.losses(100, tasks)["kl"].value
    value.backward()
    prior = equations.aggregated_posterior(each.alpha)
    expected = equations.kl_divergence(each.alpha, prior)[tasks].mean()
    assert torch.allclose(value, expected)
    rested = [task for task in range(3) if task not in tasks.tolist()]
    assert not each.alpha.grad[rested].any()


def test_the_depth_loss_takes_the_samples_that_the_network_took():
    each = gates(target_depth=0.25, depth_weight=0.3)
    each.start_update(1, 4)
    each.begin(BOTH)
    taken = each.sentence_gates.detach().squeeze().t()  # (B, L)
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


def test_the_divergences_weight_follows_the_updates():
    each = gates(kl_weight=2.0, kl_anneal_start=10, kl_anneal_length=10)
    weights = []
    for update in (1, 10, 15, 20, 21):
        each.start_update(1, update)
        weights.append(each.losses(100, BOTH)["kl"].weight)
    assert weights == pytest.approx([0.0, 0.0, 1.0, 2.0, 2.0])


# The class: what it reports


def test_phi_is_its_own_group():
    each = gates(inner_updates=5, phi_learning_rate_multiplier=10.0, phi_clip=0.5)
    (group,) = each.parameter_groups()
    assert group.parameters == (each.alpha,)
    assert (group.name, group.every, group.clip) == ("phi", 5, 0.5)
    assert (group.learning_rate_multiplier, group.rows_are_tasks) == (10.0, True)


def test_depth_counts_hard_gates_and_says_how_decided_they_are():
    each = gates()
    assert each.depth().by_task == (3, 3)
    each.alpha.data = torch.tensor([[0.05, -0.05, 2.0], [-2.0, -2.0, 0.0]])
    depth = each.depth()
    assert depth.by_task == (2, 1)
    assert depth.effective_depth == 1.5
    assert depth.undecided_share == pytest.approx(0.5)
    assert depth.mean_abs_alpha == pytest.approx(6.1 / 6)
    assert depth.sum_p == pytest.approx(torch.sigmoid(each.alpha).sum().item() / 2)
    assert depth.layers == 3


def test_diagnostics_are_the_logits_and_probabilities():
    found = gates(tasks=4).diagnostics()
    assert torch.equal(found["alpha"], torch.zeros(4, 3))
    assert torch.equal(found["p"], torch.full((4, 3), 0.5))

"""Masks of groups: the soft top-k, its gradient, noise and regularisers, and fixed masks."""

import itertools
import math

import pytest
import torch
from scipy.optimize import minimize
from torch import Tensor
from torch.distributions import Categorical, kl_divergence

from fathom.methods.fixed_group_dropout import FixedGroupDropout, fixed_masks
from fathom.methods.group_dropout import equations
from fathom.methods.group_dropout.method import GroupDropout
from fathom.methods.shared.group_masks import similarity, unit_masks, units_per_group
from tests.reference.padded.networks import padded_logits
from tests.reference.soft_masks import exact_root, logits
from tests.support.refused import refused
from tests.support.small_networks import batch, card, method, network, stack

DRAWS = 100_000
TAUS = (5.0, 0.5, 0.2, 0.05)


def top(x: Tensor, k: int, tau: float = 0.5) -> Tensor:
    return equations.soft_top_k(x, k, tau, equations.implicit_gradient)


def jacobian(x: Tensor, k: int, tau: float) -> Tensor:
    return torch.autograd.functional.jacobian(lambda each: top(each, k, tau), x)


# The soft top-k: its root and its minimum


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("k", [1, 8, 12, 15])
def test_the_root_is_that_of_another_finder(k, tau):
    """[lamgd Eq. 5], [lamgd Eq. 6]"""
    x = logits(20, 16)
    found = equations.root(x, k, tau)
    expected = torch.tensor([[exact_root(row, k, tau)] for row in x.tolist()], dtype=x.dtype)
    m = top(x, k, tau)
    assert torch.allclose(m, torch.sigmoid((x + expected) / tau), rtol=0, atol=1e-12)
    # Where all masks are nearly 0 or 1, the sum that the other finder takes does not tell the root.
    told = (m * (1 - m)).sum(dim=-1) > 1e-3
    assert told.sum() >= 5
    assert torch.allclose(found[told], expected[told], rtol=0, atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("tau", [100.0, *TAUS, 0.01, 1e-4])
@pytest.mark.parametrize("scale", [0.1, 3.0, 50.0])
def test_a_mask_sums_to_k_also_in_single_precision(tau, scale):
    x = logits(200, 16, scale=scale)
    for k in range(17):
        assert (top(x, k, tau).sum(dim=-1) - k).abs().max() < 1e-9
        assert (top(x.float(), k, tau).double().sum(dim=-1) - k).abs().max() < 1e-6
    assert top(x.float(), 12, tau).dtype == torch.float32


@pytest.mark.parametrize(("k", "tau"), [(1, 0.5), (4, 0.5), (3, 2.0)])
def test_the_mask_is_the_minimum_that_the_paper_states(k, tau):
    """[lamgd Eq. 4]"""
    x = logits(6, scale=1.0)

    def value(m: Tensor) -> Tensor:
        return -(x * m).sum() + tau * (torch.xlogy(m, m) + torch.xlogy(1 - m, 1 - m)).sum()

    found = minimize(
        lambda m: value(torch.from_numpy(m)).item(),
        [k / 6] * 6,
        method="SLSQP",
        bounds=[(1e-9, 1 - 1e-9)] * 6,
        constraints={"type": "eq", "fun": lambda m: m.sum() - k},
        options={"ftol": 1e-14},
    )
    assert torch.allclose(top(x, k, tau), torch.from_numpy(found.x), atol=1e-4)
    assert value(top(x, k, tau)).item() <= found.fun + 1e-9


# The soft top-k: limits and symmetries


def test_none_and_all_are_kept_exactly_and_without_gradient():
    x = logits(3, 16).float().requires_grad_()
    for k, value in ((0, 0.0), (16, 1.0)):
        mask = top(x, k)
        assert torch.equal(mask, torch.full((3, 16), value))
        (gradient,) = torch.autograd.grad(mask, x, torch.randn(3, 16))
        assert not gradient.any()


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("k", [1, 5, 12])
def test_symmetries_of_the_soft_top_k(k, tau):
    x = logits(30, 16)
    mask = top(x, k, tau)
    order = torch.randperm(16)
    assert torch.allclose(top(-x, 16 - k, tau), 1 - mask, atol=1e-12)
    assert torch.allclose(top(x[:, order], k, tau), mask[:, order], atol=1e-12)
    assert torch.allclose(top(3.5 * x, k, 3.5 * tau), mask, atol=1e-12)
    for shift in (-120.0, 0.3, 120.0, 1e4):
        assert torch.allclose(top(x + shift, k, tau), mask, atol=1e-9)
    rising = mask.gather(-1, x.argsort(dim=-1))
    assert (rising.diff(dim=-1) >= 0).all()
    assert ((mask >= 0) & (mask <= 1)).all()


def test_a_low_temperature_gives_the_hard_mask_with_half_the_gap_at_its_edge():
    x = torch.tensor([2.0, -1.0, 0.52, 0.5, 4.0, -3.0], dtype=torch.float64)
    assert torch.allclose(top(x, 3, 1e-5), equations.hard_top_k(x, 3), atol=1e-12)
    for tau in (0.02, 0.01, 1e-3, 1e-4):
        edge = 1 / (1 + math.exp(-0.02 / (2 * tau)))
        assert top(x, 3, tau)[2].item() == pytest.approx(edge, abs=1e-9)
        # At the lowest, the sum rounds to k on a stretch about the root.
        error = 1e-9 if tau > 1e-3 else 5e-3
        assert equations.root(x, 3, tau).item() == pytest.approx(-0.51, abs=error)


@pytest.mark.parametrize("tau", [0.01, 1e-4, 1e-8])
def test_equals_across_the_last_place_stay_soft(tau):
    found = top(torch.tensor([3.0, 2.0, 2.0, 1.0]), 2, tau)
    assert torch.allclose(found, torch.tensor([1, 0.5, 0.5, 0]), atol=1e-6)
    # Three equals share the two places that are left.
    found = top(torch.tensor([2.0, 9.0, 2.0, 2.0, 1.0]), 3, tau)
    assert torch.allclose(found, torch.tensor([2 / 3, 1, 2 / 3, 2 / 3, 0]), atol=1e-6)


def test_a_batch_is_its_rows_one_by_one_to_the_bit():
    x = logits(3, 4, 16).requires_grad_()
    upstream = logits(3, 4, 16, seed=2)
    whole = top(x, 12, 0.2)
    (gradient,) = torch.autograd.grad(whole, x, upstream)
    for place in itertools.product(range(3), range(4)):
        row = x[place].detach().requires_grad_()
        mask = top(row, 12, 0.2)
        assert torch.equal(mask, whole[place])
        assert torch.equal(torch.autograd.grad(mask, row, upstream[place])[0], gradient[place])


# The soft top-k: its gradient


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("k", [1, 3, 5])
def test_the_gradient_agrees_with_finite_differences(k, tau):
    """[lamgd Eq. 7]"""
    x = logits(2, 3, 6, scale=0.5).requires_grad_()
    # Differences of 1e-6 over a curvature of 1 / τ².
    assert torch.autograd.gradcheck(lambda each: top(each, k, tau), x, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("tau", TAUS)
def test_the_jacobian_has_its_closed_form_and_loses_no_mass(tau):
    """[lamgd Eq. 7]"""
    x = logits(16)
    found, m = jacobian(x, 12, tau), top(x, 12, tau)
    w = m * (1 - m)
    assert torch.allclose(found, (torch.diag(w) - torch.outer(w, w) / w.sum()) / tau, atol=1e-12)
    assert torch.allclose(found, found.t(), atol=1e-14)
    assert torch.linalg.eigvalsh(found).min() > -1e-12
    assert found.sum(dim=0).abs().max() < 1e-12


def test_gradients_are_finite_where_slopes_underflow():
    x = torch.linspace(-300, 300, 16).requires_grad_()
    for tau in (0.2, 1e-3, 1e-30):
        for gradient in equations.GRADIENTS.values():
            mask = equations.soft_top_k(x, 12, tau, gradient)
            (found,) = torch.autograd.grad(mask, x, torch.arange(16.0))
            assert torch.isfinite(found).all()
            assert tau > 0.01 or not found.any()


def test_the_projected_jacobian_lacks_the_slope():
    x, upstream = logits(2000, 16).requires_grad_(), logits(2000, 16, seed=2)
    m = top(x, 12, 0.2)
    w = (m * (1 - m)).detach()
    own = torch.autograd.grad(m, x, upstream)[0]
    mask = equations.soft_top_k(x, 12, 0.2, equations.projected_gradient)
    found = torch.autograd.grad(mask, x, upstream)[0]
    one = torch.eye(16, dtype=torch.float64) - (w / w.sum(dim=-1, keepdim=True)).unsqueeze(1)
    assert torch.allclose(found, torch.einsum("bi,bij->bj", upstream, one), atol=1e-9)
    assert torch.equal(mask, m)
    assert 0.3 < torch.cosine_similarity(found, own).mean() < 0.9


# Entropy, and the bound that is none


def set_divergence(phi: list[float], k: int) -> float:
    """Return KL from the uniform distribution over sets of k drawn without replacement (nats)."""
    p = torch.softmax(torch.tensor(phi, dtype=torch.float64), dim=0).tolist()
    sets: dict[frozenset, float] = {}
    for order in itertools.permutations(range(len(p)), k):
        chance, left = 1.0, 1.0
        for each in order:
            chance, left = chance * p[each] / left, left - p[each]
        sets[frozenset(order)] = sets.get(frozenset(order), 0.0) + chance
    assert sum(sets.values()) == pytest.approx(1)
    return math.log(len(sets)) + sum(each * math.log(each) for each in sets.values())


@pytest.mark.parametrize(
    ("phi", "k", "rate", "claimed"),
    [([0, 0, 0, -8], 3, 1.380, 0.287), ([3, 3, 3, 3, -3, -3], 4, 2.629, 1.313)],
)
def test_the_claimed_bound_of_the_rate_does_not_hold(phi, k, rate, claimed):
    """[lamgd Eq. 3]"""
    bound = math.log(math.comb(len(phi), k)) - equations.entropy(torch.tensor(phi) + 0.0).item()
    assert set_divergence(phi, k) == pytest.approx(rate, abs=1e-3)
    assert bound == pytest.approx(claimed, abs=1e-3)
    # Near equal logits it does.
    near = [each / 100 for each in phi]
    assert set_divergence(near, k) < math.log(math.comb(len(phi), k)) - 1.38


# [lamgd entropy]
def test_the_entropy_is_largest_at_equal_logits_and_has_its_closed_gradient():
    phi = logits(100, 16).requires_grad_()
    found = equations.entropy(phi)
    assert torch.allclose(found, Categorical(logits=phi).entropy())
    assert ((found >= 0) & (found < math.log(16))).all()
    p = torch.softmax(phi, dim=-1).detach()
    expected = -p * (p.log() + found.detach().unsqueeze(-1))
    assert torch.allclose(torch.autograd.grad(found.sum(), phi)[0], expected, atol=1e-12)
    zero = torch.zeros(16, dtype=torch.float64, requires_grad=True)
    assert equations.entropy(zero).item() == pytest.approx(math.log(16))
    assert torch.autograd.grad(equations.entropy(zero), zero)[0].abs().max() < 1e-15
    assert equations.entropy(torch.tensor([0.0, -1e4])).item() == 0


def test_the_uniform_divergence_is_that_of_torch():
    phi = logits(10, 16)
    expected = kl_divergence(Categorical(logits=torch.zeros_like(phi)), Categorical(logits=phi))
    assert torch.allclose(equations.uniform_divergence(phi), expected)


# Noise, hard masks, temperature


def test_the_noisy_top_k_samples_without_replacement():
    """[lamgd Eq. 2]"""
    phi = torch.tensor([1.0, 0.0, -1.0, 0.5]).double()
    p = torch.softmax(phi, dim=0)
    noise = equations.gumbel_noise(DRAWS, 4, torch.Generator().manual_seed(5))
    order = (phi + noise).argsort(dim=-1, descending=True)

    def agrees(found: Tensor, chance: float) -> bool:
        return (
            abs(found.double().mean().item() - chance) < 4 * (chance * (1 - chance) / DRAWS) ** 0.5
        )

    for i in range(4):
        assert agrees(equations.hard_top_k(phi + noise, 1)[:, i], p[i].item())
    for i, j in itertools.permutations(range(4), 2):
        chance = (p[i] * p[j] / (1 - p[i])).item()
        assert agrees((order[:, 0] == i) & (order[:, 1] == j), chance)
        back = (p[j] * p[i] / (1 - p[j])).item()
        kept = equations.hard_top_k(phi + noise, 2)
        assert agrees(kept[:, i] * kept[:, j], chance + back)


def test_noise_is_finite_where_the_draw_is_0_or_next_to_1(monkeypatch):
    ends = torch.tensor([[0.0, 1 - 2**-53]], dtype=torch.float64)
    monkeypatch.setattr(torch, "rand", lambda *_, **__: ends)
    assert torch.isfinite(equations.gumbel_noise(1, 2, torch.Generator())).all()


def test_of_equals_the_first_are_kept():
    x = torch.tensor([[0.0] * 16, [1.0] * 8 + [2.0] * 8])
    expected = torch.tensor([[1.0] * 12 + [0.0] * 4, [1.0] * 4 + [0.0] * 4 + [1.0] * 8])
    assert torch.equal(equations.hard_top_k(x, 12), expected)
    assert equations.hard_top_k(x, 0).sum() == 0


def test_the_temperature_falls_to_its_end_and_stays():
    """[lamgd tau]"""

    def tau(update: int, every: int = 1) -> float:
        return equations.temperature(update, 0.5, 0.2, 1e-4, every)

    assert tau(0) == 0.5
    assert 0.2 < tau(9162) == pytest.approx(0.5 * math.exp(-0.9162))
    assert tau(9163) == tau(10**6) == 0.2
    assert tau(999, every=1000) == 0.5
    assert tau(1999, every=1000) == tau(1000) < 0.5


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


def test_groups_that_cannot_be_made_are_refused():
    with refused("17 of 16 groups cannot be on"):
        dropout(active=17)
    with refused("units cannot be divided into 12 equal groups"):
        dropout(groups=12, active=3)
    with refused("units cannot be divided into"):
        FixedGroupDropout(stack(width=40), **CARD)
    with refused("7 tasks need 17 groups, and there are 16"):
        of_paper(tasks=7)


def test_a_unit_has_the_mask_of_its_group():
    """[lamgd r]"""
    masks = torch.rand(3, 4, 5)  # tasks, sites, groups
    found = unit_masks(masks, units_per_group(20, 5))
    assert found.shape == (4, 3, 20)
    for site, task, unit in itertools.product(range(4), range(3), range(20)):
        assert found[site, task, unit] == masks[task, site, unit * 5 // 20]


def test_similarity_counts_the_groups_that_both_keep():  # [lamgd similarity]
    a = torch.tensor([[1, 1, 0, 0], [1, 0, 1, 0]])
    b = torch.tensor([[1, 0, 1, 0], [1, 0, 1, 0]])
    c = torch.tensor([[0, 0, 1, 1], [0, 1, 0, 1]])
    expected = torch.tensor([[1, 0.75, 0], [0.75, 1, 0.25], [0, 0.25, 1]])
    assert torch.equal(similarity(torch.stack([a, b, c])).float(), expected)


CARD = method("fixed_group_dropout").settings


def of_paper(tasks: int = 6, side: str = "encoder") -> FixedGroupDropout:
    return FixedGroupDropout(stack(side, layers=6, tasks=tasks, width=512), **CARD)


def masks_of_tasks(each: FixedGroupDropout) -> torch.Tensor:
    """Return the mask of each task over units, (N, D)."""
    each.begin(torch.arange(each.stack.tasks))
    return each.source(0, [torch.ones(1, each.stack.tasks, 512)])[0]


def test_a_task_keeps_352_of_512_units_of_which_320_are_all_tasks():
    masks = masks_of_tasks(of_paper())
    assert masks.shape == (6, 512)
    assert masks.unique().tolist() == [0, 1]
    for task in range(6):
        kept = set(masks[task].nonzero().squeeze(1).tolist())
        assert kept == set(range(320)) | set(range(320 + 32 * task, 352 + 32 * task))
    overlaps = masks @ masks.t()
    assert overlaps.unique().tolist() == [320, 352]
    assert overlaps.diagonal().tolist() == [352] * 6
    # Six tasks leave no unit over.
    assert masks.amax(dim=0).sum() == 512


def test_tasks_have_several_groups_of_their_own_one_after_another():
    assert fixed_masks(8, 16, 0, 2).sum() == 16
    assert fixed_masks(3, 8, 2, 2).tolist() == [
        [1, 1, 1, 1, 0, 0, 0, 0],
        [1, 1, 0, 0, 1, 1, 0, 0],
        [1, 1, 0, 0, 0, 0, 1, 1],
    ]


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_inputs_of_layers_are_masked_and_what_leaves_the_stack_is_not(side):
    each = of_paper(side=side)
    each.begin(torch.tensor([3, 0]))
    outputs = [torch.randn(5, 2, 512) for _ in range(7)]
    expected = torch.stack([fixed_masks(6, 16, 10, 1)[task] for task in (3, 0)])
    for layer in range(6):
        found = each.source(layer, outputs[: layer + 1])
        assert torch.equal(found, outputs[layer] * expected.repeat_interleave(32, dim=1))
    assert each.source(6, outputs) is outputs[6]
    assert all(memory is outputs[6] for memory in each.memory(outputs, 3))


def test_masks_are_the_same_in_training_and_at_inference_and_in_every_update():
    model = network(method("fixed_group_dropout", shared_groups=8, own_groups=4))
    source, previous, _ = batch([(5, 4), (3, 6)])
    tasks = torch.tensor([1, 0])
    model.start_update(1, 1)
    first = padded_logits(model, source, previous, tasks)
    model.start_update(1, 2)
    assert torch.equal(padded_logits(model, source, previous, tasks), first)
    assert torch.allclose(padded_logits(model.eval(), source, previous, tasks), first, atol=1e-6)
    assert not torch.allclose(padded_logits(model, source, previous, 1 - tasks), first, atol=1e-2)

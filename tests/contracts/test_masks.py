"""The groups that a task keeps, in the network: where masks act, what is random, whom they move."""

import pytest
import torch
from torch import Tensor

from fathom.methods.group_dropout import equations
from fathom.methods.group_dropout.method import GroupDropout
from tests.reference.padded.networks import padded_logits
from tests.reference.soft_masks import exact_root, logits
from tests.support.small_networks import batch, card, method, network, nll, stack

RELEASED = card("group_dropout").about.presets["as_released"]
LENGTHS = [(5, 4), (3, 6), (7, 2), (4, 4)]
TASKS = torch.tensor([0, 1, 1, 0])


def dropout(side: str = "encoder", tasks: int = 3, seed: int = 1, **settings) -> GroupDropout:
    """Return the method of one stack of three layers in update 1, with logits that are not 0."""
    each = GroupDropout(stack(side, tasks=tasks), **method("group_dropout", **settings).settings)
    each.phi.data = logits(*each.phi.shape, seed=3).float()
    each.start_update(seed, 1)
    return each


def factors(each: GroupDropout, tasks: Tensor) -> list[Tensor]:
    """Return what multiplies the units of each sentence at layers 0 … L, (B, D) each."""
    each.begin(tasks)
    ones = torch.ones(1, len(tasks), 16)
    return [each.source(layer, [0 * ones, ones])[0] for layer in range(4)]


def test_the_inputs_of_layers_are_masked_and_what_leaves_the_stack_is_not():
    for side in ("encoder", "decoder"):
        each = dropout(side)
        found = factors(each, TASKS)
        assert each.phi.shape == (3, 3, 16)
        for layer in range(3):
            assert torch.equal(found[layer], each.masks()[TASKS, layer])
        assert torch.equal(found[3], torch.ones(4, 16))


def test_as_released_outputs_are_masked_wherever_they_are_read():
    encoder, decoder = dropout("encoder", **RELEASED), dropout("decoder", **RELEASED)
    assert (encoder.phi.size(1), decoder.phi.size(1)) == (4, 3)
    found = factors(encoder, TASKS)
    for layer in range(4):
        assert torch.equal(found[layer], encoder.masks()[TASKS, layer])
    memory = encoder.memory([torch.ones(1, 4, 16)] * 4, 2)
    assert all(torch.equal(each[0], encoder.masks()[TASKS, 3]) for each in memory)
    found = factors(decoder, TASKS)
    assert torch.equal(found[0], torch.ones(4, 16))
    for layer in range(1, 4):
        assert torch.equal(found[layer], decoder.masks()[TASKS, layer - 1])


def test_masks_are_shared_by_a_tasks_sentences_and_fresh_in_each_update():
    each = dropout()
    found = factors(each, TASKS)[0]
    assert torch.equal(found[0], found[3])
    assert torch.equal(found[1], found[2])
    assert not torch.allclose(found[0], found[1], atol=0.1)
    each.start_update(1, 2)
    again = factors(each, TASKS)[0]
    assert not torch.allclose(again, found, atol=0.1)
    each.start_update(1, 1)
    assert torch.equal(factors(each, TASKS)[0], found)


def test_noise_differs_by_seed_side_task_and_site_and_not_by_the_number_of_tasks():
    kinds = (dropout(), dropout(seed=2), dropout("decoder"))
    rows = torch.cat([each.noise.flatten(0, 1) for each in kinds])
    assert len(rows.unique(dim=0)) == len(rows)
    assert torch.equal(dropout(tasks=2).noise, dropout().noise[:2])


def test_inference_takes_the_hard_mask_of_the_logits_and_no_randomness():
    for settings in ({}, RELEASED):
        each = dropout(**settings).eval()
        each.noise = None
        state = torch.get_rng_state()
        assert torch.equal(each.masks(), equations.hard_top_k(each.phi, 12))
        assert torch.equal(torch.get_rng_state(), state)
        assert torch.equal(each.diagnostics()["masks"].values, each.masks())
        each.phi.data.zero_()
        assert torch.equal(each.masks(), torch.tensor([1.0] * 12 + [0.0] * 4).expand_as(each.phi))


def test_an_update_must_be_started_before_training():
    each = GroupDropout(stack(), **method("group_dropout").settings)
    with pytest.raises(RuntimeError, match="start_update"):
        each.begin(TASKS)


def jacobian_rows(x: Tensor, tau: float, projected: bool) -> tuple[Tensor, Tensor]:
    """Return m̂ of one site and its Jacobian, the paper's or the released one, by plain means."""
    v = exact_root(x.tolist(), 3, tau)
    m = 1 / (1 + torch.exp(-(x + v) / tau))
    w = m * (1 - m)
    shares = (w / w.sum()).expand(len(x), -1)
    identity = torch.eye(len(x), dtype=x.dtype)
    return m, identity - shares if projected else torch.diag(w / tau) @ (identity - shares)


@pytest.mark.parametrize("settings", [{}, RELEASED])
def test_the_gradients_of_an_update_are_the_algorithms(settings):
    """[lamgd Alg. 1]"""
    weight = {"groups": 4, "active": 3, "regulariser_weight": 0.3}
    model = network(method("group_dropout", **(settings | weight))).double()
    for side, each in model.methods.items():
        each.phi.data = logits(*each.phi.shape, seed=len(side))
    model.start_update(1, 2)
    source, previous, target = batch(LENGTHS)
    present = TASKS.unique()
    objective = nll(padded_logits(model, source, previous, TASKS), target)
    for each in model.methods.values():
        for loss in each.losses(1, present).values():
            objective = objective + loss.weight * loss.value
    objective.backward()
    taken = {}
    for side, each in model.methods.items():
        x = each.phi.detach() + each.noise
        rows = [jacobian_rows(row, each.tau, bool(settings)) for row in x.flatten(0, 1)]
        masks = torch.stack([m for m, _ in rows]).view_as(x)
        if settings:
            masks = equations.hard_top_k(each.phi.detach(), 3)
        taken[side] = masks.requires_grad_(), torch.stack([j for _, j in rows]).view(*x.shape, 4)
        each.masks = lambda masks=masks: masks
    distortion = nll(padded_logits(model, source, previous, TASKS), target)
    by_mask = torch.autograd.grad(distortion, [masks for masks, _ in taken.values()])
    for (side, each), upstream in zip(model.methods.items(), by_mask, strict=True):
        through = torch.einsum("nsi,nsij->nsj", upstream, taken[side][1])
        p = torch.softmax(each.phi.detach(), dim=-1)
        rate = p - 1 / 4 if settings else p * (p.log() - (p * p.log()).sum(dim=-1, keepdim=True))
        assert torch.allclose(each.phi.grad, through + 0.3 / 2 * rate, atol=1e-9)

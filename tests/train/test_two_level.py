"""An update against Algorithm 2 written out, and what moves in it."""

import re
from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from fathom.data.tensors import PAD
from fathom.nn.hooks import Loss
from fathom.train.two_level import objective
from tests.reference.padded.networks import padded_logits
from tests.support.small_runs import Run, latent, specification, without_dropout


def test_gates_are_sampled_once_an_update_for_all_its_micro_batches(tensors):
    """The released code samples in each forward pass."""
    run = Run(latent(), tensors)
    method, noise = run.network.decoder.method, []
    predict = run.network.predict

    def watched(batch):
        noise.append(method.noise.clone())
        return predict(batch)

    run.network.predict = watched
    for number in (1, 2):
        run.update(number, micro=4)
    first, second = noise[:4], noise[4:]
    assert len(first) == len(second) == 4
    assert all(torch.equal(sample, first[0]) for sample in first)
    assert all(torch.equal(sample, second[0]) for sample in second)
    assert not torch.equal(first[0], second[0])


def written_out(network, batch):
    """Return the objective of an update of three tasks from the paper's own terms, in one pass.

    β is 0.7, the KL of each task over its tokens, λ is 0.3 and K is 1 in the decoder, ε is 0.1.
    """
    logits = padded_logits(network, batch.source, batch.previous_target, batch.tasks)
    log_p, real = torch.log_softmax(logits, dim=-1), batch.target.ne(PAD)
    smooth = torch.full_like(log_p, 0.1 / (log_p.size(-1) - 1))
    smooth.scatter_(2, batch.target[..., None], 0.9)
    objective = -(smooth * log_p).sum(dim=-1)[real].sum() / real.sum()
    for method in network.methods.values():
        q = torch.sigmoid(method.alpha)
        kl = (q * (2 * q).log() + (1 - q) * (2 - 2 * q).log()).sum(dim=1)
        objective = objective + 0.7 * (kl / (real.sum() / 3)).mean()
    z = torch.sigmoid(network.decoder.method.alpha + network.decoder.method.noise)
    return objective + 0.3 * (z.mean(dim=0).sum() - 1).abs()


def step(adam, parameters, clip, rate):
    torch.nn.utils.clip_grad_norm_(parameters, clip)
    adam.param_groups[0]["lr"] = rate
    adam.step()


# [latent_depth Alg. 2]
def test_updates_are_those_of_the_algorithm_written_out(tensors):
    spec = latent(
        kl_weight=0.7, kl_scale="per_token", depth_weight=0.3, inner_updates=2,
        phi_learning_rate_multiplier=3.0, phi_clip=0.01,
    )  # fmt: skip
    ours, plain = (Run(without_dropout(spec), tensors) for _ in range(2))
    phi = [method.alpha for method in plain.network.methods.values()]
    theta = [each for name, each in plain.network.named_parameters() if "alpha" not in name]
    groups = [theta, *([alpha] for alpha in phi)]
    adams = [torch.optim.Adam(each, betas=(0.9, 0.98), eps=1e-6) for each in groups]
    for number in range(1, 6):
        result = ours.update(number, micro=3)
        plain.network.start_update(1, number)
        objective = written_out(plain.network, plain.micro_batches(number).batches[0])
        assert result.numbers()["loss"] == pytest.approx(objective.item(), abs=1e-4)
        plain.network.zero_grad()
        objective.backward()
        rate = 5.0e-3 * min(number / 4, (4 / number) ** 0.5)
        step(adams[0], theta, 1.0, rate)
        if number % 2 == 0:
            for adam, alpha in zip(adams[1:], phi, strict=True):
                step(adam, [alpha], 0.01, 3 * rate)
    found = dict(ours.network.named_parameters())
    for name, value in plain.network.named_parameters():
        if not name.endswith("k_proj.bias"):
            torch.testing.assert_close(found[name], value, atol=1e-3, rtol=0, msg=name)
    for one, alpha in zip((each.alpha for each in ours.network.methods.values()), phi, strict=True):
        torch.testing.assert_close(one, alpha, atol=1e-5, rtol=0)


def test_an_update_of_phi_computes_no_product_more(tensors):
    """So `fathom plan` counts updates of Θ alone."""
    operations = []
    for every in (1, 3):
        run = Run(latent(inner_updates=every), tensors)
        with FlopCounterMode(display=False) as counter:
            for number in range(1, 4):
                run.update(number)
        operations.append(counter.get_total_flops())
    assert operations[0] == operations[1] > 0


def test_phi_takes_the_gradient_of_its_last_inner_update_alone(tensors):
    whole, last = (Run(latent(inner_updates=2), tensors) for _ in range(2))
    whole.update(1)
    # The other run makes update 1 for Θ alone: φ's gradient of it must not have counted.
    two_level = last.two_level
    groups, two_level.phi, two_level.phi_adam = (two_level.phi, two_level.phi_adam), [], []
    last.update(1)
    two_level.phi, two_level.phi_adam = groups
    whole.update(2)
    last.update(2)
    assert torch.equal(whole.network.decoder.method.alpha, last.network.decoder.method.alpha)


ONE_TASK = {"training": {"tasks_per_update": 1}}
OF_A_TASK = [
    latent(ONE_TASK),
    latent(ONE_TASK, inner_updates=2),
    specification("group_dropout", ("encoder", "decoder"), ONE_TASK, groups=4, active=3),
    specification("adapters", ("encoder", "decoder"), ONE_TASK, bottleneck=8),
]


def of_task(run, task):
    """Return copies of what belongs to a task: rows of gates or masks, or its adapters."""
    own = dict(run.network.named_parameters())
    values = [value[task] for name, value in own.items() if name.endswith(("alpha", "phi"))]
    values += [value for name, value in own.items() if re.search(rf"adapters\.\d+\.{task}\.", name)]
    return [value.detach().clone() for value in values]


# [lamgd Alg. 1]
@pytest.mark.parametrize("spec", OF_A_TASK, ids=lambda spec: spec.method.name)
def test_an_update_of_one_task_moves_what_belongs_to_that_task_alone(tensors, spec):
    run, moved = Run(spec, tensors), set()
    every = spec.method.settings.get("inner_updates", 1)
    for number in range(1, 10):
        before = [of_task(run, task) for task in range(3)]
        parts = run.micro_batches(number, micro=2)
        [present] = parts.tasks.tolist()
        run.two_level.update(number, parts)
        for task, old in enumerate(before):
            same = all(map(torch.equal, of_task(run, task), old))
            assert same == (task != present or number % every > 0)
        moved.add(present)
    assert moved == {0, 1, 2}


def test_the_regulariser_of_an_update_of_one_task_is_that_of_its_task(tensors):
    run = Run(OF_A_TASK[2], tensors)
    for method in run.network.methods.values():
        torch.nn.init.normal_(method.phi)
    parts = run.micro_batches(1, micro=2)
    [task] = parts.tasks.tolist()
    losses = run.two_level.losses(parts)
    for side, method in run.network.methods.items():
        p = torch.softmax(method.phi[task], dim=-1)
        torch.testing.assert_close(losses[f"{side}_entropy"].value, (p * p.log()).sum())


# How many bits a number has.
HALVES = pytest.mark.parametrize(("precision", "bits"), [("bf16", 8), ("fp16", 11)])


@HALVES
def test_half_precision_computes_nearly_the_same_and_keeps_weights_in_full(
    tensors, precision, bits
):
    half = latent({"training": {"precision": precision}})
    full, low = (Run(spec, tensors) for spec in (latent(), half))
    one, other = full.update(1), low.update(1)
    ours, theirs = one.numbers()["nll"], other.numbers()["nll"]
    assert ours != theirs
    assert ours == pytest.approx(theirs, rel=2 ** (1 - bits))
    assert {each.dtype for each in low.network.parameters()} == {torch.float32}
    assert {name: loss.value for name, loss in one.losses.items()} == {
        name: loss.value for name, loss in other.losses.items()
    }


@HALVES
def test_half_precision_learns_as_full_precision_does(tensors, precision, bits):
    half = latent({"training": {"precision": precision}})
    both = [Run(spec, tensors) for spec in (latent(), half)]
    curves = [[run.update(number).numbers()["nll"] for number in range(1, 13)] for run in both]
    assert curves[1] == pytest.approx(curves[0], rel=2 ** (-1 - bits))
    assert curves[1][-1] < curves[1][0] - 0.3


def test_an_overflow_moves_nothing_and_halves_the_loss_scale_until_there_is_none(
    tensors, loss_scale
):
    run = Run(latent(), tensors)
    weights = {name: value.clone() for name, value in run.network.state_dict().items()}
    scales, number = [], 0
    while not (result := run.update(number := number + 1)).gradient_norm.isfinite():
        assert result.nll.isfinite()
        for name, value in run.network.state_dict().items():
            assert torch.equal(value, weights[name]), name
        scales.append(result.numbers()["loss_scale"])
    assert scales == [2.0 ** (126 - each) for each in range(len(scales))] != []
    assert result.numbers()["loss_scale"] == scales[-1]
    moved = {
        name for name, value in run.network.state_dict().items() if value.ne(weights[name]).any()
    }
    assert {"encoder.method.alpha", "encoder.layers.0.fc1.weight"} <= moved


def test_a_rate_factor_multiplies_the_rates_of_theta_and_phi(tensors):
    results = []
    for factor in (1.0, 4.0):
        run = Run(latent({"training": {"rate_factor": factor}}), tensors)
        alpha = run.network.decoder.method.alpha
        before = alpha.detach().clone()
        results.append((run.update(1).learning_rate, (alpha - before).abs().max().item()))
    assert results[1] == pytest.approx([4 * each for each in results[0]], rel=1e-3)


def drawn_for_dropout(tensors, seed=1, update=1, numbers=()):
    """Return the first draws of the stream from which an update's dropout comes."""
    run, drawn = Run(specification(), tensors, seed), []

    def look_ahead(*_):
        with torch.random.fork_rng(devices=[]):
            drawn.append(torch.rand(8))

    run.network.encoder.embed_tokens.register_forward_pre_hook(look_ahead)
    run.two_level.update(update, replace(run.micro_batches(update), numbers=numbers))
    return drawn[0]


def test_dropout_repeats_and_differs_by_seed_update_and_micro_batch(tensors):
    first = drawn_for_dropout(tensors)
    assert torch.equal(first, drawn_for_dropout(tensors))
    assert torch.equal(first, drawn_for_dropout(tensors, numbers=(0,)))
    # Other draws, not only other seeds: torch's generator on the CPU knows 32 bits of a seed.
    for other in ({"seed": 2}, {"update": 2}, {"numbers": (1,)}):
        assert not torch.equal(first, drawn_for_dropout(tensors, **other)), other


def test_a_gradient_that_is_not_finite_moves_nothing(tensors):
    run = Run(specification(), tensors)
    with torch.no_grad():
        run.network.decoder.embed_tokens.weight[5] = float("inf")
    before = run.network.encoder.embed_tokens.weight.detach().clone()
    result = run.update(1)
    assert not result.gradient_norm.isfinite()
    assert torch.equal(before, run.network.encoder.embed_tokens.weight)


def test_layers_dropped_in_an_update_do_not_move(tensors):
    run = Run(specification("layerdrop", ("encoder", "decoder"), p=0.5), tensors)
    for number in range(1, 5):
        run.network.start_update(1, number)
        kept = list(run.network.decoder.method.active_layers)
        before = [layer.fc1.weight.detach().clone() for layer in run.network.decoder.layers]
        run.update(number)
        after = [layer.fc1.weight for layer in run.network.decoder.layers]
        rested = [torch.equal(a, b) for a, b in zip(before, after, strict=True)]
        assert rested == [not each for each in kept]


def test_an_update_reads_nothing_from_the_device_and_its_numbers_together(tensors, monkeypatch):
    run, reads = Run(latent(), tensors), []
    for name in ("tolist", "item", "__float__", "__bool__", "__int__"):
        real = getattr(torch.Tensor, name)

        def read(tensor, real=real, name=name):
            # What is on the CPU anyway is not read from a device: tasks and their number.
            if tensor.requires_grad or tensor.is_floating_point():
                reads.append(name)
            return real(tensor)

        monkeypatch.setattr(torch.Tensor, name, read)
    parts = run.micro_batches(1)
    reads.clear()
    result = run.two_level.update(1, parts)
    assert reads == []
    numbers = result.numbers()
    assert reads == ["tolist"]
    assert numbers["nll"] == float(result.nll)
    assert numbers["gradient_norm_phi"] == float(result.gradient_norm_phi)


def test_the_methods_losses_are_weighted_and_added_and_a_weight_of_zero_leaves_one_out():
    values = {"a": (2.0, 0.5), "b": (4.0, 0.25), "c": (float("inf"), 0.0)}
    losses = {name: Loss(torch.tensor(value), weight) for name, (value, weight) in values.items()}
    assert float(objective(torch.tensor(6.0), 10, losses)) == pytest.approx(2.6)
    for none in ({}, {"c": losses["c"]}):
        assert float(objective(torch.tensor(4.0), 10, none)) == pytest.approx(0.4)

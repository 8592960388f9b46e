"""An update against Algorithm 2 written out, its optimisers, clipping, and learning rates."""

import inspect
import math
import re
from dataclasses import replace
from typing import get_args

import pytest
import torch
from fairseq.dataclass.configs import CommonConfig
from fairseq.optim.dynamic_loss_scaler import DynamicLossScaler
from fairseq.optim.fp16_optimizer import FP16Optimizer
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from docs.evidence import highest_rate
from fathom.config.schedules import (
    SCHEDULES,
    inverse_sqrt,
    learning_rate,
    noam,
    polynomial,
    replica_ramp,
)
from fathom.config.schema.run import Adam, InverseSqrt, Noam, Polynomial, TrainingSettings
from fathom.nn.hooks import Loss, ParameterGroup
from fathom.train.optimisers import AdamW, LazyAdam, LossScale, clip, clip_each, rate_of, theta_adam
from fathom.train.two_level import objective
from tests.reference import algorithm_two
from tests.support.small_runs import Run, latent, rate, specification, without_dropout


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


# [latent_depth Alg. 2]
def test_updates_are_those_of_the_algorithm_written_out(tensors):
    spec = latent(
        kl_weight=0.7, kl_scale="per_token", depth_weight=0.3, inner_updates=2,
        phi_learning_rate_multiplier=3.0, phi_clip=0.01,
    )  # fmt: skip
    ours, plain = (Run(without_dropout(spec), tensors) for _ in range(2))
    losses = [ours.update(number, micro=3).numbers()["loss"] for number in range(1, 6)]
    expected = algorithm_two.train(
        plain.network, plain.by_task, plain.noise, updates=5, inner=2, rate=rate,
        beta=0.7, per_token=True, weight=0.3, multiplier=3.0, clip_phi=0.01,
    )  # fmt: skip
    assert losses == pytest.approx(expected, abs=1e-4)
    found = dict(ours.network.named_parameters())
    for name, value in plain.network.named_parameters():
        if not name.endswith("k_proj.bias"):
            atol = 1e-5 if name.endswith("alpha") else 1e-3
            torch.testing.assert_close(found[name], value, atol=atol, rtol=0, msg=name)


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


def test_a_group_may_have_a_rate_and_decay_rates_of_its_own():
    assert rate_of(phi_group(), 0.01) == 0.03
    assert rate_of(phi_group(learning_rate=0.5), 0.01) == 0.5
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


@pytest.mark.parametrize(("limit", "expected"), [(1.0, 0.5), (0.0, 3.0)])
def test_clip_scales_gradients_down_unless_it_is_zero_and_returns_their_norm(limit, expected):
    parameter = nn.Parameter(torch.zeros(4))
    parameter.grad = torch.full((4,), 3.0)
    assert float(clip([parameter], limit)) == 6.0
    torch.testing.assert_close(parameter.grad, torch.full((4,), expected), atol=1e-5, rtol=0)


# Norms of updates: overflows alone and in a row, windows that are complete and that are not.
NORMS = "......x..xx....x.........x" + "x" * 30


@pytest.mark.parametrize("lost", [math.inf, math.nan])
def test_the_loss_scale_is_fairseqs_step_by_step_down_to_its_minimum(monkeypatch, lost):
    monkeypatch.setattr(LossScale, "WINDOW", 4)
    theirs = DynamicLossScaler(init_scale=LossScale.START, scale_window=4)
    ours, seen = LossScale(torch.device("cpu")), []
    for sign in NORMS:
        norm = torch.tensor(lost if sign == "x" else 1.0)
        ours.update(norm.isfinite())
        try:
            theirs.check_overflow(norm)
            theirs.update()
        except OverflowError:
            assert sign == "x"
        except FloatingPointError:
            break
        assert float(ours.scale) == theirs.loss_scale > LossScale.LEAST == theirs.min_loss_scale
        seen.append(theirs.loss_scale)
    assert {64.0, 128.0, 256.0} < {*seen}
    assert seen[-1] / 2 == float(ours.scale) <= LossScale.LEAST


def test_the_loss_scale_starts_and_grows_as_fairseqs_options_say():
    """For one device without accumulation, as `FP16Optimizer` computes the window."""
    assert CommonConfig().fp16_init_scale == LossScale.START
    assert "2**14 / data_parallel_size" in inspect.getsource(FP16Optimizer.__init__)
    assert LossScale.WINDOW == 2**14


DECAY = 0.1
SHAPES = ((4, 3), (5,), (2, 2, 2), ())


def parameters():
    stream = torch.Generator().manual_seed(3)
    return [nn.Parameter(torch.randn(shape, generator=stream)) for shape in SHAPES]


def ours(tensors):
    return AdamW([(tensors[:2], DECAY), (tensors[2:], 0.0)], Adam(betas=BETAS, eps=EPS))


def theirs(tensors):
    groups = [{"params": tensors[:2], "weight_decay": DECAY}]
    groups.append({"params": tensors[2:], "weight_decay": 0.0})
    return torch.optim.AdamW(groups, lr=0.0, betas=BETAS, eps=EPS, fused=True)


def put_gradients(number, *lists):
    """Give each list the same gradients; the second parameter has one at odd updates only."""
    stream = torch.Generator().manual_seed(number)
    for place, shape in enumerate(SHAPES):
        gradient = torch.randn(shape, generator=stream)
        for tensors in lists:
            absent = place == 1 and number % 2 == 0
            tensors[place].grad = None if absent else gradient.clone()


def their_step(adam, number):
    for group in adam.param_groups:
        group["lr"] = rate(number)
    adam.step()


def equal(one, other):
    return all(map(torch.equal, one, other))


def test_fifty_steps_are_torchs_to_the_bit_and_so_is_their_state():
    one, other = parameters(), parameters()
    mine, torchs = ours(one), theirs(other)
    for number in range(1, 51):
        put_gradients(number, one, other)
        mine.step(rate(number), YES)
        their_step(torchs, number)
        assert equal(one, other), number
    saved, expected = mine.state_dict(), torchs.state_dict()
    assert saved["state"].keys() == expected["state"].keys()
    for place, state in expected["state"].items():
        assert state.keys() == saved["state"][place].keys()
        assert all(torch.equal(value, saved["state"][place][name]) for name, value in state.items())
    for group, theirs_ in zip(saved["param_groups"], expected["param_groups"], strict=True):
        assert group.items() <= theirs_.items()


def test_a_step_that_is_not_taken_changes_no_bit_of_weights_and_state():
    one, other = parameters(), parameters()
    skipping, whole = ours(one), ours(other)
    for number in range(1, 6):
        put_gradients(number, one, other)
        skipping.step(rate(number), YES)
        whole.step(rate(number), YES)
        put_gradients(number, one)
        for tensor in one:
            if tensor.grad is not None:
                tensor.grad.fill_(torch.nan)
        skipping.step(rate(number), NO)
    assert equal(one, other)
    for parameter, reference in zip(one, other, strict=True):
        assert equal(skipping.state[parameter].values(), whole.state[reference].values())


def test_frozen_weights_leave_nothing_to_move():
    adam = AdamW([([], DECAY), ([], 0.0)], Adam(betas=BETAS, eps=EPS))
    adam.step(1.0, YES)
    adam.load_state_dict(adam.state_dict())
    assert adam.state == {}


def test_what_a_method_adds_does_not_decay():
    settings = specification(changes={"training": {"weight_decay": 0.1}}).training
    own, added = (nn.Parameter(torch.ones(2)) for _ in range(2))
    own.grad = added.grad = torch.zeros(2)
    theta_adam([own], [added], settings).step(1.0, YES)
    assert torch.allclose(own, torch.full((2,), 0.9))
    assert torch.equal(added, torch.ones(2))


def test_every_schedule_of_the_settings_has_a_function_with_its_keywords():
    union = TrainingSettings.model_fields["schedule"].annotation
    classes = {get_args(each.model_fields["name"].annotation)[0]: each for each in get_args(union)}
    assert classes.keys() == SCHEDULES.keys()
    for name, function in SCHEDULES.items():
        keywords = set(inspect.signature(function).parameters) - {"update"}
        assert keywords - {"width"} == set(classes[name].model_fields) - {"name"}


def test_a_polynomial_without_an_end_ends_with_the_run():
    def rate(end):
        settings = Polynomial(name="polynomial", learning_rate=1.0, warmup=0, end=end)
        return learning_rate(settings, width=8, updates=200)

    assert rate(None)(100) == pytest.approx(0.5)
    assert rate(None)(200) == 0
    assert rate(400)(200) == pytest.approx(0.5)


@pytest.mark.parametrize(("updates", "highest"), [(0, 0.0), (2, 0.01), (4, 0.02), (9, 0.02)])
def test_the_highest_rate_of_a_training_is_that_of_its_updates_with_the_factor(updates, highest):
    schedule = {"name": "inverse_sqrt", "learning_rate": 0.01, "warmup": 4}
    spec = specification(changes={"training": {"schedule": schedule, "rate_factor": 2.0}})
    assert highest_rate(spec, updates) == highest


def test_the_rate_rises_linearly_reaches_its_peak_and_falls_with_the_root():
    rates = [inverse_sqrt(update, learning_rate=1.0, warmup=100) for update in (1, 50, 100, 400)]
    assert rates == pytest.approx([0.01, 0.5, 1.0, 0.5])
    # Without warm-up the first update has the peak.
    assert inverse_sqrt(1, learning_rate=0.3, warmup=0) == pytest.approx(0.3)
    assert inverse_sqrt(4, learning_rate=0.3, warmup=0) == pytest.approx(0.15)
    course = InverseSqrt(name="inverse_sqrt", learning_rate=1.0, warmup=100, start=0.2, lowest=0.6)
    rate = learning_rate(course, width=8, updates=1000)
    assert [rate(n) for n in (50, 100, 200, 400)] == pytest.approx([0.6, 1.0, 0.5**0.5, 0.6])


def test_a_polynomial_of_power_one_falls_in_a_straight_line_and_stays_at_its_end():
    def rate(update, power=1.0):
        return polynomial(update, learning_rate=1.0, warmup=10, end=110, power=power, final=0.2)

    assert [rate(update) for update in (5, 10, 60, 110, 500)] == pytest.approx(
        [0.5, 1.0, 0.6, 0.2, 0.2]
    )
    assert rate(60, power=2.0) == pytest.approx(0.2 + 0.8 * 0.25)
    straight = polynomial(1, learning_rate=1.0, warmup=0, end=4, power=1.0, final=0.0)
    assert straight == pytest.approx(0.75)


def test_noam_peaks_at_its_warmup_as_the_transformers_and_lingvos_recipes_say():
    def rate(update, width=512):
        settings = Noam(name="noam", scale=3.0, warmup=40_000)
        return learning_rate(settings, width=width, updates=9)(update)

    assert rate(40_000) == pytest.approx(6.63e-4, rel=1e-3)
    assert rate(40_000, width=1024) == pytest.approx(4.69e-4, rel=1e-3)
    assert rate(1) == pytest.approx(3 * 512**-0.5 * 40_000**-1.5)
    assert rate(160_000) == pytest.approx(rate(40_000) / 2)
    assert max(range(39_990, 40_010), key=rate) == 40_000


def test_a_step_of_eight_updates_delays_noams_peak_eightfold():
    def rate(update):
        return noam(update, scale=1.0, width=512, warmup=4000, step_duration=8)

    assert rate(8 * 4000) == pytest.approx(512**-0.5 * 4000**-0.5)
    assert rate(1) == rate(8) != rate(9)


@pytest.mark.parametrize("replicas", [1, 8])
def test_the_ramp_of_replicas_holds_and_then_halves_a_single_ones_rate(replicas):
    def times(done):
        decay = {"decay_start": 400_000, "decay_end": 1_200_000}
        settings = {"learning_rate": 1e-4, "replicas": replicas, "warmup": 500} | decay
        return replica_ramp(done + 1, **settings) / 1e-4

    start, end = 400_000 // replicas, 1_200_000 // replicas
    assert times(0) == pytest.approx(1.0)
    assert times(250 * replicas) == pytest.approx((1 + replicas) / 2)
    assert times(500 * replicas) == times(start) == pytest.approx(replicas)
    assert times((start + end) // 2) == pytest.approx((replicas * 0.5) ** 0.5)
    assert times(end) == times(10 * end) == pytest.approx(0.5)

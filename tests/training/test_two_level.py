from dataclasses import replace

import pytest
import torch

from fathom.batches.fused import collate
from fathom.batches.sampler import Sampler
from fathom.batches.tensors import load
from fathom.methods.loader import build
from fathom.training.ranks import Ranks
from fathom.training.two_level import Parts, TwoLevel
from tests.training.small_runs import latent, specification


class Run:
    """A network with its optimisers and data, without files."""

    def __init__(self, spec, tensors, seed=1):
        self.tensors = load(tensors)
        torch.manual_seed(seed)
        self.network = build(
            spec.model,
            spec.method,
            len(self.tensors.tasks),
            self.tensors.source_dictionary,
            self.tensors.target_dictionary,
        )
        self.two_level = TwoLevel(self.network, spec.training, seed, Ranks(0, 1))
        self.pairs = self.tensors.splits("train")
        self.sampler = Sampler(
            [each.target_lengths for each in self.pairs],
            [each.source_lengths for each in self.pairs],
            spec.training.batches,
            seed,
        )

    def parts(self, number, micro=1, only=None):
        members = [
            [pair for pair in part if only is None or pair[0] in only]
            for part in self.sampler.update(number, micro)
        ]
        batches = [collate(self.pairs, part) for part in members if part]
        tokens = sum(batch.tokens for batch in batches)
        tasks = torch.cat([batch.tasks for batch in batches]).unique()
        return Parts(batches, tokens, tasks)

    def update(self, number, **choice):
        return self.two_level.update(number, self.parts(number, **choice))


def without_dropout(spec):
    return replace(spec, model=replace(spec.model, dropout=0.0))


def test_four_micro_batches_move_theta_and_phi_as_one_batch_does(tensors):
    one, four = (Run(without_dropout(latent()), tensors) for _ in range(2))
    for number in range(1, 4):
        first, second = one.update(number), four.update(number, micro=4)
        assert first.losses == pytest.approx(second.losses, abs=1e-6)
        assert first.nll == pytest.approx(second.nll, abs=1e-5)
    for name, value in one.network.state_dict().items():
        if not name.endswith("k_proj.bias"):
            # Sums in another order; Adam's first steps are of the learning rate's size, 5e-3, and
            # k_proj.bias has no gradient but rounding (softmax does not see it).
            torch.testing.assert_close(
                value, four.network.state_dict()[name], atol=2e-4, rtol=0, msg=name
            )


# [latent_depth Alg. 2]
def test_phi_moves_only_at_the_last_of_its_inner_updates(tensors):
    run = Run(latent(inner_updates=3), tensors)
    alpha = run.network.decoder.method.alpha
    moved, theta = [], []
    for number in range(1, 8):
        before = alpha.detach().clone(), run.network.decoder.embed_tokens.weight.detach().clone()
        result = run.update(number)
        moved.append(not torch.equal(before[0], alpha))
        theta.append(not torch.equal(before[1], run.network.decoder.embed_tokens.weight))
        assert (result.gradient_norm_phi is not None) == moved[-1]
    assert moved == [False, False, True, False, False, True, False]
    assert all(theta)


def test_phi_takes_the_gradient_of_its_last_inner_update_alone(tensors):
    whole, last = (Run(latent(inner_updates=2), tensors) for _ in range(2))
    whole.update(1)
    # The other run makes update 1 for Θ alone: φ's gradient of it must not have counted.
    last.two_level.phi, phi = [], last.two_level.phi
    last.update(1)
    last.two_level.phi = phi
    whole.update(2)
    last.update(2)
    assert torch.equal(whole.network.decoder.method.alpha, last.network.decoder.method.alpha)


def test_weights_of_kl_and_depth_leave_thetas_update_bit_identical(tensors):
    plain, heavy = (
        Run(latent(kl_weight=beta, depth_weight=weight), tensors)
        for beta, weight in ((0.0, 0.0), (10.0, 5.0))
    )
    for run in (plain, heavy):
        for method in run.network.methods.values():
            # At 0 the KL's gradient is 0 too.
            torch.nn.init.constant_(method.alpha, 0.5)
        run.update(1)
    for name, value in plain.network.named_parameters():
        same = torch.equal(value, dict(heavy.network.named_parameters())[name])
        assert same != name.endswith("alpha"), name


def test_absent_tasks_gates_and_moments_rest(tensors):
    run = Run(latent(), tensors)
    run.update(1)
    alpha = run.network.decoder.method.alpha
    before = alpha.detach().clone()
    moments = [each.state_dict() for each in run.two_level.phi_adam]
    kept = [moments[1]["first"][0][1].clone(), moments[1]["second"][0][1].clone()]
    run.update(2, only={0, 2})
    assert torch.equal(alpha[1], before[1])
    assert not torch.equal(alpha[0], before[0])
    assert torch.equal(run.two_level.phi_adam[1].first[0][1], kept[0])
    assert torch.equal(run.two_level.phi_adam[1].second[0][1], kept[1])


def test_one_fused_batch_has_the_gradient_of_a_pass_for_each_task(tensors):
    fused, apart = (Run(without_dropout(latent()), tensors) for _ in range(2))
    parts = fused.parts(1)
    passes = [apart.parts(1, only={task}).mine[0] for task in range(3)]
    for run, mine in ((fused, parts.mine), (apart, passes)):
        run.network.start_update(1, 1)
        run.two_level._gradients(Parts(mine, parts.tokens, parts.tasks))
    theirs = dict(apart.network.named_parameters())
    for name, value in fused.network.named_parameters():
        torch.testing.assert_close(value.grad, theirs[name].grad, atol=1e-6, rtol=0, msg=name)


def test_a_gradient_that_is_not_finite_moves_nothing(tensors):
    run = Run(specification(), tensors)
    with torch.no_grad():
        run.network.decoder.embed_tokens.weight[5] = float("inf")
    before = run.network.encoder.embed_tokens.weight.detach().clone()
    result = run.update(1)
    assert result.gradient_norm != result.gradient_norm or result.gradient_norm == float("inf")
    assert torch.equal(before, run.network.encoder.embed_tokens.weight)


def test_layers_dropped_in_an_update_rest(tensors):
    run = Run(specification("layerdrop", ("encoder", "decoder"), p=0.5), tensors)
    for number in range(1, 5):
        run.network.start_update(1, number)
        kept = list(run.network.decoder.method.kept)
        before = [layer.fc1.weight.detach().clone() for layer in run.network.decoder.layers]
        run.update(number)
        after = [layer.fc1.weight for layer in run.network.decoder.layers]
        rested = [torch.equal(a, b) for a, b in zip(before, after, strict=True)]
        assert rested == [not each for each in kept]

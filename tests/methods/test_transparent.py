"""Transparent attention: its two equations, its dropout, and what it does to a network."""

import math

import pytest
import torch
from torch import Tensor, nn

from fathom.methods import transparent as equations
from fathom.methods.transparent import Transparent
from fathom.nn.loss import token_nll
from fathom.nn.network import Batch, count_parameters
from tests.reference.padded.networks import padded, padded_logits
from tests.support.small_networks import PAD, batch, method, network, recurrent, shape, stack

TASKS = torch.tensor([0, 1])
LENGTHS = [(5, 6), (3, 6)]


def mixed(norm: str = "lingvo", rate: float = 0.0, **changes: object) -> nn.Module:
    """Return a network whose decoder attends to mixtures."""
    return network(
        method("transparent", ("encoder",), weight_dropout=rate), shape(norm=norm, **changes)
    )


def hidden(count: int) -> list[Tensor]:
    stream = torch.Generator().manual_seed(1)
    return [torch.randn(4, 2, 16, generator=stream) for _ in range(count)]


# The equations


def test_the_weights_of_each_memory_are_a_softmax_over_the_sources():
    """[transparent_attention Eq. 1]"""
    weights = torch.randn(21, 6, dtype=torch.float64)
    s = equations.mixture_weights(weights)
    for j in range(6):
        exponents = [math.exp(weights[i, j].item()) for i in range(21)]
        expected = torch.tensor(exponents, dtype=torch.float64) / sum(exponents)
        assert torch.allclose(s[:, j], expected)
        assert s[:, j].sum().item() == pytest.approx(1)


def test_a_mixture_is_the_weighted_sum_of_all_sources_from_the_embeddings_on():
    """[transparent_attention Eq. 2]"""
    outputs, s = hidden(4), torch.rand(4, 3)
    found = equations.mixtures(s, outputs)
    assert len(found) == 3
    for j, mixture in enumerate(found):
        expected = sum(s[i, j] * outputs[i] for i in range(4))
        assert torch.allclose(mixture, expected, atol=1e-6)


# [transparent_attention dropout]
def test_dropout_on_the_weights_leaves_a_constant_for_those_that_stay_and_0_for_the_others():
    weights = torch.tensor([[0.0, 1.0], [0.0, -2.0], [0.0, 0.5], [0.0, 0.0]])
    kept = torch.tensor([[True, True], [False, True], [True, False], [True, True]])
    found = equations.dropped(weights, kept, 0.2)
    expected = [[0.25, 1.25], [0.0, -1.75], [0.25, 0.0], [0.25, 0.25]]
    assert torch.allclose(found, torch.tensor(expected) / 0.8)
    s = equations.mixture_weights(found)
    # A source that is dropped stays in the mixture, at less than the others' weight.
    assert 0 < s[1, 0] < s[0, 0]


# The class


def test_at_the_start_every_mixture_is_the_plain_mean():
    each = Transparent(stack(memories=2), weight_dropout=0.0).eval()
    outputs = hidden(4)
    for found in each.memory(outputs, 2):
        assert torch.allclose(found, torch.stack(outputs).mean(dim=0), atol=1e-6)


def test_where_the_embeddings_have_another_width_only_layers_are_mixed():
    each = Transparent(stack(layers=3, sources=3, memories=1), weight_dropout=0.0).eval()
    outputs = hidden(4)
    for given in (outputs, outputs[1:]):
        (found,) = each.memory(given, 1)
        assert torch.allclose(found, torch.stack(outputs[1:]).mean(dim=0), atol=1e-6)


def test_entries_are_dropped_as_often_as_the_rate_says():
    each = Transparent(stack(layers=20, sources=21, memories=6), weight_dropout=0.1)
    kept = []
    for update in range(1, 201):
        each.start_update(1, update)
        kept.append(each.mask.float())
    shares = torch.stack(kept).mean(dim=0)
    draws = 200 * 21 * 6
    assert abs(shares.mean().item() - 0.9) < 4 * math.sqrt(0.9 * 0.1 / draws)
    # Each entry by itself; with 126 of them 5 deviations are rare.
    assert (shares - 0.9).abs().max() < 5 * math.sqrt(0.9 * 0.1 / 200)


def test_a_draw_repeats_differs_by_seed_and_update_and_by_memory():
    def drawn(seed: int = 1, update: int = 1) -> Tensor:
        each = Transparent(stack(sources=60, memories=2), weight_dropout=0.5)
        each.start_update(seed, update)
        return each.mask

    first = drawn()
    assert torch.equal(first, drawn())
    assert not torch.equal(first[:, 0], first[:, 1])
    for other in (drawn(seed=2), drawn(update=2)):
        assert not torch.equal(first, other)


def test_at_inference_nothing_is_dropped():
    each = Transparent(stack(sources=4, memories=3), weight_dropout=0.5)
    outputs = hidden(4)
    each.start_update(1, 1)
    assert not each.mask.all()
    trained = each.memory(outputs, 3)
    each.eval()
    mean = torch.stack(outputs).mean(dim=0)
    assert not all(torch.allclose(found, mean, atol=1e-3) for found in trained)
    assert all(torch.allclose(found, mean, atol=1e-6) for found in each.memory(outputs, 3))


def test_training_without_a_draw_is_a_mistake():
    with pytest.raises(RuntimeError, match="start_update"):
        Transparent(stack(), weight_dropout=0.1).memory(hidden(4), 3)


# The network


def test_the_transformers_sources_start_with_the_embeddings_after_dropout():
    model = mixed(dropout=0.5)
    seen = []
    model.encoder.observer = lambda outputs: seen.extend(outputs)
    model.encoder.method.weights.data[0] = 200.0
    model.start_update(1, 1)
    source, _, _ = batch(LENGTHS)
    found = padded(model).encoder(source, tasks=TASKS)["encoder_out"]
    assert len(seen) == 4
    assert (seen[0] == 0).float().mean() > 0.3
    assert all(torch.equal(each, seen[0]) for each in found)


def test_each_decoder_layer_attends_to_its_own_mixture():
    """With all the weight of a layer's mixture on one source, no other source matters to it."""
    model = mixed(encoder_layers=2, decoder_layers=3)
    model.encoder.method.weights.data = 200 * torch.eye(3)
    outputs, read = [], []
    model.encoder.observer = lambda each: outputs.extend(each)
    for layer in model.decoder.layers:
        layer.encoder_attn.register_forward_pre_hook(lambda _, given: read.append(given[1]))
    model.start_update(1, 1)
    source, previous, _ = batch(LENGTHS)
    padded_logits(model, source, previous, TASKS)
    assert len(read) == len(outputs) == 3
    for found, expected in zip(read, outputs, strict=True):
        assert torch.equal(found, expected)


@pytest.mark.parametrize("mixes", [True, False])
def test_a_gradient_reaches_the_first_layer_past_the_others(mixes):
    """The output of each layer above the first is cut off; a plain stack then has no way down."""
    model = (
        mixed(encoder_layers=20)
        if mixes
        else network(method("static", ()), shape(encoder_layers=20))
    )
    model.start_update(1, 1)
    first = []
    model.encoder.layers[0].register_forward_hook(lambda *call: first.append(call[2]))
    for layer in model.encoder.layers[1:]:
        layer.register_forward_hook(lambda *call: call[2].detach())
    source, previous, target = batch(LENGTHS)
    sentences = Batch(source, previous, target, TASKS, TASKS, int(target.ne(PAD).sum()))
    loss = token_nll(model.predict(sentences)).sum()
    (found,) = torch.autograd.grad(loss, first, allow_unused=True)
    assert (found is not None and bool(found.any())) is mixes


@pytest.mark.parametrize("architecture", ["transformer", "rnmt_plus"])
def test_it_adds_a_weight_for_each_source_and_memory_and_nothing_else(architecture):
    model = shape(encoder_layers=5, decoder_layers=4)
    if architecture == "rnmt_plus":
        model = recurrent(encoder_layers=5, decoder_layers=4)
    plain, more = (
        count_parameters(network(each, model))
        for each in (method("static", ()), method("transparent", ("encoder",)))
    )
    added = {"transformer": 6 * 4, "rnmt_plus": 5}[architecture]
    assert more["encoder"] - plain["encoder"] == added
    assert more["total"] - plain["total"] == added

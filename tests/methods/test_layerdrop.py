"""LayerDrop: what is drawn, and what a left-out layer means."""

import math

import torch

from fathom.methods.layerdrop import LayerDrop
from tests.support.small_networks import batch, gradients, method, network, nll, stack

TASKS = torch.tensor([0, 1])


def test_layers_are_left_out_as_often_as_the_probability_says():
    drop = LayerDrop(stack("decoder", 24), p=0.2)
    kept = []
    for update in range(1, 501):
        drop.start_update(1, update)
        kept += drop.active_layers
    deviation = math.sqrt(0.2 * 0.8 / len(kept))
    assert abs(sum(kept) / len(kept) - 0.8) < 4 * deviation


def test_a_draw_repeats_and_differs_by_seed_update_and_side():
    def drawn(side="decoder", seed=1, update=1):
        drop = LayerDrop(stack(side, 60), p=0.5)
        drop.start_update(seed, update)
        return drop.active_layers

    assert drawn() == drawn()
    for other in (drawn("encoder"), drawn(seed=2), drawn(update=2)):
        assert other != drawn()


def test_each_layer_has_a_draw_of_its_own():
    drop = LayerDrop(stack("decoder", 3), p=0.5)
    combinations = set()
    for update in range(1, 201):
        drop.start_update(1, update)
        combinations.add(tuple(drop.active_layers))
    assert len(combinations) == 2**3


def test_every_layer_is_computed_at_inference():
    drop = LayerDrop(stack("decoder", 3), p=1.0)
    drop.start_update(1, 1)
    assert not any(drop.keep(layer) for layer in range(3))
    drop.eval()
    assert all(drop.keep(layer) for layer in range(3))


def test_a_layer_that_is_left_out_has_no_gradient_and_the_others_are_not_rescaled():
    model = network(method("layerdrop", p=0.5))
    model.encoder.method.active_layers = [True, False, True]
    model.decoder.method.active_layers = [False, True, True]
    source, previous, target = batch([(5, 4), (3, 6)])
    logits = model(source, previous, TASKS)
    nll(logits, target).backward()
    for name, gradient in gradients(model).items():
        left_out = name.startswith(("encoder.layers.1.", "decoder.layers.0."))
        assert (gradient is None) is left_out, name
    static = network(method("static", ()))
    del static.encoder.layers[1], static.decoder.layers[0]
    assert torch.equal(static(source, previous, TASKS), logits)

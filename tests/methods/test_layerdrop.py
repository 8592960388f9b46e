"""LayerDrop: what is drawn, and what a left-out layer means."""

import math

import pytest
import torch
from pydantic import TypeAdapter, ValidationError

from fathom.methods.layerdrop import LayerDrop
from tests.reference.padded.networks import padded_logits
from tests.support.own_project import own_project
from tests.support.small_networks import batch, gradients, method, network, nll, stack

TASKS = torch.tensor([0, 1])


def test_a_probability_that_leaves_out_every_layer_is_refused():
    p = TypeAdapter(own_project().methods["layerdrop"].about.settings["p"].annotation)
    assert p.validate_python(0.99) == 0.99
    with pytest.raises(ValidationError, match="less than 1"):
        p.validate_python(1.0)


def test_layers_are_left_out_as_often_as_the_probability_says():
    drop = LayerDrop(stack("decoder", 24), p=0.2, draw="update")
    kept = []
    for update in range(1, 501):
        drop.start_update(1, update)
        kept += drop.active_layers
    deviation = math.sqrt(0.2 * 0.8 / len(kept))
    assert abs(sum(kept) / len(kept) - 0.8) < 4 * deviation


def test_a_draw_repeats_and_differs_by_seed_update_and_side():
    def drawn(side="decoder", seed=1, update=1):
        drop = LayerDrop(stack(side, 60), p=0.5, draw="update")
        drop.start_update(seed, update)
        return drop.active_layers

    assert drawn() == drawn()
    for other in (drawn("encoder"), drawn(seed=2), drawn(update=2)):
        assert other != drawn()


def test_each_layer_has_a_draw_of_its_own():
    drop = LayerDrop(stack("decoder", 3), p=0.5, draw="update")
    combinations = set()
    for update in range(1, 201):
        drop.start_update(1, update)
        combinations.add(tuple(drop.active_layers))
    assert len(combinations) == 2**3


def test_every_layer_is_computed_at_inference():
    drop = LayerDrop(stack("decoder", 3), p=1.0, draw="update")
    drop.start_update(1, 1)
    assert not any(drop.keep(layer) for layer in range(3))
    drop.eval()
    assert all(drop.keep(layer) for layer in range(3))


def test_a_layer_that_is_left_out_has_no_gradient_and_the_others_are_not_rescaled():
    model = network(method("layerdrop", p=0.5))
    model.encoder.method.active_layers = [True, False, True]
    model.decoder.method.active_layers = [False, True, True]
    source, previous, target = batch([(5, 4), (3, 6)])
    logits = padded_logits(model, source, previous, TASKS)
    nll(logits, target).backward()
    for name, gradient in gradients(model).items():
        left_out = name.startswith(("encoder.layers.1.", "decoder.layers.0."))
        assert (gradient is None) is left_out, name
    static = network(method("static", ()))
    del static.encoder.layers[1], static.decoder.layers[0]
    assert torch.equal(padded_logits(static, source, previous, TASKS), logits)


def drawn_by_task(side="decoder", seed=1, update=1, layers=60):
    drop = LayerDrop(stack(side, layers, tasks=3), p=0.5, draw="task")
    drop.start_update(seed, update)
    return drop.open


def test_a_draw_for_each_task_repeats_and_differs_by_task_seed_update_and_side():
    drawn = drawn_by_task()
    assert torch.equal(drawn, drawn_by_task())
    for other in (drawn_by_task("encoder"), drawn_by_task(seed=2), drawn_by_task(update=2)):
        assert not torch.equal(other, drawn)
    assert len(set(map(tuple, drawn.tolist()))) == 3


def test_in_an_update_of_eight_tasks_nearly_every_layer_has_a_sentence():
    """With one draw for all tasks half of the layers have none."""
    layers, computed = 24, {}
    for draw in ("update", "task"):
        drop = LayerDrop(stack("decoder", layers, tasks=8), p=0.5, draw=draw)
        computed[draw] = 0
        for update in range(1, 101):
            drop.start_update(1, update)
            drop.begin(torch.arange(8))
            computed[draw] += sum(drop.active_layers)
    assert computed["update"] / (100 * layers) == pytest.approx(1 / 2, abs=0.05)
    assert computed["task"] / (100 * layers) == pytest.approx(1 - 2**-8, abs=0.01)


def test_each_sentence_goes_through_the_layers_of_its_task():
    model = network(method("layerdrop", p=0.5, draw="task"))
    model.encoder.method.open = torch.tensor([[True, False, True], [False, False, True]])
    model.decoder.method.open = torch.tensor([[False, True, True], [True, True, False]])
    source, previous, target = batch([(5, 4), (5, 4)])
    logits = padded_logits(model, source, previous, TASKS)
    nll(logits, target).backward()
    for name, gradient in gradients(model).items():
        assert (gradient is None) is name.startswith("encoder.layers.1."), name
    for task, (encoder, decoder) in enumerate([([1], [0]), ([0, 1], [2])]):
        static = network(method("static", ()))
        for side, left_out in ((static.encoder, encoder), (static.decoder, decoder)):
            for layer in reversed(left_out):
                del side.layers[layer]
        own = slice(task, task + 1)
        expected = padded_logits(static, source[own], previous[own], TASKS[own])
        torch.testing.assert_close(logits[own], expected)

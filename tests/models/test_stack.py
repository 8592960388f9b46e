"""The one loop over layers, and what goes in and out of a stack."""

import pytest
import torch

from fathom.nn.hooks import Method
from fathom.nn.stack import apply_once, residual, run_layers, tasks_of
from tests.support.small_networks import shape, stack


class Recorder(Method):
    """Notes each hook of the loop, and skips layer 1."""

    def __init__(self):
        super().__init__(stack())
        self.calls = []

    def source(self, layer, outputs):
        self.calls.append(("source", layer))
        return 2 * outputs[-1]

    def keep(self, layer):
        self.calls.append(("keep", layer))
        return layer != 1

    def block(self, layer, x, y):
        self.calls.append(("block", layer))
        return x + y

    def after(self, layer, y):
        self.calls.append(("after", layer))
        return 10 * y


def add(number, layer, x):
    """Take the place of a layer: its number is added."""
    return x + layer


def test_hooks_are_called_in_order_and_a_skipped_layer_passes_its_input_on():
    method, outputs = Recorder(), [1.0]
    run_layers(method, [1, 2, 3], outputs, add)
    first = 10 * (2 + 2 + 1)
    assert outputs == [1.0, first, 2 * first, 10 * (4 * first + 4 * first + 3)]
    kept = ("source", "keep", "block", "after")
    expected = [(hook, 0) for hook in kept] + [("source", 1), ("keep", 1)]
    assert method.calls == expected + [(hook, 2) for hook in kept]


def test_a_layer_that_others_need_runs_where_it_is_skipped():
    ran = []

    def call(number, layer, x):
        ran.append(number)
        return add(number, layer, x)

    outputs = [1.0]
    run_layers(Recorder(), [1, 2, 3], outputs, call, always={1})
    assert ran == [0, 1, 2]
    assert outputs[2] == 2 * outputs[1]


def test_without_hooks_the_layers_run_straight_through():
    method, outputs = Method(stack()), [1.0]
    assert not method.overrides("source", "keep", "block", "after")
    run_layers(method, [1, 2, 3], outputs, add)
    assert outputs == [1.0, 2.0, 4.0, 7.0]


@pytest.mark.parametrize(
    ("hook", "override", "last"),
    [
        ("source", lambda layer, outputs: outputs[0], 4.0),
        ("keep", lambda layer: layer != 1, 5.0),
        ("block", lambda layer, x, y: 2 * y, 30.0),
        ("after", lambda layer, y: 2 * y, 30.0),
    ],
)
def test_a_method_with_one_hook_has_it_called(hook, override, last):
    method, outputs = Method(stack()), [1.0]
    setattr(method, hook, override)
    run_layers(method, [1, 2, 3], outputs, add)
    assert outputs[-1] == last


def test_a_method_tells_which_hooks_it_overrides():
    method = Recorder()
    assert method.overrides("keep")
    assert method.overrides("memory", "after")
    assert not method.overrides("memory", "residual")
    plain = Method(stack())
    plain.keep = lambda layer: False
    assert plain.overrides("keep")


def test_a_layer_without_residuals_adds_to_nothing():
    x, model = torch.ones(3), shape(residuals=("decoder",))
    assert residual(model, Method(stack("encoder")), 0)("ffn", x, x).equal(x)
    assert residual(model, Method(stack("decoder")), 0)("ffn", x, x).equal(x + x)


def test_the_task_of_a_sentence_comes_from_the_caller_or_from_for_task():
    tokens = torch.zeros(3, 2, dtype=torch.long)
    tasks = torch.tensor([1, 0, 1])
    assert tasks_of(tokens, tasks, 5) is tasks
    assert tasks_of(tokens, None, 5).tolist() == [5, 5, 5]
    with pytest.raises(RuntimeError, match="for_task"):
        tasks_of(tokens, None, None)


def test_a_tensor_that_occurs_twice_is_computed_once():
    calls = []
    first, second = torch.zeros(1), torch.zeros(1)
    results = apply_once(lambda tensor: calls.append(1) or tensor + 1, [first, second, first])
    assert len(calls) == 2
    assert results[0] is results[2] is not results[1]

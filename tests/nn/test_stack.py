"""The loop over layers and its hooks, random streams, and what every network offers."""

import pytest
import torch

from fathom.nn.hooks import Method, generator, stream_seed
from fathom.nn.network import Entries, count_parameters
from fathom.nn.stack import apply_once, run_layers
from fathom.nn.transformer.network import Transformer
from tests.reference.padded.networks import padded_logits
from tests.support.small_networks import ENTRIES, batch, method, network, shape, stack


class Recorder(Method):
    """Notes each call of a hook, and skips layer 1."""

    def __init__(self, side="encoder"):
        super().__init__(stack(side))
        self.calls = []

    def begin(self, tasks):
        self.calls.append(("begin", tasks.tolist()))

    def source(self, layer, outputs):
        assert len(outputs) == layer + 1
        self.calls.append(("source", layer))
        return 2 * outputs[-1]

    def keep(self, layer):
        self.calls.append(("keep", layer))
        return layer != 1

    def residual(self, layer, part, x, fx):
        self.calls.append(("residual", layer, part))
        return x + fx

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
    assert not method.overrides("memory", "losses")
    plain = Method(stack())
    plain.keep = lambda layer: False
    assert plain.overrides("keep")


def test_a_tensor_that_occurs_twice_is_computed_once():
    calls = []
    first, second = torch.zeros(1), torch.zeros(1)
    results = apply_once(lambda tensor: calls.append(1) or tensor + 1, [first, second, first])
    assert len(calls) == 2
    assert results[0] is results[2] is not results[1]


def test_each_hook_is_called_in_its_place():
    recorders = {side: Recorder(side) for side in ("encoder", "decoder")}
    model = Transformer(shape(), Entries(ENTRIES), Entries(ENTRIES), recorders)
    source, previous, _ = batch([(5, 4), (3, 6)])
    padded_logits(model, source, previous, torch.tensor([1, 0]))
    parts = {"encoder": ("self_attention", "ffn")}
    parts["decoder"] = ("self_attention", "cross_attention", "ffn")
    for side, recorder in recorders.items():
        expected = [("begin", [1, 0])]
        for layer in range(3):
            expected += [("source", layer), ("keep", layer)]
            if layer != 1:
                expected += [("residual", layer, part) for part in parts[side]]
                expected += [("block", layer), ("after", layer)]
        assert recorder.calls == [*expected, ("source", 3)]


def test_random_streams_repeat_and_differ_in_every_argument():
    def draw(*arguments):
        return tuple(torch.rand(4, generator=generator(*arguments)).tolist())

    keys = [
        (seed, update, side, task)
        for seed in (1, 2)
        for update in (1, 2, 11)
        for side in ("encoder", "decoder")
        for task in (None, 0, 1, 11)
    ]
    state = torch.get_rng_state()
    assert len({draw(*key) for key in keys}) == len(keys)
    assert draw(*keys[5]) == draw(*keys[5])
    assert torch.equal(torch.get_rng_state(), state), "torch's own stream"


def test_the_seed_of_a_stream_is_the_same_in_every_process():
    # The first eight digits of: printf '1 2 encoder 3' | sha256sum
    assert stream_seed(1, 2, "encoder", 3) == 0xD660E3C3


def test_gates_and_updates_reach_the_method_of_each_stack():
    model = network(method("latent_layers"))
    assert list(model.methods) == list(model.stacks) == ["encoder", "decoder"]
    model.use_gates("hard").start_update(1, 2)
    assert {gates.inference for gates in model.methods.values()} == {"hard"}
    noises = [gates.noise for gates in model.methods.values()]
    assert not torch.equal(*noises)


def test_the_parts_add_up_and_a_tied_tensor_counts_once():
    for tied in ("decoder", "none"):
        network_ = network(method("latent_layers"), shape(tie_embeddings=tied))
        found = count_parameters(network_)
        assert found["total"] == sum(p.numel() for p in set(network_.parameters()))
        assert found["total"] == found["encoder"] + found["decoder"] + found["embeddings"]
        assert found["embeddings"] == (2 if tied == "decoder" else 3) * 23 * 16
        assert found["trainable"] == found["total"]
        network_.encoder.requires_grad_(False)
        frozen = sum(p.numel() for p in network_.encoder.parameters())
        assert count_parameters(network_)["trainable"] == found["total"] - frozen

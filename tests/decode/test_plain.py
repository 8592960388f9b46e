"""A network is a plain Transformer where its method keeps or skips layers and does nothing else."""

import pytest
import torch

from fathom.config.paths import Paths
from fathom.decode.export.plain import active_layers, beyond_keeping, parameters, plain_state
from fathom.nn.hooks import Method
from tests.support.small_networks import stack
from tests.support.specs import ROOT, card
from tests.support.trained import built, gated, write_tensors

CARDS = [card(path.stem) for path in sorted((ROOT / "config" / "methods").glob("*.yaml"))]


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    paths = Paths(tmp_path_factory.mktemp("results"), "tiny")
    write_tensors(paths)
    return paths


def test_layers_are_numbered_from_0_and_the_methods_parameters_left_out():
    names = ["encoder.embed_tokens.weight", "encoder.method.alpha", "encoder.layer_norm.bias"]
    names += [f"encoder.layers.{layer}.self_attn.k_proj.bias" for layer in range(12)]
    names += ["decoder.layers.0.fc1.bias", "decoder.layers.1.fc1.bias", "decoder.method.scale.bias"]
    state = {name: torch.tensor([float(place)]) for place, name in enumerate(names)}
    found = plain_state(state, {"encoder": (1, 10, 11), "decoder": (1,)})
    assert {name: tensor.item() for name, tensor in found.items()} == {
        "encoder.version": 3,
        "decoder.version": 3,
        "encoder.embed_tokens.weight": 0,
        "encoder.layer_norm.bias": 2,
        "encoder.layers.0.self_attn.k_proj.bias": 4,
        "encoder.layers.1.self_attn.k_proj.bias": 13,
        "encoder.layers.2.self_attn.k_proj.bias": 14,
        "decoder.layers.0.fc1.bias": 16,
    }


def test_a_shared_tensor_counts_once_and_the_number_of_the_format_not_at_all():
    shared, own = torch.zeros(3, 2), torch.zeros(5)
    state = {"decoder.embed_tokens.weight": shared, "decoder.output_projection.weight": shared}
    active = {"encoder": (0,), "decoder": (0,)}
    assert parameters(plain_state(state | {"encoder.layers.0.fc1.bias": own}, active)) == 11


class Skipping(Method):
    """Keeps the middle layer alone."""

    def keep(self, layer):
        return layer == 1


def leaving(self, layer, outputs):
    return outputs[-1 if layer < self.stack.layers else 0]


def scaling(self, layer, part, x, fx):
    return x + 0.999 * fx if part == "ffn" else x + fx


def remembering(self, outputs, count):
    return [*[outputs[-1]] * (count - 1), outputs[0]]


@pytest.mark.parametrize(
    ("hook", "function"),
    [
        (None, None),
        ("block", lambda self, layer, x, y: 0.5 * x + 0.5 * y),
        ("source", lambda self, layer, outputs: sum(outputs) / len(outputs)),
        ("source", leaving),
        ("after", lambda self, layer, y: y + 1e-3),
        ("residual", scaling),
        ("memory", remembering),
    ],
)
def test_a_method_that_does_more_than_skip_layers_is_found_out(hook, function):
    each = type("Made", (Skipping,), {hook: function} if hook else {})(stack("encoder"))
    assert active_layers(each, 0) == (1,)
    assert beyond_keeping(each, 0) == hook
    assert active_layers(Method(stack("encoder")), 0) == (0, 1, 2)
    assert beyond_keeping(Method(stack("encoder")), 0) is None


@pytest.mark.parametrize("method", CARDS, ids=lambda method: method.name)
def test_a_card_names_the_gates_with_which_nothing_is_added(method, paths):
    """Config refuses CTranslate2 by the card; the network decides."""
    norm = "pre" if "pre" in method.about.norms else method.about.norms[0]
    spec = gated({"norm": norm}, method.about.stacks, method.name)
    network = built(spec, paths)
    stream = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for each in network.methods.values():
            for parameter in each.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=stream))
    for gates in ("soft", "hard") if method.about.gates else ("plain",):
        network.use_gates(gates)
        hooks = [beyond_keeping(each, 0) for each in network.methods.values()]
        assert (hooks == [None, None]) is (gates in method.about.plain_with)

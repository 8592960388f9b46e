"""Where layers normalise, distinguished by what they compute.

A plain stack of 20 encoder layers trains under pre-norm and fails under lingvo's and post-norm, so
a network of one kind must not silently be built as another.
"""

import pytest
import torch
from torch import Tensor, nn

from fathom.nn.hooks import Method
from fathom.nn.network import Entries
from fathom.nn.transformer.layers import DecoderLayer, EncoderLayer
from fathom.nn.transformer.network import Transformer
from tests.reference.padded.networks import padded
from tests.reference.padded.transformer import decoder_layer, encoder_layer
from tests.support.small_networks import ENTRIES, batch, shape

TASKS = torch.tensor([0, 1])
ATTENTIONS = ("self_attention", "cross_attention")


class Louder(Method):
    def __init__(self, stack, factor):
        super().__init__(stack)
        self.factor = factor

    def source(self, layer, outputs):
        return self.factor * outputs[-1] if layer == 0 else outputs[-1]


def encoded(norm: str, factor: float) -> Tensor:
    """Return what an encoder in float64 makes of its input times a factor."""
    model = shape(norm=norm, encoder_layers=4)
    stacks = Transformer.describe_stacks(model, 2)
    methods = {"encoder": Louder(stacks["encoder"], factor), "decoder": Method(stacks["decoder"])}
    torch.manual_seed(7)
    network = Transformer(model, Entries(ENTRIES), Entries(ENTRIES), methods).double()
    source, _, _ = batch([(5, 4), (3, 6)])
    return padded(network).encoder(source, tasks=TASKS)["encoder_out"][0]


@pytest.mark.parametrize("factor", [0.5, 4.0])
def test_a_scaled_input_leaves_what_a_lingvo_encoder_returns_unchanged(factor):
    """Its first norm takes the scale from the skip path too, but for the norm's small constant."""
    assert torch.allclose(encoded("lingvo", factor), encoded("lingvo", 1.0), atol=1e-4)


@pytest.mark.parametrize("norm", ["pre", "post", "none"])
@pytest.mark.parametrize("factor", [0.5, 4.0])
def test_a_scaled_input_changes_what_other_encoders_return(norm, factor):
    difference = (encoded(norm, factor) - encoded(norm, 1.0)).abs()
    assert difference.max() > 0.1


def unlike(layer: nn.Module) -> nn.Module:
    """Give every parameter a value of its own, so that no norm is like another, and return it."""
    torch.manual_seed(4)
    for parameter in layer.parameters():
        parameter.data.normal_(std=0.5)
    return layer


def by_hand(layer: nn.Module, x: Tensor, memory: Tensor | None, skips: dict[str, str]) -> Tensor:
    """Return a layer's output where each sub-layer reads LN(x) and adds "raw" x or "normed" LN(x).

    Args:
        layer: an encoder or a decoder layer without residual dropout.
        x: (T, B, D) its input; positions see one another.
        memory: (S, B, D) what a decoder layer attends to, without a norm.
        skips: what the skip path of each sub-layer carries.
    """
    functions = {
        "self_attention": (layer.self_attn_layer_norm, lambda y: layer.self_attn(y, y, y)[0]),
        "cross_attention": (
            getattr(layer, "encoder_attn_layer_norm", None),
            lambda y: layer.encoder_attn(y, memory, memory)[0],
        ),
        "ffn": (layer.final_layer_norm, lambda y: layer.fc2(torch.relu(layer.fc1(y)))),
    }
    for part, skip in skips.items():
        norm, function = functions[part]
        y = norm(x)
        x = (y if skip == "normed" else x) + function(y)
    return x


def skips(parts: tuple[str, ...], normed: tuple[str, ...]) -> dict[str, str]:
    return {part: "normed" if part in normed else "raw" for part in parts}


@pytest.mark.parametrize("kind", [EncoderLayer, DecoderLayer])
def test_lingvos_attentions_add_the_normalised_vector_and_its_feed_forward_the_raw_one(kind):
    """With LN(x) replaced by x in any skip, or the other way round, the output is another."""
    layer = unlike(kind(shape(norm="lingvo"), lambda part, x, fx: x + fx))
    x, memory = torch.randn(4, 2, 16), None
    padding = torch.zeros(2, 4, dtype=torch.bool)
    parts: tuple[str, ...] = ("self_attention", "ffn")
    if kind is DecoderLayer:
        memory, parts = torch.randn(5, 2, 16), ("self_attention", "cross_attention", "ffn")
        memory_padding = torch.zeros(2, 5, dtype=torch.bool)
        found = decoder_layer(layer, x, memory, memory_padding, None, None, padding)
    else:
        found = encoder_layer(layer, x, padding)
    attentions = tuple(part for part in parts if part in ATTENTIONS)
    assert torch.allclose(found, by_hand(layer, x, memory, skips(parts, attentions)), atol=1e-4)
    for part in parts:
        # One skip path is turned over, the others are left.
        turned = tuple(set(attentions) ^ {part})
        assert not torch.allclose(found, by_hand(layer, x, memory, skips(parts, turned)), atol=0.1)


def test_a_methods_joint_sees_what_the_skip_path_carries():
    """Else what a method adds up would be pre-norm under lingvo's name."""
    x, padding = 3 + 5 * torch.randn(4, 2, 16), torch.zeros(2, 4, dtype=torch.bool)
    for norm in ("pre", "lingvo"):
        seen = {}
        layer = EncoderLayer(
            shape(norm=norm), lambda part, x, fx, seen=seen: seen.setdefault(part, x) + fx
        )
        encoder_layer(layer, x, padding)
        expected = layer.self_attn_layer_norm(x) if norm == "lingvo" else x
        assert torch.equal(seen["self_attention"], expected)


@pytest.mark.parametrize("norm", ["pre", "post", "lingvo", "none"])
def test_only_pre_norm_ends_a_stack_with_a_norm(norm):
    model = shape(norm=norm)
    methods = {side: Method(stack) for side, stack in Transformer.describe_stacks(model, 2).items()}
    network = Transformer(model, Entries(ENTRIES), Entries(ENTRIES), methods)
    for stack in (network.encoder, network.decoder):
        ends = isinstance(stack.layer_norm, nn.LayerNorm)
        assert ends is (norm == "pre")

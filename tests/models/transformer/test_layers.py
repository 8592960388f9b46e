"""What the stacks are built from."""

import torch

from fathom.nn.hooks import Method
from fathom.nn.stack import residual
from fathom.nn.transformer.layers import (
    DecoderLayer,
    EncoderLayer,
    future_mask,
)
from tests.support.small_networks import shape, stack


def test_a_sub_layer_is_added_to_its_input_after_or_before_the_norm():
    """[latent_depth Eq. 1] and, for post-norm, its sentence below."""
    x, padding = torch.randn(4, 2, 16), torch.zeros(2, 4, dtype=torch.bool)
    static = Method(stack(layers=1))
    for norm in ("pre", "post", "lingvo", "none"):
        layer = EncoderLayer(shape(norm=norm), lambda part, x, fx: static.residual(0, part, x, fx))

        def attention(x, layer=layer):
            return layer.self_attn(x, x, x, need_weights=False)[0]

        def ffn(x, layer=layer):
            return layer.fc2(torch.relu(layer.fc1(x)))

        expected = x
        for sub_layer, name in ((attention, "self_attn_layer_norm"), (ffn, "final_layer_norm")):
            normalise = layer.get_submodule(name)
            if norm == "post":
                expected = normalise(expected + sub_layer(expected))
            elif norm == "lingvo" and sub_layer is attention:
                expected = normalise(expected) + sub_layer(normalise(expected))
            else:
                expected = expected + sub_layer(normalise(expected))
        assert torch.allclose(layer(x, padding), expected, atol=1e-6)


def test_without_residuals_a_sub_layer_is_what_it_computes():
    x, padding = torch.randn(4, 2, 16), torch.zeros(2, 4, dtype=torch.bool)
    static = Method(stack(layers=1))
    model = shape(residuals=("decoder",))
    layer = EncoderLayer(model, residual(model, static, 0))
    y = layer.self_attn_layer_norm(x)
    y = layer.self_attn(y, y, y, need_weights=False)[0]
    expected = layer.fc2(torch.relu(layer.fc1(layer.final_layer_norm(y))))
    assert torch.allclose(layer(x, padding), expected, atol=1e-6)


def test_the_feed_forward_activation_is_the_one_that_is_named():
    x, padding = torch.randn(4, 2, 16), torch.zeros(2, 4, dtype=torch.bool)
    for activation, function in (("relu", torch.relu), ("gelu", torch.nn.functional.gelu)):
        layer = EncoderLayer(shape(activation=activation), lambda part, x, fx: fx)
        y = layer.self_attn_layer_norm(x)
        y = layer.final_layer_norm(layer.self_attn(y, y, y, need_weights=False)[0])
        assert torch.allclose(layer(x, padding), layer.fc2(function(layer.fc1(y))), atol=1e-6)


def test_each_kind_of_dropout_has_its_own_probability():
    model = shape(dropout=0.1, attention_dropout=0.2, activation_dropout=0.3)
    for kind, attentions in ((EncoderLayer, 1), (DecoderLayer, 2)):
        layer = kind(model, lambda part, x, fx: x + fx)
        found = [
            layer.get_submodule(name).dropout_module.p
            for name in ("self_attn", "encoder_attn")[:attentions]
        ]
        assert found == [0.2] * attentions
        assert (layer.dropout_module.p, layer.activation_dropout_module.p) == (0.1, 0.3)


def test_the_future_is_hidden():
    expected = [[False, True, True], [False, False, True], [False, False, False]]
    assert future_mask(torch.zeros(2, 3)).tolist() == expected

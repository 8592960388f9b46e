"""ReZero: the identity at the start, one scalar a layer, and no norms."""

import pytest
import torch
from torch import nn

from fathom.methods.rezero import ReZero
from tests.reference.padded.networks import padded, padded_logits
from tests.reference.padded.transformer import encoder_layer
from tests.support.small_networks import batch, gradients, method, network, nll, shape, stack

TASKS = torch.tensor([0, 1])
LENGTHS = [(5, 6), (3, 6)]


def rezero(sides: tuple[str, ...] = ("encoder", "decoder"), **changes: object) -> nn.Module:
    return network(method("rezero", sides), shape(norm="none", **changes))


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_at_the_start_the_stacks_are_the_identity_to_the_bit(dropout):
    """In training too: what dropout leaves of a sub-layer is scaled by 0 as well."""
    model = rezero(encoder_layers=5, attention_dropout=dropout, activation_dropout=dropout)
    source, previous, _ = batch(LENGTHS)
    encoded = padded(model).encoder(source, tasks=TASKS)["encoder_out"]
    positions = model.encoder.embed_positions(source)
    embedded = model.encoder.embed(source, positions).transpose(0, 1)
    assert all(torch.equal(each, embedded) for each in encoded)
    logits = padded_logits(model, source, previous, TASKS)
    one_layer = rezero(encoder_layers=5, decoder_layers=1)
    shallow = padded_logits(one_layer, source, previous, TASKS)
    assert torch.equal(logits, shallow)


def test_one_scalar_serves_all_sub_layers_of_a_layer():
    each = ReZero(stack(layers=3))
    each.a.data = torch.tensor([0.5, -2.0, 0.0])
    x, fx = torch.randn(2, 4, 2, 16)
    for part in ("self_attention", "cross_attention", "ffn"):
        for layer, scale in enumerate((0.5, -2.0, 0.0)):
            assert torch.allclose(each.residual(layer, part, x, fx), x + scale * fx)
    assert [parameter.shape for parameter in each.parameters()] == [(3,)]


def test_a_layer_adds_both_of_its_scaled_sub_layers():
    model = rezero()
    model.encoder.method.a.data = torch.tensor([0.3, 0.7, -0.2])
    layer, padding = model.encoder.layers[1], torch.zeros(2, 4, dtype=torch.bool)
    x = torch.randn(4, 2, 16)
    middle = x + 0.7 * layer.self_attn(x, x, x, need_weights=False)[0]
    expected = middle + 0.7 * layer.fc2(torch.relu(layer.fc1(middle)))
    assert torch.allclose(encoder_layer(layer, x, padding), expected, atol=1e-6)


def test_layers_wait_for_their_scalars_and_the_encoder_for_the_decoders():
    """At the start only the decoder's scalars have a gradient, since nobody reads the encoder."""
    model = rezero()
    source, previous, target = batch(LENGTHS)
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-2)
    reached = []
    for _ in range(3):
        optimiser.zero_grad()
        nll(padded_logits(model, source, previous, TASKS), target).backward()
        moved = {key for key, each in gradients(model).items() if each is not None and each.any()}
        places = {"encoder.method", "decoder.method", "encoder.layers", "decoder.layers"}
        reached.append(places & {key[: len("encoder.method")] for key in moved})
        optimiser.step()
    assert reached[0] == {"decoder.method"}
    assert reached[1] == {"decoder.method", "decoder.layers", "encoder.method"}
    assert reached[2] == {"decoder.method", "decoder.layers", "encoder.method", "encoder.layers"}

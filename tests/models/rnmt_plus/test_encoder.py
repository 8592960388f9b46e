"""The recurrent encoder: where its residuals begin, and what a method sees of it."""

import pytest
import torch
from torch import nn

from fathom.nn.hooks import Method
from fathom.nn.network import Entries
from fathom.nn.rnmt_plus.stacks import recurrent_table
from tests.support.small_networks import PAD, batch
from tests.support.small_rnmt import recurrent_network, silence

LENGTHS = [(5, 4), (3, 6), (1, 1)]
TASKS = torch.tensor([0, 1, 1])
SOURCE = batch(LENGTHS)[0]


def seen(encoder) -> list[torch.Tensor]:
    """Return the embeddings and each layer's output."""
    found = []
    encoder.observer = found.extend
    encoder(SOURCE, tasks=TASKS)
    return found


@pytest.mark.parametrize("residuals", [("encoder",), ("encoder", "decoder"), ("decoder",), ()])
def test_residuals_begin_with_the_third_layer_where_the_side_has_them(residuals):
    encoder = recurrent_network(residuals=residuals).encoder
    for layer in encoder.layers[2:]:
        silence(layer.lstm)
    outputs = seen(encoder)
    assert outputs[2].any()
    for output in outputs[3:]:
        assert torch.equal(output, outputs[2] if "encoder" in residuals else 0 * outputs[2])
    silence(encoder.layers[1].lstm)
    assert not seen(encoder)[2].any()


def test_dropout_falls_on_embeddings_and_on_every_layers_output_before_it_is_added():
    encoder = recurrent_network(dropout=0.5).train().encoder
    outputs = seen(encoder)
    assert 0.4 < outputs[0].eq(0).float().mean() < 0.6
    assert 0.4 < outputs[2].eq(0).float().mean() < 0.6
    assert 0.4 < outputs[3].eq(outputs[2]).float().mean() < 0.7


class Recording(Method):
    """Remembers what the hooks were given."""

    def __init__(self, stack):
        super().__init__(stack)
        self.asked = []

    def residual(self, layer, part, x, fx):
        self.asked.append(("residual", layer, part))
        return super().residual(layer, part, x, fx)

    def keep(self, layer):
        self.asked.append(("keep", layer))
        return True

    def block(self, layer, x, y):
        self.asked.append(("block", layer, tuple(x.shape), tuple(y.shape)))
        return y

    def after(self, layer, y):
        self.asked.append(("after", layer))
        return y

    def memory(self, outputs, count):
        self.asked.append(("memory", [tuple(each.shape) for each in outputs], count))
        return super().memory(outputs, count)


def test_a_method_is_asked_at_every_place_in_order():
    encoder = recurrent_network(Recording, encoder_layers=3).encoder
    encoder(SOURCE, tasks=TASKS)
    wide = (5, 3, 16)
    expected = []
    for layer in range(3):
        expected.append(("keep", layer))
        expected += [("residual", layer, "recurrence")] * (layer == 2)
        expected += [("block", layer, wide, wide), ("after", layer)]
    assert encoder.method.asked == [*expected, ("memory", [wide] * 4, 1)]


class Mixing(Method):
    """Lets the decoder read a weighted sum of all layers."""

    def __init__(self, stack):
        super().__init__(stack)
        self.weights = nn.Parameter(torch.arange(1.0, stack.sources + 1))

    def memory(self, outputs, count):
        layers = outputs[-self.stack.sources :]
        return [sum(w * h for w, h in zip(self.weights, layers, strict=True))] * count


def test_a_mixture_of_layers_is_made_before_the_projection():
    encoder = recurrent_network(Mixing).encoder
    assert (encoder.method.stack.sources, encoder.method.stack.memories) == (4, 1)
    outputs = seen(encoder)[1:]
    mixed = sum(number * output for number, output in enumerate(outputs, start=1))
    found = encoder(SOURCE, tasks=TASKS)
    assert len(found["encoder_out"]) == 1
    assert torch.allclose(found["encoder_out"][0], encoder.projection(mixed), atol=1e-4)
    assert torch.equal(found["encoder_padding_mask"][0], SOURCE.eq(PAD))
    found["encoder_out"][0].sum().backward()
    assert encoder.method.weights.grad.ne(0).all()


class Skipping(Method):
    """Leaves the first layer out."""

    def keep(self, layer):
        return layer != 0


def test_embeddings_can_take_the_first_layers_place():
    encoder = recurrent_network(Skipping).encoder
    outputs = seen(encoder)
    embeddings = encoder.embed_tokens(SOURCE).transpose(0, 1)
    assert torch.equal(outputs[1], torch.cat([embeddings, embeddings], dim=-1))
    encoder(SOURCE, tasks=TASKS)["encoder_out"][0].sum().backward()
    assert encoder.layers[0].lstm.weight.grad is None
    assert encoder.layers[1].lstm.weight.grad.any()


def test_sentences_of_an_encoded_batch_can_be_chosen():
    encoder = recurrent_network().encoder
    encoded = encoder(SOURCE, tasks=TASKS)
    order = torch.tensor([1, 1, 0])
    chosen = encoder.reorder_encoder_out(encoded, order)
    assert torch.equal(chosen["encoder_out"][0], encoded["encoder_out"][0][:, order])
    assert torch.equal(chosen["encoder_padding_mask"][0], SOURCE.eq(PAD)[order])


def test_tables_start_uniform_and_at_zero_for_padding():
    torch.manual_seed(1)
    table = recurrent_table(Entries(500), 64).weight
    assert 0.0399 < table.abs().max() <= 0.04
    assert table.std().item() == pytest.approx(0.04 / 3**0.5, rel=0.02)
    assert not table[PAD].any()


def test_a_sentence_may_be_of_any_length():
    encoder = recurrent_network(encoder_layers=1).encoder
    assert encoder.max_positions() > 10_000
    long = torch.full((1, 1500), 5)
    assert encoder(long, tasks=TASKS[:1])["encoder_out"][0].shape == (1500, 1, 8)

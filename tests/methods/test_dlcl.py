"""DLCL: its start, its two norms, and a peer's way to write it."""

import copy

import pytest
import torch
from torch import Tensor, nn

from fathom.methods.dlcl import LayerCombination, combination, running_average
from fathom.nn.network import count_parameters
from tests.support.small_networks import batch, gradients, method, network, nll, shape, stack

TASKS = torch.tensor([0, 1])
LENGTHS = [(5, 6), (3, 6)]
norms = pytest.mark.parametrize("norm", ["pre", "post"])


def hidden(count: int, seed: int = 1) -> list[Tensor]:
    """Return tensors of one stack's width whose mean is not 0, as embeddings and outputs."""
    stream = torch.Generator().manual_seed(seed)
    return [1 + 3 * torch.randn(4, 2, 16, generator=stream) for _ in range(count)]


def reads(each: LayerCombination, outputs: list[Tensor]) -> list[Tensor]:
    """Return what every layer reads, and what leaves the stack, as a stack asks for it."""
    each.begin(TASKS)
    return [each.source(layer, outputs[: layer + 1]) for layer in range(len(outputs))]


def unlike(each: LayerCombination) -> LayerCombination:
    """Give every parameter a value of its own, so that none can replace another."""
    torch.manual_seed(4)
    for parameter in each.parameters():
        parameter.data.normal_(mean=0.5)
    return each


class Peer(nn.Module):
    """The combination as its authors write it: layers are pushed on a list, and sums popped."""

    def __init__(self, ours: LayerCombination, norm: str):
        super().__init__()
        self.weight, self.layer_gradient_norms, self.pre = ours.weights, ours.norms, norm == "pre"
        self.layers = []

    def push(self, layer: Tensor) -> None:
        if self.pre and self.layers:
            layer = self.layer_gradient_norms[len(self.layers) - 1](layer)
        self.layers.append(layer)

    def pop(self) -> Tensor:
        count = len(self.layers)
        rows = self.weight[count - 1, :count].view(-1, 1, 1, 1)
        total = (torch.stack(self.layers) * rows).sum(dim=0)
        return total if self.pre or count == 1 else self.layer_gradient_norms[count - 2](total)


def test_it_starts_as_the_running_average_of_the_normed_outputs():
    outputs = hidden(4)
    normed = [outputs[0], *(nn.functional.layer_norm(each, (16,)) for each in outputs[1:])]
    for layer, found in enumerate(reads(LayerCombination(stack()), outputs)):
        mean = torch.stack(normed[: layer + 1]).mean(dim=0)
        assert torch.allclose(found, mean, atol=1e-6), layer


def test_in_post_norm_it_starts_as_the_norm_of_the_running_average():
    outputs = hidden(4)
    found = reads(LayerCombination(stack(norm="post")), outputs)
    assert torch.equal(found[0], outputs[0])
    for layer in (1, 2, 3):
        mean = torch.stack(outputs[: layer + 1]).mean(dim=0)
        assert torch.allclose(found[layer], nn.functional.layer_norm(mean, (16,)), atol=1e-5), layer


@norms
def test_it_reads_what_the_peers_list_gives(norm):
    each = unlike(LayerCombination(stack(norm=norm)))
    outputs, peer = hidden(4), Peer(each, norm)
    for found, output in zip(reads(each, outputs), outputs, strict=True):
        peer.push(output)
        assert torch.allclose(found, peer.pop(), atol=1e-5)


@norms
def test_weights_of_the_last_output_with_its_norms_left_out_are_the_static_model(norm):
    """To the bit; with its norms it never is, so the card names no neutral state."""
    model = network(method("dlcl"), shape(norm=norm))
    static = network(method("static", ()), shape(norm=norm))
    for each in model.methods.values():
        each.weights.data = torch.eye(4)
        each.norms = nn.ModuleList(nn.Identity() for _ in range(3))
    source, previous, target = batch(LENGTHS)
    logits, expected = (each(source, previous, TASKS) for each in (model, static))
    assert torch.equal(logits, expected)
    for each in (logits, expected):
        nll(each, target).backward()
    found = gradients(model)
    for key, gradient in gradients(static).items():
        # Some matrices are laid out otherwise, and then multiplied in another order.
        assert torch.allclose(gradient, found[key], rtol=1e-5, atol=1e-6), key


@norms
def test_the_upper_triangle_never_matters(norm):
    each = unlike(LayerCombination(stack(norm=norm)))
    outputs = hidden(4)
    before = reads(each, outputs)
    each.weights.data[torch.ones(4, 4, dtype=torch.bool).triu(1)] = float("nan")
    for found, expected in zip(reads(each, outputs), before, strict=True):
        assert torch.equal(found, expected)


def test_weights_are_free_and_their_gradient_is_the_output_itself():
    weights = torch.tensor([0.5, -2.0, 3.0], requires_grad=True)
    outputs = hidden(3)
    found = combination(weights, outputs)
    assert torch.allclose(found, 0.5 * outputs[0] - 2 * outputs[1] + 3 * outputs[2], atol=1e-5)
    found.sum().backward()
    assert torch.allclose(weights.grad, torch.stack([each.sum() for each in outputs]), rtol=1e-4)


@pytest.mark.parametrize("layers", [1, 2, 7])
def test_each_row_starts_as_equal_weights(layers):
    rows = running_average(layers)
    assert rows.shape == (layers + 1, layers + 1)
    for row, values in enumerate(rows.tolist()):
        assert values == pytest.approx([1 / (row + 1)] * (row + 1) + [0] * (layers - row))


def test_it_adds_a_square_of_weights_and_a_norm_for_each_layer():
    for side, layers in (("encoder", 6), ("decoder", 4)):
        model = shape(encoder_layers=6, decoder_layers=4, width=32)
        plain, more = (
            count_parameters(network(each, model))
            for each in (method("static", ()), method("dlcl", (side,)))
        )
        assert more[side] - plain[side] == (layers + 1) ** 2 + 2 * 32 * layers
        assert more["total"] - plain["total"] == more[side] - plain[side]


def test_each_output_is_normalised_once_a_pass():
    each, calls = LayerCombination(stack()), []
    for number, norm in enumerate(each.norms):
        norm.register_forward_hook(lambda *_, number=number: calls.append(number))
    for _ in range(2):
        reads(each, hidden(4))
    assert calls == [0, 1, 2, 0, 1, 2]


@norms
def test_a_pass_leaves_nothing_behind_even_one_that_was_broken_off(norm):
    model = network(method("dlcl"), shape(norm=norm))
    source, previous, _ = batch(LENGTHS)
    each = model.encoder.method
    each.begin(TASKS)
    each.source(0, hidden(1, seed=2))
    broken_off = model(source, previous, TASKS)
    assert torch.equal(
        broken_off, network(method("dlcl"), shape(norm=norm))(source, previous, TASKS)
    )
    copied = copy.deepcopy(model)
    assert torch.equal(copied(source, previous, TASKS), broken_off)

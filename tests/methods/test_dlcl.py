"""DLCL: its start, its two norms, and a peer's way to write it."""

import copy

import pytest
import torch
from torch import Tensor, nn

from fathom.methods.dlcl import LayerCombination
from tests.reference.padded.networks import padded_logits
from tests.support.small_networks import batch, method, network, shape, stack

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
def test_the_upper_triangle_never_matters(norm):
    each = unlike(LayerCombination(stack(norm=norm)))
    outputs = hidden(4)
    before = reads(each, outputs)
    each.weights.data[torch.ones(4, 4, dtype=torch.bool).triu(1)] = float("nan")
    for found, expected in zip(reads(each, outputs), before, strict=True):
        assert torch.equal(found, expected)


@norms
def test_a_pass_leaves_nothing_behind_even_one_that_was_broken_off(norm):
    model = network(method("dlcl"), shape(norm=norm))
    source, previous, _ = batch(LENGTHS)
    each = model.encoder.method
    each.begin(TASKS)
    each.source(0, hidden(1, seed=2))
    broken_off = padded_logits(model, source, previous, TASKS)
    assert torch.equal(
        broken_off,
        padded_logits(network(method("dlcl"), shape(norm=norm)), source, previous, TASKS),
    )
    copied = copy.deepcopy(model)
    assert torch.equal(padded_logits(copied, source, previous, TASKS), broken_off)

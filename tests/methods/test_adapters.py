"""Adapters: what they add, to which sentences, and what does not move."""

import pytest
import torch
from torch import nn

from fathom.methods.adapters import Adapters
from fathom.methods.build import count
from tests.support.small_networks import method, shape, stack


def adapters(tasks: int = 3, side: str = "encoder", seed: int = 4) -> Adapters:
    torch.manual_seed(seed)
    return Adapters(stack(side, layers=2, tasks=tasks), bottleneck=8)


def filled(each: nn.Module) -> nn.Module:
    """Fill every tensor with random values, so that adapters add something."""
    stream = torch.Generator().manual_seed(2)
    for parameter in each.parameters():
        parameter.data.normal_(generator=stream)
    return each


def test_each_sentence_gets_what_its_tasks_adapter_adds():
    each = filled(adapters())
    y, tasks = torch.randn(5, 4, 16), torch.tensor([2, 0, 2, 1])
    each.begin(tasks)
    for layer in range(2):
        found = each.after(layer, y)
        for sentence, task in enumerate(tasks.tolist()):
            own = dict(each.adapters[layer][task].named_parameters())
            x = y[:, sentence]
            normed = (x - x.mean(dim=1, keepdim=True)) / x.std(dim=1, keepdim=True, unbiased=False)
            normed = normed * own["norm.weight"] + own["norm.bias"]
            inner = (normed @ own["down"].t() + own["down_bias"]).clamp(min=0)
            added = inner @ own["up"].t() + own["up_bias"]
            assert torch.allclose(found[:, sentence], x + added, atol=1e-3, rtol=1e-4)


def test_the_start_of_a_tasks_adapters_depends_on_the_seed_and_side_and_on_no_other_task():
    def start(**settings) -> torch.Tensor:
        each = adapters(**settings)
        return torch.stack([layer[1].down.detach() for layer in each.adapters])

    assert torch.equal(start(tasks=2), start(tasks=3))
    assert not torch.equal(start(seed=5), start())
    assert not torch.equal(start(side="decoder"), start())
    both = adapters(tasks=2).adapters
    starts = [each.down for layer in both for each in layer]
    assert len({tuple(each.flatten().tolist()) for each in starts}) == 4


def test_xaviers_rule_bounds_the_first_map():
    torch.manual_seed(1)
    each = Adapters(stack(width=64), bottleneck=32).adapters[0][0]
    bound = (6 / (64 + 32)) ** 0.5
    assert 0.95 * bound < each.down.abs().max() <= bound


@pytest.mark.parametrize(
    ("tasks", "bottleneck", "ffn", "added"),
    [(6, 2048, 2048, 151_252_992), (8, 128, 1024, 12_742_656)],
)
def test_the_papers_adapters_have_the_papers_size(tasks, bottleneck, ffn, added):
    """Per layer and task two maps with biases and a layer norm."""
    model = shape(encoder_layers=6, decoder_layers=6, width=512, ffn=ffn, heads=8)
    assert added == 12 * tasks * (2 * 512 * bottleneck + bottleneck + 512 + 2 * 512)
    found = count(model, method("adapters", bottleneck=bottleneck), tasks, 1000, 1000)
    without = count(model, method("static", ()), tasks, 1000, 1000)
    assert found["total"] - without["total"] == added

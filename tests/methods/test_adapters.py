"""Adapters: what they add, to which sentences, and what does not move."""

import pytest
import torch
from torch import nn

from fathom.methods.adapters import CHUNKS, Adapters
from fathom.methods.build import count
from tests.support.small_networks import gradients, method, shape, stack


def adapters(tasks: int = 3, side: str = "encoder", seed: int = 4, bottleneck: int = 8) -> Adapters:
    torch.manual_seed(seed)
    return Adapters(stack(side, layers=2, tasks=tasks), bottleneck=bottleneck)


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


@pytest.mark.parametrize("positions", [1, 5])
def test_chunks_give_the_outputs_and_gradients_of_the_loop_over_tasks(positions, monkeypatch):
    """In two micro-batches; the second has other tasks, and task 4 is in none."""
    batches = torch.tensor([2, 0, *[2] * 9, *[3] * 6]), torch.tensor([1, 3, 3, 1, 2, 2])

    def outcome(chunks):
        monkeypatch.setitem(CHUNKS, "cpu", chunks)
        each, stream = filled(adapters(tasks=5)).double(), torch.Generator().manual_seed(3)
        states = {}
        for batch, tasks in enumerate(batches):
            y = torch.randn(positions, len(tasks), 16, generator=stream, dtype=torch.float64)
            each.begin(tasks)
            assert bool(each.chunk_rows) == bool(chunks)
            states[batch] = each.after(1, y.requires_grad_())
            states[batch].pow(3).mean().backward()
            states[f"gradient {batch}"] = y.grad
        return states, gradients(each)

    (loop, expected), (chunks, found) = outcome(0), outcome(2)
    for ours, theirs in ((chunks, loop), (found, expected)):
        used = {name for name, value in theirs.items() if value is not None}
        assert used == {name for name, value in ours.items() if value is not None}
        for name in used:
            torch.testing.assert_close(ours[name], theirs[name], rtol=1e-10, atol=1e-10)
    assert {name.split(".")[2] for name in used} == {"0", "1", "2", "3"}


@pytest.mark.parametrize("counts", [(1000, 1, 1, 1), (5, 5, 5), (1, 1), (300, 7), (9,)])
@pytest.mark.parametrize(("bottleneck", "cut"), [(16, True), (17, False)])
def test_padding_is_at_most_half_of_the_rows_and_wide_adapters_have_none(
    counts, bottleneck, cut, monkeypatch
):
    monkeypatch.setitem(CHUNKS, "cpu", 2)
    each, rows = adapters(tasks=4, bottleneck=bottleneck), sum(counts)
    each.begin(torch.arange(len(counts)).repeat_interleave(torch.tensor(counts)))
    assert rows <= len(each.rows) <= (1.5 * rows if cut else rows)
    assert bool(each.chunk_rows) == (cut and len(counts) > 2)


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

"""Compiled layers on the way that CUDA takes: how often a compiler makes code for them."""

import random

import pytest
import torch
import torch.nn.functional as F
from torch import _dynamo as dynamo
from torch._dynamo.utils import counters

from fathom.nn import packing
from fathom.nn.attention import varlen_attention
from fathom.nn.loss import smoothed_loss
from fathom.nn.transformer import layers
from fathom.train.batches.collate import Batch
from tests.nn.kernels_of_cuda import on_cpu
from tests.support.small_networks import PAD, batch, method, network, shape

DEPTH = 24


def sentences(count):
    """Return a batch of random sentences of 3 to 20 tokens, of two tasks in turns."""
    lengths = [(random.randint(3, 20), random.randint(3, 20)) for _ in range(count)]
    source, previous, target = batch(lengths)
    tasks = [number % 2 for number in range(count)]
    sides = [tuple(side) for side in zip(*lengths, strict=True)]
    tokens = int(target.ne(PAD).sum())
    both = torch.tensor(tasks), torch.arange(count)
    return Batch(source, previous, target, *both, tokens, *sides, tuple(tasks))


@pytest.fixture
def as_on_cuda(monkeypatch):
    """Take the ways of CUDA: one block of all sentences, its attention, and torch's dropout."""
    assigned = packing.assigned
    monkeypatch.setattr(packing, "assigned", lambda lengths, _: assigned(lengths, in_blocks=False))
    monkeypatch.setattr(layers, "attend_packed", varlen_attention)
    monkeypatch.setattr(layers, "dropout", F.dropout)
    dynamo.reset()
    counters.clear()
    with on_cpu():
        yield
    dynamo.reset()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["static", "latent_layers", "transparent", "group_dropout"])
def test_batches_of_twelve_sizes_need_four_graphs_and_break_none(name, as_on_cuda):
    random.seed(1)
    stacks = ("encoder",) if name == "transparent" else ("encoder", "decoder")
    model = shape(encoder_layers=DEPTH, decoder_layers=DEPTH, dropout=0.3, attention_dropout=0.3)
    values = {"groups": 4, "active": 2} if name == "group_dropout" else {}
    deep = network(method(name, () if name == "static" else stacks, **values), model).train()
    deep.compile_layers(backend="eager")
    for update in range(12):
        deep.start_update(1, update + 1)
        logits, target, _ = deep.predict(sentences(random.randint(4, 30)))
        smoothed_loss(logits, target, 0.1)[0].backward()
        deep.zero_grad(set_to_none=True)
    assert not counters["graph_break"]
    assert 2 <= counters["stats"]["unique_graphs"] <= 4

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
from fathom.nn.network import LowPrecision
from fathom.nn.transformer import layers
from tests.nn.kernels_of_cuda import on_cpu
from tests.support.small_networks import (
    gradients,
    method,
    network,
    recurrent_network,
    sentences,
    shape,
)

DEPTH = 24


def random_sentences(count):
    """Return a batch of random sentences of 3 to 20 tokens."""
    return sentences([(random.randint(3, 20), random.randint(3, 20)) for _ in range(count)])


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
@pytest.mark.parametrize(
    ("name", "low"),
    [
        ("static", False),
        ("latent_layers", False),
        ("transparent", False),
        ("group_dropout", False),
        ("latent_layers", True),
    ],
)
def test_batches_of_twelve_sizes_need_four_graphs_and_break_none(name, low, as_on_cuda):
    random.seed(1)
    stacks = ("encoder",) if name == "transparent" else ("encoder", "decoder")
    model = shape(encoder_layers=DEPTH, decoder_layers=DEPTH, dropout=0.3, attention_dropout=0.3)
    values = {"groups": 4, "active": 2} if name == "group_dropout" else {}
    deep = network(method(name, () if name == "static" else stacks, **values), model).train()
    deep.compile_layers(backend="eager")
    in_bfloat16 = LowPrecision(deep)
    for update in range(12):
        in_bfloat16.start_update()
        deep.start_update(1, update + 1)
        predict = in_bfloat16.predict if low else deep.predict
        logits, target, _ = predict(random_sentences(random.randint(4, 30)))
        smoothed_loss(logits, target, 0.1)[0].backward()
        deep.zero_grad(set_to_none=True)
    assert not counters["graph_break"]
    assert 2 <= counters["stats"]["unique_graphs"] <= 4


@pytest.mark.slow
def test_a_compiled_step_of_rnmt_plus_needs_few_graphs_and_learns_the_same():
    dynamo.reset()
    counters.clear()
    random.seed(1)
    layers = {"encoder_layers": 2, "decoder_layers": 2}
    plain, compiled = (recurrent_network(**layers).train() for _ in range(2))
    compiled.compile_layers(backend="eager")
    for _ in range(12):
        batch = random_sentences(random.randint(4, 30))
        for model in (plain, compiled):
            model.zero_grad(set_to_none=True)
            logits, target, _ = model.predict(batch)
            smoothed_loss(logits, target, 0.1)[0].backward()
        for name, gradient in gradients(plain).items():
            assert torch.equal(gradients(compiled)[name], gradient), name
    # An encoder's, an upper decoder layer's and the first layer's; each for one size, then for any.
    assert counters["stats"]["unique_graphs"] == 6
    # Validation has its own.
    with torch.no_grad():
        compiled.eval().predict(random_sentences(5))
    assert counters["stats"]["unique_graphs"] == 9
    assert not counters["graph_break"]
    dynamo.reset()

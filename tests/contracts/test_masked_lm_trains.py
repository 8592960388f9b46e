"""A small masked language model learns real text: Python's own manual and one of its modules."""

import argparse
import inspect
import math
from dataclasses import replace
from pydoc_data.topics import topics

import pytest
import torch

from fathom.config.schedules import learning_rate
from fathom.data.encode import encode
from fathom.data.subwords import train
from fathom.data.tensors import load
from fathom.io.files import write_lines
from fathom.methods.build import build
from fathom.train.outcomes import validate
from fathom.train.ranks import Ranks
from fathom.train.two_level import TwoLevel
from fathom.train.update_batches import MaskedUpdateBatches
from tests.support.small_corpus import record_corpus, silent, small_data
from tests.support.small_networks import method, shape
from tests.support.small_runs import masked

TASKS = ("english", "python")
UPDATES = 120
# Nats by which a trained model knows held-out pieces better than their frequencies do.
MARGIN = 0.05
MODEL = {
    "architecture": "masked_lm",
    "encoder_layers": 2,
    "decoder_layers": 0,
    "width": 32,
    "ffn": 64,
    "activation": "gelu",
    "output_bias": True,
    "block": 24,
    "dropout": 0.0,
}


def lines_of(task):
    """Return the sentences of a task: lines of at least three words."""
    text = "\n".join(topics.values()) if task == "english" else inspect.getsource(argparse)
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return [line for line in lines if line.count(" ") >= 2][:3000]


@pytest.fixture(scope="module")
def encoded(tmp_path_factory):
    """The two tasks, cut into pieces; source and target of a pair are the same text."""
    folder = tmp_path_factory.mktemp("masked")
    for task in TASKS:
        lines = lines_of(task)
        splits = {"valid": lines[::10], "test": lines[1::10]}
        splits["train"] = [line for i, line in enumerate(lines) if i % 10 > 1]
        for split, held in splits.items():
            for side in (task, "same"):
                write_lines(folder / "corpus" / task / f"{split}.{side}", held)
    record_corpus(folder / "corpus")
    definition = {"pivot": "same", "tasks": [[task, task] for task in TASKS]}
    data = small_data(definition, foreign=150, english=150, max_pieces=22)
    train(data, folder / "corpus", folder / "subwords", silent)
    encode(data, folder / "corpus", folder / "subwords", folder / "tensors", silent)
    return load(folder / "tensors")


def small_run():
    schedule = {"name": "inverse_sqrt", "learning_rate": 7e-3, "warmup": 20}
    changes = {"batch": {"tokens": 1500}, "schedule": schedule}
    return masked(changes={"model": MODEL, "training": changes})


def batches_of(tensors, tokens_per_device=100_000):
    device = torch.device("cpu")
    return MaskedUpdateBatches(tensors, small_run(), 1, Ranks(0, 1), device, tokens_per_device)


def two_levels(network):
    training = small_run().training
    schedule = learning_rate(training.schedule, width=32, updates=UPDATES)
    return TwoLevel(network, training, schedule, 1, Ranks(0, 1))


def trained(tensors, batches, name, stacks, updates=UPDATES, **chosen):
    """Return a model after some updates, with the loss of each."""
    torch.manual_seed(1)
    dictionaries = (tensors.source_dictionary, tensors.target_dictionary)
    network = build(shape(**MODEL), method(name, stacks, **chosen), len(TASKS), *dictionaries)
    two_level = two_levels(network)
    results = [two_level.update(n, batches.micro_batches(n)) for n in range(1, updates + 1)]
    return network, [result.numbers()["nll"] for result in results]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "stacks", "chosen"),
    [
        ("static", (), {}),
        ("layerdrop", ("encoder",), {"p": 0.25}),
        ("latent_layers", ("encoder",), {"posterior": "shared"}),
    ],
)
def test_held_out_perplexity_falls_below_the_unigrams(encoded, name, stacks, chosen):
    batches = batches_of(encoded)
    network, losses = trained(encoded, batches, name, stacks, **chosen)
    assert all(map(math.isfinite, losses))
    network.use_gates("soft" if name == "latent_layers" else "plain")
    found = validate(network, batches.validation, len(TASKS), Ranks(0, 1))
    assert found.nll < batches.unigram_nll - MARGIN
    assert math.exp(batches.unigram_nll) < len(encoded.source_dictionary)
    # What it knows it reads from the pieces around: with all of them hidden it knows less.
    mask = len(encoded.source_dictionary)
    blind = [replace(each, source=each.source.where(each.source < 4, mask))
             for each in batches.validation]  # fmt: skip
    assert validate(network, blind, len(TASKS), Ranks(0, 1)).nll > found.nll + MARGIN
    if name == "latent_layers":
        assert network.encoder.method.alpha.shape == (1, 2)
        assert network.encoder.method.alpha.abs().min() > 0


def test_micro_batches_have_the_gradient_of_the_whole_update(encoded):
    results = []
    for tokens_per_device in (100_000, 300):
        batches = batches_of(encoded, tokens_per_device)
        network, _ = trained(encoded, batches, "latent_layers", ("encoder",), updates=0)
        update = batches.micro_batches(1)
        results.append(two_levels(network).update(1, update))
    assert len(update.batches) > 3
    whole, cut = (result.numbers() for result in results)
    for name, near in (("nll", 1e-5), ("gradient_norm", 1e-4), ("gradient_norm_phi", 1e-3)):
        assert cut[name] == pytest.approx(whole[name], rel=near)

"""A small masked language model learns real text: Python's own manual and one of its modules."""

import argparse
import inspect
import math
from dataclasses import replace
from pydoc_data.topics import topics

import pytest
import torch

from fathom.batches.encode import encode
from fathom.batches.masking import Masking, mask_symbol
from fathom.batches.tensors import load
from fathom.evaluation.perplexity import of_nats
from fathom.io.files import write_json, write_lines
from fathom.methods.loader import build
from fathom.runs import spec
from fathom.subwords.train import train
from fathom.training.masked_feed import MaskedFeed
from fathom.training.ranks import Ranks
from fathom.training.two_level import TwoLevel
from fathom.training.validation import validate
from tests.reference.small_networks import method, shape
from tests.subwords.small_corpus import silent, small_data
from tests.training.small_runs import specification

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
    "learned_positions": 24,
    "dropout": 0.0,
}


def lines_of(task):
    """Return the sentences of a task: lines of at least three words."""
    text = "\n".join(topics.values()) if task == "english" else inspect.getsource(argparse)
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return [line for line in lines if line.count(" ") >= 2][:3000]


@pytest.fixture(scope="module")
def encoded(tmp_path_factory):
    """The two tasks, cut into pieces; both sides of a pair are the same text."""
    folder = tmp_path_factory.mktemp("masked")
    for task in TASKS:
        lines = lines_of(task)
        splits = {"valid": lines[::10], "test": lines[1::10]}
        splits["train"] = [line for i, line in enumerate(lines) if i % 10 > 1]
        for split, held in splits.items():
            for side in (task, "same"):
                write_lines(folder / "corpus" / task / f"{split}.{side}", held)
    write_json(folder / "corpus" / "corpus.json", {"tasks": list(TASKS)})
    data = replace(
        small_data(source_vocabulary=150, target_vocabulary=150, max_pieces=22),
        tasks=TASKS,
        definition={"pivot": "same", "tasks": [[task, task] for task in TASKS]},
    )
    train(data, folder / "corpus", folder / "subwords", silent)
    encode(data, folder / "corpus", folder / "subwords", folder / "tensors", silent)
    return load(folder / "tensors")


def fed(tensors, tokens_per_device=100_000):
    """Return what feeds the trainings."""
    return MaskedFeed(
        tensors,
        spec.Batches(1500, "update", "proportional", "independent", 1),
        Masking(chosen=0.15, masked=0.8, random=0.1, language_exponent=0.3),
        MODEL["learned_positions"],
        1,
        Ranks(0, 1),
        torch.device("cpu"),
        tokens_per_device,
    )


def settings():
    """Return how the small models are trained."""
    return replace(
        specification().training,
        label_smoothing=0.0,
        schedule=spec.Schedule("inverse_sqrt", {"learning_rate": 7e-3, "warmup": 20}),
    )


def trained(tensors, feed, name, sides, updates=UPDATES, **chosen):
    """Return a model after some updates, with the loss of each."""
    torch.manual_seed(1)
    dictionaries = (tensors.source_dictionary, tensors.target_dictionary)
    network = build(shape(**MODEL), method(name, sides, **chosen), len(TASKS), *dictionaries)
    two_level = TwoLevel(network, settings(), 1, Ranks(0, 1))
    losses = [two_level.update(n, feed.parts(n)).nll for n in range(1, updates + 1)]
    return network, losses


@pytest.mark.parametrize(
    ("name", "sides", "chosen"),
    [
        ("static", (), {}),
        ("layerdrop", ("encoder",), {"p": 0.25}),
        ("latent_layers", ("encoder",), {"posterior": "shared"}),
    ],
)
def test_held_out_perplexity_falls_below_the_unigrams(encoded, name, sides, chosen):
    feed = fed(encoded)
    network, losses = trained(encoded, feed, name, sides, **chosen)
    assert all(map(math.isfinite, losses))
    network.use_gates("soft" if name == "latent_layers" else "plain")
    found = validate(network, feed.validation, len(TASKS))
    assert found.nll < feed.unigram_nll - MARGIN
    assert of_nats(found.nll) < of_nats(feed.unigram_nll) < len(encoded.source_dictionary)
    # What it knows it reads from the pieces around: with all of them hidden it knows less.
    mask = mask_symbol(len(encoded.source_dictionary))
    blind = [replace(each, source=each.source.where(each.source < 4, mask))
             for each in feed.validation]  # fmt: skip
    assert validate(network, blind, len(TASKS)).nll > found.nll + MARGIN
    if name == "latent_layers":
        assert network.encoder.method.alpha.shape == (1, 2)
        assert network.encoder.method.alpha.abs().min() > 0


def test_the_symbol_that_hides_is_the_networks_last_row(encoded):
    feed = fed(encoded)
    network, _ = trained(encoded, feed, "static", (), updates=0)
    (batch,) = feed.parts(1).mine
    assert network.encoder.embed_tokens.num_embeddings == batch.source.max() + 1
    assert batch.target.max() < batch.source.max()
    assert max(each.source.size(1) for each in feed.validation) <= network.encoder.max_positions()


def test_micro_batches_have_the_gradient_of_the_whole_update(encoded):
    results = []
    for tokens_per_device in (100_000, 300):
        feed = fed(encoded, tokens_per_device)
        network, _ = trained(encoded, feed, "latent_layers", ("encoder",), updates=0)
        parts = feed.parts(1)
        results.append(TwoLevel(network, settings(), 1, Ranks(0, 1)).update(1, parts))
    assert len(parts.mine) > 3
    whole, cut = results
    assert cut.nll == pytest.approx(whole.nll, rel=1e-5)
    assert cut.gradient_norm == pytest.approx(whole.gradient_norm, rel=1e-4)
    assert cut.gradient_norm_phi == pytest.approx(whole.gradient_norm_phi, rel=1e-3)

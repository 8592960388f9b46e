"""Runs on the small corpus, for the tests of this room."""

from dataclasses import replace

import torch

from fathom.batches.encode import encode
from fathom.batches.tensors import load
from fathom.runs import spec
from fathom.subwords.train import train
from fathom.training.feed import Feed
from fathom.training.loop import Launch
from fathom.training.ranks import Ranks
from tests.reference.small_networks import method, shape
from tests.subwords.small_corpus import silent, small_data, write_corpus

BATCHES = spec.Batches(tokens=60, tokens_are="task", shares="equal", scheme="pool", pool_updates=4)
SCHEDULE = spec.Schedule("inverse_sqrt", {"learning_rate": 5.0e-3, "warmup": 4})


def specification(name="static", sides=(), updates=6, outcome=None, **settings):
    """Return a run on the small corpus; `settings` are the method's."""
    training = spec.Training(
        updates=updates,
        batches=BATCHES,
        label_smoothing=0.1,
        schedule=SCHEDULE,
        adam_betas=(0.9, 0.98),
        adam_eps=1.0e-6,
        weight_decay=0.0,
        clip=1.0,
        precision="fp32",
        validate_every=3,
        keep_weights=0,
        masking=None,
        start=None,
    )
    gates = "soft" if name == "latent_layers" else "plain"
    return spec.Spec(
        run=f"{name}_3_3",
        scale="tiny",
        data=small_data(),
        model=shape(dropout=0.1),
        method=method(name, sides, **settings),
        training=training,
        outcome=outcome or spec.Outcome(exploded_above=20.0, exploded_for=3, failed_margin=0.0),
        evaluation=spec.Evaluation(
            spec.Decoding(1, 5, 1.0, 1.5, 10), spec.Scoring("13a", 100), gates
        ),
    )


def latent(updates=6, **settings):
    """Return a latent run whose target depth is not where its gates start."""
    return specification(
        "latent_layers",
        ("encoder", "decoder"),
        updates,
        **({"target_depth": 1, "target_depth_sides": ["decoder"]} | settings),
    )


def masked(name="static", sides=(), updates=6, outcome=None, **settings):
    """Return a run of a masked language model on the small corpus's source side."""
    run = specification(name, sides, updates, outcome, **settings)
    return replace(
        run,
        model=shape(
            architecture="masked_lm",
            decoder_layers=0,
            dropout=0.1,
            output_bias=True,
            learned_positions=128,
        ),
        training=replace(
            run.training,
            batches=spec.Batches(1000, "update", "proportional", "independent", 1),
            label_smoothing=0.0,
            masking=spec.Masking(chosen=0.15, masked=0.8, random=0.1, language_exponent=0.3),
        ),
    )


LAUNCH = Launch("cpu", tokens_per_device=10_000, log_every=2, diagnose_first=0, diagnose_every=0)


def feed(spec, tensors, ranks=None, tokens_per_device=10_000, seed=1):
    """Return what feeds a run on the small corpus."""
    return Feed(
        load(tensors),
        spec.training.batches,
        seed,
        ranks or Ranks(0, 1),
        torch.device("cpu"),
        tokens_per_device,
    )


def encoded(folder):
    """Make the small corpus's tensors under a folder, and return their own folder."""
    corpus = write_corpus(folder / "corpus")
    train(small_data(), corpus, folder / "subwords", silent)
    encode(small_data(), corpus, folder / "subwords", folder / "tensors", silent)
    return folder / "tensors"

"""Runs on the small corpus, for the tests of this room."""

import torch

from fathom.batches.tensors import load
from fathom.catalog import spec
from fathom.training.feed import Feed
from fathom.training.loop import Launch
from fathom.training.ranks import Ranks
from tests.reference.small_networks import method, shape
from tests.subwords.small_corpus import small_data

BATCHES = spec.Batches(tokens=60, tokens_are="task", shares="equal", scheme="pool", pool_updates=4)


def specification(name="static", sides=(), updates=6, outcome=None, **settings):
    """Return a run on the small corpus; `settings` are the method's."""
    training = spec.Training(
        updates=updates,
        batches=BATCHES,
        label_smoothing=0.1,
        schedule="inverse_sqrt",
        learning_rate=5.0e-3,
        warmup=4,
        adam_betas=(0.9, 0.98),
        adam_eps=1.0e-6,
        weight_decay=0.0,
        clip=1.0,
        precision="fp32",
        validate_every=3,
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
        evaluation=spec.Evaluation(spec.Decoding(5, 1.0, 1.5, 10), spec.Scoring("13a", 100), gates),
    )


def latent(updates=6, **settings):
    """Return a latent run whose target depth is not where its gates start."""
    return specification(
        "latent_layers",
        ("encoder", "decoder"),
        updates,
        **({"target_depth": 1, "target_depth_sides": ["decoder"]} | settings),
    )


LAUNCH = Launch(device="cpu", tokens_per_device=10_000, log_every=2)


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

"""Runs on the small corpus, and their encoded text."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from fathom.config.schedules import learning_rate
from fathom.config.spec import DataSpec, Spec
from fathom.config.switches import Switches
from fathom.data import subwords
from fathom.data.encode import encode
from fathom.data.tensors import load
from fathom.io.files import read_json
from fathom.methods.build import build
from fathom.train.batches.collate import collate
from fathom.train.loop import TrainPaths
from fathom.train.progress import Reporter
from fathom.train.ranks import Ranks
from fathom.train.train import train
from fathom.train.two_level import TwoLevel
from fathom.train.update_batches import MaskedUpdateBatches, MicroBatches, UpdateBatches
from tests.support import specs
from tests.support.small_corpus import silent, small_data, write_corpus

SWITCHES = Switches(
    scale="tiny",
    device="cpu",
    tokens_per_device=10_000,
    log_every=2,
    save_minutes=0,
    diagnose_first=0,
    diagnose_every=0,
)


def switched(**changes: Any) -> Switches:
    """Return the switches of small trainings with changes."""
    return SWITCHES.model_copy(update=changes)


def specification(
    name: str = "static",
    stacks: tuple[str, ...] = (),
    changes: dict[str, Any] | None = None,
    **values: Any,
) -> Spec:
    """Return a run on the small corpus; `changes` are nested as in runs.yaml."""
    tree = {
        "model": {"encoder_layers": 3, "decoder_layers": 3, "heads": 4},
        "method": {"name": name, "stacks": stacks, **values},
        "training": {
            "updates": 6,
            "batch": {"tokens": 60, "pool": 4},
            "schedule": {"learning_rate": 5.0e-3, "warmup": 4},
            "validate_every": 3,
        },
        "outcome": {"exploded_above": 20.0, "exploded_for": 3},
        "decoding": {"beam": 5},
    }
    merged = specs.merged(specs.merged(specs.TREE, tree), changes or {})
    return replace(specs.small_spec(merged, run=f"{name}_3_3"), data=small_data())


def latent(changes: dict[str, Any] | None = None, **values: Any) -> Spec:
    """Return a latent run whose target depth is not where its gates start."""
    values = {"target_depth": 1, "target_depth_stacks": ("decoder",)} | values
    return specification("latent_layers", ("encoder", "decoder"), changes, **values)


def masked(
    name: str = "static",
    stacks: tuple[str, ...] = (),
    changes: dict[str, Any] | None = None,
    **values: Any,
) -> Spec:
    """Return a run of a masked language model on the small corpus's source."""
    ends = {"output_bias": True, "block": 128}
    tree = {
        "model": {"architecture": "masked_lm", "decoder_layers": 0, **ends},
        "masking": {"chosen": 0.15, "masked": 0.8, "random": 0.1},
        "training": {
            "batch": {"tokens": 1000, "per": "update", "pool": 1},
            "shares": {"temperature": 0.3},
            "label_smoothing": 0.0,
        },
        "decoding": None,
    }
    return specification(name, stacks, specs.merged(tree, changes or {}), **values)


def reporter(folder: Path) -> Reporter:
    """Return a reporter that prints nothing, and writes train.log in a folder."""
    return Reporter(silent, folder / "train.log")


def update_batches(
    spec: Spec,
    tensors: Path,
    ranks: Ranks | None = None,
    tokens_per_device: int = 10_000,
    seed: int = 1,
    micro_batches: int = 0,
) -> UpdateBatches | MaskedUpdateBatches:
    """Return the batches of a run on the small corpus."""
    kind = MaskedUpdateBatches if spec.masking else UpdateBatches
    device, bounds = torch.device("cpu"), (tokens_per_device, micro_batches)
    return kind(load(tensors), spec, seed, ranks or Ranks(0, 1), device, *bounds)


def encoded(folder: Path, data: DataSpec | None = None) -> Path:
    """Make the small corpus's tensors under a folder, and return their own folder."""
    data, corpus = data or small_data(), write_corpus(folder / "corpus")
    subwords.train(data, corpus, folder / "subwords", silent)
    encode(data, corpus, folder / "subwords", folder / "tensors", silent)
    return folder / "tensors"


def train_run(
    spec: Spec,
    tensors: Path,
    folder: Path,
    switches: Switches = SWITCHES,
    report: Callable[[str], None] = silent,
    start: Path | None = None,
) -> dict[str, Any]:
    """Train a run to its end, and return its training.json."""
    train(spec, 1, TrainPaths(tensors, folder, start), switches, report)
    return read_json(folder / "training.json")


class Run:
    """A network with its optimisers and data, without files."""

    def __init__(self, spec, tensors, seed=1):
        self.tensors = text = load(tensors)
        torch.manual_seed(seed)
        dictionaries = text.source_dictionary, text.target_dictionary
        self.network = build(spec.model, spec.method, len(text.tasks), *dictionaries)
        schedule = learning_rate(spec.training.schedule, spec.model.width, updates=6)
        self.two_level = TwoLevel(self.network, spec.training, schedule, seed, Ranks(0, 1))
        self.pairs = text.splits("train")
        self.sampler = update_batches(spec, tensors, seed=seed).sampler

    def micro_batches(self, number, micro=1, only=None):
        members = [
            [pair for pair in part if only is None or pair[0] in only]
            for part in self.sampler.split(self.sampler.update(number), micro)
        ]
        batches = [collate(self.pairs, part) for part in members if part]
        tokens = sum(batch.tokens for batch in batches)
        tasks = torch.cat([batch.tasks for batch in batches]).unique()
        return MicroBatches(batches, tokens, tasks)

    def by_task(self, number):
        """Return the batches of an update, one for each of the three tasks."""
        return [self.micro_batches(number, only={task}).batches[0] for task in range(3)]

    def noise(self, number):
        """Start an update of latent layers; return the noise of its samples by side."""
        self.network.start_update(1, number)
        return {side: method.noise for side, method in self.network.methods.items()}

    def share(self, number, ranks, micro):
        """Make an update with the micro-batches of one process; return it and its result."""
        update = self.micro_batches(number, micro=micro)
        part = replace(update, batches=update.batches[ranks.rank :: ranks.world])
        return update, self.two_level.update(number, part)

    def update(self, number, **choice):
        return self.two_level.update(number, self.micro_batches(number, **choice))


def rate(number):
    """Return the rate of small runs: peak 5e-3 at update 4."""
    return 5.0e-3 * min(number / 4, (4 / number) ** 0.5)


def without_dropout(spec):
    return replace(spec, model=spec.model.model_copy(update={"dropout": 0.0}))

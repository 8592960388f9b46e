"""Frozen numbers of seconds of training, decoding and scoring, in recipe.json.

They are small enough for every test run; tests/pipeline/freeze.py has those of the tiny runs.
"""

import json
from pathlib import Path
from typing import Any

import torch

from fathom.config.paths import Paths
from fathom.decode.translate import split_lines
from fathom.results.recipe import RECIPE
from fathom.scoring.bootstrap import draws, interval
from fathom.scoring.metrics import HeldOut, measure, metrics_of
from tests.scoring.conftest import ENGLISH, OTHER
from tests.support.locks import locked, text
from tests.support.small_runs import latent, masked, specification, train_run
from tests.support.trained import trained_spec, write_text, write_trained

FILE = Path(__file__).with_name("recipe.json")
AGAIN = "freeze again: make freeze"
TRAINED = {
    "static": specification(),
    "latent": latent(),
    "masked": masked(),
    "group_dropout": specification("group_dropout", ("encoder", "decoder"), groups=4, active=2),
}
# The only version whose numbers are frozen.
LOCKED = f"torch=={locked(text('envs/torch.lock'))['torch']}"
# Other processors round otherwise: by 1e-6 nats after so few updates, and seldom another piece.
NATS, LINES = 1e-4, 0.9


def versions() -> str:
    """Return the version of torch here, written as LOCKED."""
    return f"torch=={torch.__version__.split('+')[0]}"


def processor() -> str:
    """Return who made the processor: seeds give other trainings on Intel's than on AMD's."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next((line.split()[-1] for line in lines if line.startswith("vendor_id")), "unknown")


def training(tensors: Path, folder: Path) -> dict[str, float]:
    """Return the validation NLL of a run of six updates of each kind, in nats per token."""
    found = {}
    for name, spec in TRAINED.items():
        found[name] = train_run(spec, tensors, folder / name)["validation"]["nll"]
    return found


def decoding(paths: Paths) -> list[str]:
    method = {"name": "latent_layers", "stacks": ["decoder"]}
    layers = {"decoder": {"bos": (0, 1), "bel": (1,), "kor": (0,)}}
    run = write_trained(trained_spec({"method": method}), paths, layers=layers)
    return [
        line
        for gates in ("soft", "hard")
        for line in split_lines(run, ["bel"], "test", gates)["bel"]
    ]


def scoring() -> dict[str, list[float]]:
    """Return value, interval and standard error of every metric on a fixed text."""
    drawn = draws(len(ENGLISH), 100)
    found = {}
    for counted in measure(
        OTHER["kor"][::-1], HeldOut("kor", OTHER["kor"]), metrics_of("kor"), "here"
    ):
        spread = interval(counted, drawn)
        found[counted.metric.label] = [counted.value, spread.low, spread.high, spread.stderr]
    return found


def numbers(folder: Path) -> dict[str, Any]:
    """Return the numbers of all stages, made in an empty folder; of training, by processor."""
    paths = Paths(folder, "tiny")
    write_text(paths)
    tensors = paths.tensors(trained_spec().data)
    return {
        "training": {processor(): training(tensors, folder / "runs")},
        "decoding": decoding(paths),
        "scoring": scoring(),
    }


def moved(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return a sentence for each stage whose numbers are not those frozen for this processor."""
    pairs = zip(before["decoding"], now["decoding"], strict=True)
    same = sum(one == other for one, other in pairs) / len(now["decoding"])
    [(here, trained)] = now["training"].items()
    as_before = before["training"].get(here, trained)  # or nothing to compare with
    nats = {name: abs(value - as_before[name]) for name, value in trained.items()}
    wrong = {
        "training": [f"{name} by {value:.4f} nats" for name, value in nats.items() if value > NATS],
        "decoding": [f"{1 - same:.0%} of the hypotheses"] if same < LINES else [],
        "scoring": [
            name
            for name, values in now["scoring"].items()
            if any(abs(a - b) > 1e-9 for a, b in zip(values, before["scoring"][name], strict=True))
        ],
    }
    return [
        f"{stage} moved ({', '.join(what)}): raise RECIPE['{stage}'] and {AGAIN}"
        for stage, what in wrong.items()
        if what
    ]


def raised(before: dict[str, Any]) -> list[str]:
    """Return a sentence for each recipe that was raised without freezing again."""
    return [
        f"RECIPE['{stage}'] is {recipe}, frozen with {before['recipe'][stage]}; {AGAIN}"
        for stage, recipe in RECIPE.items()
        if recipe != before["recipe"][stage]
    ]


def again(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """Return what is frozen next: the numbers of raised recipes, and of a new processor."""
    same = [stage for stage in RECIPE if RECIPE[stage] == before["recipe"][stage]]
    made = now | {stage: before[stage] for stage in same}
    if "training" in same:
        made["training"] = now["training"] | before["training"]
    return {"recipe": RECIPE} | made


def frozen() -> dict[str, Any]:
    return json.loads(FILE.read_text(encoding="utf-8"))

"""Frozen numbers of the tiny runs; `python -m tests.pipeline.freeze results` freezes them again.

Each stage's recipe is frozen with them. Numbers that move without a raised recipe fail the
comparison, and so does a recipe that was raised without freezing again.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from fathom.io.files import write_json
from fathom.io.machine import processor
from fathom.results.recipe import RECIPE
from fathom.results.tree import RunResults, Tree, read_run

REFERENCE = Path(__file__).with_name("reference.json")
AGAIN = "freeze again: python -m tests.pipeline.freeze results"
# On the machine of the frozen numbers an NLL is equal to the digit. Other processors round
# differently, which comes to as much as another seed: 0.05 nats standard deviation between seeds
# were measured; six of them. Scores of so few sentences differ by a BLEU.
NATS, BLEU = 0.3, 1.0


def machine() -> dict[str, str]:
    """Return what decides how sums are rounded."""
    return {
        "processor": processor(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "torch": torch.__version__,
    }


def frozen(run: RunResults) -> dict[str, Any]:
    """Return a run's outcome, its validation NLL, and the interval of each task's score."""
    found = run.measurements
    keys = [f"bleu.test.{gates}.13a" for gates in ("plain", "soft")]
    tasks = next((found[key].tasks for key in keys if key in found), {})
    validation = found.get("last_validation")
    return {
        "outcome": run.training.outcome.kind,
        "nll": validation.all.value if validation else None,
        "intervals": {task: [number.low, number.high] for task, number in tasks.items()},
    }


def raised(reference: dict[str, Any]) -> list[str]:
    """Return a sentence for each stage whose recipe is not the frozen one."""
    return [
        f"RECIPE['{stage}'] is {recipe}, frozen with {reference['recipe'].get(stage)}; {AGAIN}"
        for stage, recipe in RECIPE.items()
        if recipe != reference["recipe"].get(stage)
    ]


def moved(reference: dict[str, Any], runs: Iterable[RunResults]) -> list[str]:
    """Return a sentence for each number that is not the frozen one, with the recipe to raise."""
    nats = 0.0 if reference["machine"] == machine() else NATS
    return [
        f"{run.name}: {what}: raise RECIPE['{stage}'] and {AGAIN}"
        for run in runs
        for stage, what in _moved(reference["runs"][run.name], run, nats)
    ]


def _moved(before: dict[str, Any], run: RunResults, nats: float) -> Iterable[tuple[str, str]]:
    now = frozen(run)
    if now["outcome"] != before["outcome"]:
        yield "training", f"{now['outcome']}, frozen as {before['outcome']}"
    elif now["nll"] is not None and abs(now["nll"] - before["nll"]) > nats:
        yield "training", f"validation NLL {now['nll']}, frozen {before['nll']}"
    else:
        for task, (low, high) in before["intervals"].items():
            interval = now["intervals"].get(task)
            if interval is None or interval[1] < low - BLEU or interval[0] > high + BLEU:
                yield "decoding", f"scores of {task} are {interval}, frozen {[low, high]}"


def reference() -> dict[str, Any]:
    """Return the frozen numbers: `recipe` by stage, and `runs` by name."""
    return json.loads(REFERENCE.read_text(encoding="utf-8"))


def first_seeds(results: Path) -> list[RunResults]:
    """Return the first seed of all runs under a folder of results that have ended."""
    folders = (folder for folder in Tree(results).run_folders if folder.name == "1")
    return [run for run in map(read_run, folders) if run]


def main(results: str) -> None:
    """Write reference.json next to this file."""
    runs = {run.name: frozen(run) for run in first_seeds(Path(results))}
    write_json(REFERENCE, {"machine": machine(), "recipe": RECIPE, "runs": runs})


if __name__ == "__main__":
    main(sys.argv[1])

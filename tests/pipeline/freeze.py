"""Frozen numbers of the tiny runs; `python -m tests.pipeline.freeze results` freezes them again.

Each stage's recipe is frozen with them, and by how much seeds differ. Numbers that move without a
raised recipe fail the comparison, and so does a recipe that was raised without freezing again.
"""

import csv
import json
import math
import statistics
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from scipy.stats import f

from fathom.io.files import write_json
from fathom.io.machine import processor
from fathom.results.recipe import RECIPE
from fathom.results.tree import RunResults, read_run, run_folders

REFERENCE = Path(__file__).with_name("reference.json")
AGAIN = "freeze again: python -m tests.pipeline.freeze results"
# Where five seeds of the frozen runs are on record (a file of `fathom figure --curves`), and the
# update at which tiny ends. These trainings went on to update 1,200; up to 300 they differ from
# tiny's in the course of their temperatures alone, which follows a run's length.
SEEDS, LAST_UPDATE = Path("docs/results/tiny_long/latent_depth/table5_curves.csv"), 300
# On the machine of the frozen numbers an NLL is equal to the digit. Other processors round and draw
# dropout otherwise, which comes to as much as another seed. Two seeds differ with √2 times
# their standard deviation; four of these, or a mean square beyond this share of F, are no chance.
DEVIATIONS, SHARE = 4 * math.sqrt(2), 0.999
# Scores of so few sentences differ by a BLEU.
BLEU = 1.0


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


def spread(path: Path) -> dict[str, Any]:
    """Return the standard deviation of seeds, pooled over runs, in nats per token.

    Args:
        path: a file of `fathom figure --curves`, with several seeds of each run.
    """
    nll: dict[str, list[float]] = {}
    with path.open(encoding="utf-8") as lines:
        for line in csv.DictReader(lines):
            if line["series"] == "nll.valid" and float(line["update"]) == LAST_UPDATE:
                nll.setdefault(line["run"], []).append(float(line["nll"]))
    degrees = sum(len(values) - 1 for values in nll.values())
    squares = sum((len(values) - 1) * statistics.variance(values) for values in nll.values())
    source = f"{path}, update {LAST_UPDATE}"
    return {"nats": math.sqrt(squares / degrees), "degrees": degrees, "source": source}


def differences(reference: dict[str, Any], runs: Iterable[RunResults]) -> dict[str, float]:
    """Return how far the NLL of each run that was frozen is from the frozen one, in nats."""
    now = {run.name: frozen(run)["nll"] for run in runs}
    before = {name: run["nll"] for name, run in reference["runs"].items()}
    return {
        name: now[name] - before[name]
        for name in now.keys() & before.keys()
        if now[name] is not None and before[name] is not None
    }


def moved(reference: dict[str, Any], runs: Iterable[RunResults]) -> list[str]:
    """Return a sentence for each number that is not the frozen one, with the recipe to raise."""
    runs = list(runs)
    deviation, degrees = reference["spread"]["nats"], reference["spread"]["degrees"]
    nats = 0.0 if reference["machine"] == machine() else DEVIATIONS * deviation
    lines = [
        f"{run.name}: {what}: raise RECIPE['{stage}'] and {AGAIN}"
        for run in runs
        for stage, what in _moved(reference["runs"][run.name], run, nats)
    ]
    apart = differences(reference, runs).values()
    if apart and not lines:
        squares = statistics.fmean(each**2 for each in apart) / (2 * deviation**2)
        most = f.ppf(SHARE, len(apart), degrees)
        if squares > most:
            what = f"together {squares:.1f} times as far from the frozen numbers as other seeds"
            lines.append(f"{what} ({most:.1f} is chance): raise RECIPE['training'] and {AGAIN}")
    return lines


def _moved(before: dict[str, Any], run: RunResults, nats: float) -> Iterable[tuple[str, str]]:
    now = frozen(run)
    if now["outcome"] != before["outcome"]:
        yield "training", f"{now['outcome']}, frozen as {before['outcome']}"
    elif now["nll"] is not None and abs(now["nll"] - before["nll"]) > nats:
        yield "training", f"validation NLL {now['nll']:.3f}, frozen {before['nll']:.3f}"
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
    folders = (folder for folder in run_folders(results) if folder.name == "1")
    return [run for run in map(read_run, folders) if run]


def main(results: str) -> None:
    """Write reference.json next to this file."""
    runs = {run.name: frozen(run) for run in first_seeds(Path(results))}
    content = {"machine": machine(), "recipe": RECIPE, "runs": runs, "spread": spread(SEEDS)}
    write_json(REFERENCE, content)


if __name__ == "__main__":
    main(sys.argv[1])

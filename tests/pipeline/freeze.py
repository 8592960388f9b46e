"""Frozen numbers of the tiny runs; `python -m tests.pipeline.freeze results` freezes them again.

Each stage's recipe is frozen with them. Numbers that move without a raised recipe fail the
comparison, and so does a recipe that was raised without freezing again.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fathom.io.files import write_json
from fathom.provenance.manifest import Manifest, read
from fathom.provenance.recipe import RECIPE

REFERENCE = Path(__file__).with_name("reference.json")
AGAIN = "freeze again: python -m tests.pipeline.freeze results"
# Other processors round otherwise, which comes to as much as another seed: 0.05 nats standard
# deviation between seeds were measured; six of them. Scores of so few sentences differ by a BLEU.
NATS, BLEU = 0.3, 1.0


def frozen(manifest: Manifest) -> dict[str, Any]:
    """Return a run's outcome, its validation NLL, and the interval of each task's score."""
    found = manifest.measurements
    keys = [f"bleu.test.{gates}.13a" for gates in ("plain", "soft")]
    tasks = next((found[key].tasks for key in keys if key in found), {})
    validation = found.get("last_validation")
    return {
        "outcome": manifest.outcome.kind,
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


def moved(reference: dict[str, Any], manifests: Iterable[Manifest]) -> list[str]:
    """Return a sentence for each number that is not the frozen one, with the recipe to raise."""
    return [
        f"{manifest.run}: {what}: raise RECIPE['{stage}'] and {AGAIN}"
        for manifest in manifests
        for stage, what in _moved(reference["runs"][manifest.run], manifest)
    ]


def _moved(before: dict[str, Any], manifest: Manifest) -> Iterable[tuple[str, str]]:
    now = frozen(manifest)
    if now["outcome"] != before["outcome"]:
        yield "training", f"{now['outcome']}, frozen as {before['outcome']}"
    elif now["nll"] is not None and abs(now["nll"] - before["nll"]) > NATS:
        yield "training", f"validation NLL {now['nll']:.3f}, frozen {before['nll']:.3f}"
    else:
        for task, (low, high) in before["intervals"].items():
            interval = now["intervals"].get(task)
            if interval is None or interval[1] < low - BLEU or interval[0] > high + BLEU:
                yield "decoding", f"scores of {task} are {interval}, frozen {[low, high]}"


def reference() -> dict[str, Any]:
    """Return the frozen numbers: `recipe` by stage, and `runs` by name."""
    return json.loads(REFERENCE.read_text(encoding="utf-8"))


def main(results: str) -> None:
    """Write reference.json next to this file."""
    manifests = [read(path) for path in sorted(Path(results).glob("runs/*/*/1/manifest.json"))]
    runs = {manifest.run: frozen(manifest) for manifest in manifests}
    write_json(REFERENCE, {"recipe": RECIPE, "runs": runs})


if __name__ == "__main__":
    main(sys.argv[1])

"""Freeze what a finished start at tiny scale came to: `python -m tests.pipeline.freeze results`."""

import sys
from pathlib import Path

from fathom.io.files import write_json
from fathom.provenance.manifest import read


def frozen(manifest: dict) -> dict:
    """Return a run's outcome, validation NLL, and the interval of each task's compared score."""
    scores = manifest["scores"][manifest["compared"]["gates"]]
    metric = manifest["compared"]["metric"]
    found = {task: each["metrics"][metric] for task, each in scores.items()}
    return {
        "outcome": manifest["outcome"]["kind"],
        "nll": manifest["validation"]["nll"],
        "intervals": {task: [each["low"], each["high"]] for task, each in found.items()},
    }


def main(results: str) -> None:
    """Write reference.json beside this file."""
    manifests = [read(path) for path in Path(results).glob("tiny/runs/*/1/manifest.json")]
    runs = {each["run"]: frozen(each) for each in manifests}
    write_json(Path(__file__).with_name("reference.json"), runs)


if __name__ == "__main__":
    main(sys.argv[1])

"""A project whose scale `small` has two languages of invented words and seconds of training."""

import shutil
from pathlib import Path

import yaml

from fathom.project.load import load
from fathom.runs.paths import Paths
from tests.subwords.small_corpus import write_corpus

ROOT = Path(__file__).parents[2]
RUN = "static_6_6"
TEST_SENTENCES = 4
SCALE = {
    "title": "small: for tests",
    "layers": 0.125,
    "width": 0.03125,
    "updates": 4,
    "datasets": {"ted8_diverse": "small"},
    "replace": {
        "data": {
            "subwords": {
                "algorithm": "bpe",
                "source_vocabulary": 120,
                "source_parts": "joint",
                "target_vocabulary": 80,
                "target_parts": "joint",
            }
        },
        "training": {
            "batches": {"tokens": 60, "pool_updates": 2},
            "schedule": {"warmup": 2},
            "validate_every": 4,
        },
        # Four updates teach little; the run shall count as finished all the same.
        "outcome": {"failed_margin": -20.0},
        "evaluation": {
            "decoding": {"beam": 2, "cap_ratio": 0.5, "cap_constant": 3},
            "scoring": {"bootstrap_samples": 100},
        },
    },
    "method_settings": {},
    "seeds": [1],
    "anchor": {"run": RUN, "nats_under_unigram": 0.7},
}


def copy_config(folder: Path) -> None:
    """Copy config/ and its schemas as they are."""
    shutil.copytree(ROOT / "config", folder / "config")
    shutil.copytree(ROOT / "workflow" / "schemas", folder / "workflow" / "schemas")


def write_project(folder: Path) -> None:
    """Write a project with the scale `small` and its prepared text."""
    copy_config(folder)
    datasets = folder / "config" / "datasets"
    small = yaml.safe_load((datasets / "po_wheels_diverse.yaml").read_text(encoding="utf-8"))
    small |= {
        "tasks": ["bos", "kor"],
        "sources": {"django": {"bos": ["bs"], "kor": ["ko"]}},
        "expected": {task: {"train": 1, "valid": 1, "test": 1} for task in ("bos", "kor")},
    }
    _write(datasets / "small.yaml", small)
    _write(folder / "config" / "scales" / "small.yaml", SCALE)
    switches = yaml.safe_load((folder / "config" / "config.yaml").read_text(encoding="utf-8"))
    switches |= {"scale": "small", "device": "cpu", "log_every": 1}
    _write(folder / "config" / "config.yaml", switches)
    catalog = load(folder)
    corpus = write_corpus(paths(folder).corpus(catalog.spec(RUN, "small").data))
    for path in corpus.glob("kor/*.hangul"):
        path.rename(path.with_suffix(".kor"))
    for path in corpus.glob("*/test.*"):
        lines = path.read_text(encoding="utf-8").split("\n")[:TEST_SENTENCES]
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")


def paths(folder: Path) -> Paths:
    """Return the places of the scale's files."""
    return Paths(folder / "results", "small")


def _write(path: Path, value: dict) -> None:
    path.write_text(yaml.safe_dump(value, sort_keys=False), encoding="utf-8")

"""Trainings on disk, compared to the bit."""

from pathlib import Path
from typing import Any

import torch

from fathom.io.files import read_json


def state(folder: Path) -> dict[str, Any]:
    """Return the newest state of a run's folder: weights, optimisers, random numbers."""
    return torch.load(folder / "checkpoints" / "last.pt", weights_only=True)


def require_equal(first: Any, second: Any, path: str = "state") -> None:
    """Fail where two states differ by a bit; the clock does not count."""
    if isinstance(first, dict):
        assert first.keys() == second.keys(), path
        for key in first.keys() - {"seconds"}:
            require_equal(first[key], second[key], f"{path}.{key}")
    elif isinstance(first, list | tuple):
        assert len(first) == len(second), path
        for place, pair in enumerate(zip(first, second, strict=True)):
            require_equal(*pair, f"{path}.{place}")
    elif isinstance(first, torch.Tensor):
        assert torch.equal(first, second), path
    else:
        assert first == second, path


def left_by(folder: Path) -> dict[str, Any]:
    """Return what an ended training leaves: state, kept weights, metrics, tables, and its end."""
    kept = sorted(folder.glob("checkpoints/update_*.pt"))
    series = [folder / "metrics.tsv", *sorted(folder.glob("diagnostics/*"))]
    ended = read_json(folder / "training.json")
    return {
        "state": state(folder),
        "weights": {path.name: torch.load(path, weights_only=True) for path in kept},
        "series": {path.name: path.read_bytes() for path in series},
        "ended": {key: ended[key] for key in ("outcome", "validation", "parameters")},
    }


def require_same_training(first: Path, second: Path) -> None:
    """Fail unless two ended trainings have left the same, to the bit."""
    require_equal(left_by(first), left_by(second), "training")

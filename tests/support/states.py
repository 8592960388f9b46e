"""Trainings on disk, compared to the bit."""

from pathlib import Path
from typing import Any

import torch


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


def require_same_training(first: Path, second: Path) -> None:
    """Fail unless two runs' folders have the same newest state and the same metrics, to the bit."""
    require_equal(state(first), state(second))
    assert (first / "metrics.tsv").read_bytes() == (second / "metrics.tsv").read_bytes()

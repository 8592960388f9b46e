"""Training states on disk, compared to the bit."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch


def state(folder: Path) -> dict[str, Any]:
    """Return the newest state of a run's folder: weights, optimisers, random numbers."""
    return torch.load(folder / "checkpoints" / "last.pt", weights_only=True)


def differences(first: Any, second: Any, path: str = "state") -> Iterator[str]:
    """Yield the places at which two states differ, to the bit; the clock does not count."""
    if isinstance(first, dict):
        assert first.keys() == second.keys(), path
        for key in first:
            if key != "seconds":
                yield from differences(first[key], second[key], f"{path}.{key}")
    elif isinstance(first, list | tuple):
        assert len(first) == len(second), path
        for place, (one, other) in enumerate(zip(first, second, strict=True)):
            yield from differences(one, other, f"{path}.{place}")
    elif isinstance(first, torch.Tensor):
        if not torch.equal(first, second):
            yield path
    elif first != second:
        yield path

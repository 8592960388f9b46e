"""A training on disk: its whole state, the newest and the one before, and weights along the way."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from fathom.checkpoints.average import LAST, kept, kept_path
from fathom.checkpoints.read import read_checkpoint
from fathom.errors import FathomError
from fathom.io.files import replacing

NEWEST, BEFORE = LAST, "before_last.pt"


def save(folder: Path, state: dict[str, Any]) -> None:
    """Write a state of tensors, numbers, text and plain containers.

    The newest takes the place of the one before it only when it is whole on disk.
    """
    newest = folder / NEWEST
    fresh = folder / "fresh.pt"
    with replacing(fresh, "wb") as stream:
        torch.save(state, stream)
    if newest.exists():
        os.replace(newest, folder / BEFORE)
    os.replace(fresh, newest)


def load(folder: Path, report: Callable[[str], None]) -> dict[str, Any] | None:
    """Return the newest state that can be read, or None where a training has not begun.

    A damaged file is set aside under another name and reported; the one before it is taken.

    Args:
        folder: the run's checkpoints.
        report: called with each line for the user.
    """
    for name in (NEWEST, BEFORE):
        path = folder / name
        if not path.exists():
            continue
        try:
            return read_checkpoint(path)
        except FathomError as error:
            aside = path.with_suffix(".damaged")
            # Another process of the same run may have been faster.
            with suppress(FileNotFoundError):
                os.replace(path, aside)
            report(f"{error}; set aside as {aside.name}")
    return None


def keep(folder: Path, update: int, weights: dict[str, Tensor], count: int) -> None:
    """Keep the weights after an update, whole or not at all, and delete the oldest beyond a count.

    Called before `save` of the same update: a process killed between the two does both again.

    Args:
        folder: the run's checkpoints.
        update: the number of the update.
        weights: the network's tensors by name; no optimiser needs them again.
        count: how many updates' weights stay; 0 keeps none.
    """
    if count > 0:
        with replacing(kept_path(folder, update), "wb") as stream:
            torch.save({"update": update, "model": weights}, stream)
        for path in list(kept(folder).values())[:-count]:
            path.unlink()


def forget_after(folder: Path, update: int) -> None:
    """Delete weights kept after an update to which a training goes back."""
    for later, path in kept(folder).items():
        if later > update:
            path.unlink()

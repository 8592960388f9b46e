"""The whole state of a training on disk: the newest, and the one before it."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from fathom.models.saved import read_checkpoint
from fathom.records.errors import FathomError
from fathom.records.files import replacing

NEWEST, BEFORE = "last.pt", "before_last.pt"


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

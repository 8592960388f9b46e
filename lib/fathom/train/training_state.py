"""The state of a training on disk: the newest, the one before, and weights saved on the way."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from torch import Tensor

from fathom.io.errors import FathomError
from fathom.nn.average import LAST, saved_weights, weights_path
from fathom.nn.weights import read_checkpoint, write_checkpoint

FRESH, NEWEST, BEFORE = "fresh.pt", LAST, "before_last.pt"


def save(folder: Path, state: dict[str, Any]) -> None:
    """Write a state of tensors, numbers, text and plain containers.

    The newest state replaces the one before only when it is complete on disk.
    """
    write_checkpoint(folder / FRESH, state)
    complete_save(folder)


def complete_save(folder: Path) -> None:
    """Give a state that is complete on disk its name, also after a kill before it had it.

    Args:
        folder: the run's checkpoints, which no other process reads or writes now.
    """
    newest, fresh = folder / NEWEST, folder / FRESH
    if not fresh.exists():
        return
    if newest.exists():
        os.replace(newest, folder / BEFORE)
    os.replace(fresh, newest)


def load(folder: Path, report: Callable[[str], None]) -> dict[str, Any] | None:
    """Return the newest state that can be read, or None if there is none.

    A damaged file is renamed and reported; then the state before it is read.

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
            report(f"{error.where}: {error.what}; renamed to {set_aside(path)}")
    return None


def set_aside(path: Path) -> str:
    """Rename a file that cannot be used, and return its new name."""
    aside = path.with_suffix(".damaged")
    # Another process of the same run may have renamed it.
    with suppress(FileNotFoundError):
        os.replace(path, aside)
    return aside.name


def delete_states_after(folder: Path, update: int) -> None:
    """Delete the states after an update from which a training must resume."""
    for name in (NEWEST, BEFORE):
        with suppress(FathomError):
            if read_checkpoint(folder / name)["update"] > update:
                (folder / name).unlink()


def save_weights(folder: Path, update: int, weights: dict[str, Tensor], count: int) -> None:
    """Save the weights after an update, and delete the oldest ones.

    Called before `save` of the same update: a process killed between the two does both again.

    Args:
        folder: the run's checkpoints.
        update: the number of the update.
        weights: the network's tensors by name, without the optimisers.
        count: how many saved weights to keep; 0 saves none.
    """
    if count > 0:
        write_checkpoint(weights_path(folder, update), {"update": update, "model": weights})
        for path in list(saved_weights(folder).values())[:-count]:
            path.unlink()


def delete_weights_after(folder: Path, update: int) -> None:
    """Delete the weights saved after an update from which a training resumes."""
    for later, path in saved_weights(folder).items():
        if later > update:
            path.unlink()

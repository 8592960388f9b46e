"""What a training resumes or starts from: its states on disk, and another run's weights."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from fathom.config.spec import StartSpec
from fathom.io.errors import FathomError
from fathom.io.files import set_aside
from fathom.io.seals import OF
from fathom.nn.weights import (
    LAST,
    final_weights,
    read_checkpoint,
    saved_weights,
    weights_path,
    write_checkpoint,
)
from fathom.results import training_record
from fathom.results.training_record import Ended

FRESH, NEWEST, BEFORE = "fresh.pt", LAST, "before_last.pt"
# The end of the names of files that are whole, and are made again.
REPLACED = ".replaced"
# Part of the names of all parameters that belong to a method.
_OF_METHOD = ".method."


def save(folder: Path, state: dict[str, Any]) -> None:
    """Write a state of tensors, numbers, text and plain containers.

    The newest state replaces the one before only when it is complete on disk.
    """
    write_checkpoint(folder / FRESH, state)
    complete_save(folder)


def complete_save(folder: Path) -> None:
    """Give a state that is complete on disk its name, also after a kill before it had it."""
    newest, fresh = folder / NEWEST, folder / FRESH
    if not fresh.exists():
        return
    if newest.exists():
        os.replace(newest, folder / BEFORE)
    os.replace(fresh, newest)


def load(folder: Path, report: Callable[[str], None], of: object = None) -> dict[str, Any] | None:
    """Return the newest state that can be read, or None without one.

    A damaged file, and one of another run or seed, is renamed and reported; then the state before
    it is read. `of` are the run's identity and the seed; None takes a state of any.
    """
    for name in (NEWEST, BEFORE):
        path = folder / name
        if not path.exists():
            continue
        try:
            # Earlier versions did not write whose state it is.
            state = read_checkpoint(path)
            if of in (None, state.get(OF, of)):
                return state
            what = "of another run or seed"
        except FathomError as error:
            what = error.what
        report(f"{path}: {what}; renamed to {set_aside(path)}")
    return None


def set_aside_after(folder: Path, update: int) -> None:
    """Rename the states after an update from which a training must resume.

    So are weights that were saved after the state that is left: they are made again too.
    """
    newest = 0
    for name in (NEWEST, BEFORE):
        with suppress(FathomError):
            if (at := read_checkpoint(folder / name)["update"]) > update:
                set_aside(folder / name, REPLACED)
            else:
                newest = max(newest, at)
    for at, path in saved_weights(folder).items():
        if at > newest:
            set_aside(path, REPLACED)


def save_weights(folder: Path, update: int, weights: dict[str, Tensor], count: int) -> None:
    """Save the weights after an update, and keep the last `count`; 0 saves none.

    Called before `save` of the same update: a process killed between the two does both again.
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


def load_weights_from(network: nn.Module, start: StartSpec, folder: Path) -> None:
    """Load a finished run's weights into a network.

    The parameters of the network's method keep their values; with `start.freeze` only they are
    trained.
    """
    files = training_record.read(folder / "training.json").weights
    weights = final_weights(folder / "checkpoints", files, start.average_of)
    names = network.state_dict().keys()
    unfilled = [name for name in names - weights.keys() if _OF_METHOD not in name]
    if strange := sorted(weights.keys() - names) + sorted(unfilled):
        raise _unfit(start, strange[0])
    try:
        network.load_state_dict(weights, strict=False)
    except RuntimeError as error:
        raise _unfit(start, str(error).split("\n")[1].strip()) from None
    if start.freeze:
        for name, parameter in network.named_parameters():
            parameter.requires_grad_(name not in weights)
        if not any(parameter.requires_grad for parameter in network.parameters()):
            remedy = "choose a method that adds parameters, or write false"
            raise FathomError("nothing is left to train", "start.freeze", remedy)


def _unfit(start: StartSpec, what: str) -> FathomError:
    remedy = "name a run with the same model and data"
    what = f"its weights do not fit this network ({what})"
    return FathomError(what, f"start.run: {start.name}", remedy)


def inherited(start: StartSpec, folder: Path) -> Ended | None:
    """Return how a run ends because the one it starts from did not finish; None if it finished."""
    path = folder / "training.json"
    if not path.exists():
        raise FathomError("the training has not ended", str(folder), f"train {start.name} first")
    outcome = training_record.read(path).outcome
    if outcome.finished:
        return None
    reason = f"{start.name}, from which it starts: {outcome.reason}"
    return Ended(kind=outcome.kind, update=0, reason=reason)

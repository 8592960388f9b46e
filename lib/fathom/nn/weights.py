"""Checkpoint files of tensors and plain containers, and the mean of the last saved weights."""

import pickle
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from fathom.io.commands import again
from fathom.io.errors import FathomError
from fathom.io.records import CHANGED
from fathom.io.seals import checked_seal, sealed

LAST = "last.pt"
_NAME = re.compile(r"update_(\d+)\.pt")


def write_checkpoint(path: Path, content: dict[str, Any]) -> None:
    """Write a checkpoint atomically, sealed by a checksum."""
    with sealed(path) as stream:
        torch.save(content, stream)  # pyright: ignore[reportArgumentType]


def read_checkpoint(path: Path, sha256: str | None = None) -> dict:
    """Read a checkpoint onto the CPU, after comparing its seal; code in it is refused, not run.

    A file that is missing, damaged, not a mapping, or not that of a recorded hash is refused too.
    """
    if checked_seal(path) != sha256 and sha256 is not None:
        raise FathomError(CHANGED, str(path), again(path))
    try:
        checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        what = "it holds code, or values other than tensors, numbers and text"
        raise FathomError(what, str(path), again(path)) from None
    except (RuntimeError, EOFError, ValueError, KeyError):
        raise FathomError("not a checkpoint", str(path), again(path)) from None
    if not isinstance(checkpoint, dict):
        raise FathomError("not a checkpoint", str(path), again(path))
    return checkpoint


def read_weights(path: Path, sha256: str | None = None) -> dict[str, Tensor]:
    """Return the weights of a checkpoint by name."""
    weights = read_checkpoint(path, sha256).get("model")
    if not isinstance(weights, dict) or not all(map(torch.is_tensor, weights.values())):
        raise FathomError("the file has no weights", str(path), again(path))
    return weights


def load_weights(network: nn.Module, path: Path, sha256: str | None = None) -> None:
    """Load a checkpoint's weights, its entry "model", into a network."""
    put_weights(network, read_weights(path, sha256), path)


def put_weights(network: nn.Module, weights: dict[str, Tensor], path: Path) -> None:
    """Load weights into a network."""
    try:
        network.load_state_dict(weights)
    except (RuntimeError, AttributeError, TypeError) as error:
        reason = " ".join(str(error).split())[:200]
        what = f"the weights of another network ({reason})"
        raise FathomError(what, str(path), again(path)) from None


def weights_path(folder: Path, update: int) -> Path:
    """Return the file of the weights after an update."""
    return folder / f"update_{update}.pt"


def saved_weights(folder: Path) -> dict[int, Path]:
    """Return the files of saved weights by update, the oldest first."""
    names = (path.name for path in folder.glob("update_*.pt"))
    return {update: weights_path(folder, update) for update in saved_updates(names)}


def saved_updates(names: Iterable[str]) -> tuple[int, ...]:
    """Return the updates of the files of saved weights, the oldest first."""
    return tuple(sorted(int(match[1]) for match in map(_NAME.fullmatch, names) if match))


def mean_of_last(
    folder: Path, files: Mapping[str, str], count: int
) -> tuple[dict[str, Tensor], tuple[int, ...]]:
    """Return the mean of the last `count` saved weights, and the updates of these weights.

    Floating-point tensors are averaged in float64 and get their type back; all others are those of
    the last file. The mean of one file equals it to the bit. `files` has the recorded SHA-256 of
    each file in the folder, by name.
    """
    saved = saved_updates(files)
    if count < 1:
        raise FathomError(f"the mean of {count} checkpoints", "average_of", "write 1 or more")
    if len(saved) < count:
        updates = f" (updates {', '.join(map(str, saved))})" if saved else ""
        what = f"only {len(saved)} saved weights{updates}, average_of needs {count}"
        remedy = "lower decoding.average_of, or raise training.keep_weights and train again"
        raise FathomError(what, str(folder), remedy)
    updates = saved[-count:]
    sums, last = dict[str, Tensor](), dict[str, Tensor]()
    for update in updates:
        path = weights_path(folder, update)
        weights = read_weights(path, files[path.name])
        if last:
            _check_same_tensors(last, weights, path)
        for name, tensor in weights.items():
            if tensor.is_floating_point():
                sums[name] = sums[name] + tensor if name in sums else tensor.double()
        last = weights
    means = {name: (total / count).to(last[name].dtype) for name, total in sums.items()}
    return last | means, updates


def final_weights(folder: Path, files: Mapping[str, str], average_of: int) -> dict[str, Tensor]:
    """Return the weights of a finished training: of its last state (1), or of `mean_of_last`."""
    if average_of == 1:
        return read_weights(folder / LAST, files.get(LAST, ""))
    return mean_of_last(folder, files, average_of)[0]


def _check_same_tensors(before: dict[str, Tensor], weights: dict[str, Tensor], path: Path) -> None:
    """Refuse weights of another network than those of the previous file."""
    for name in [*before, *weights]:
        old, new = before.get(name), weights.get(name)
        if old is None or new is None:
            what = f"'{name}' is {'new' if old is None else 'missing'}"
        elif old.shape != new.shape or old.dtype != new.dtype:
            what = f"'{name}' is {_kind(new)}, before it was {_kind(old)}"
        else:
            continue
        raise FathomError(f"the weights of another network ({what})", str(path), again(path))


def _kind(tensor: Tensor) -> str:
    return f"{tuple(tensor.shape)} {str(tensor.dtype).removeprefix('torch.')}"

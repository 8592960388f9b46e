"""The weights saved during a training, `update_<n>.pt`, and the mean of the last ones."""

import re
from pathlib import Path

import torch
from torch import Tensor

from fathom.checkpoints.read import read_checkpoint, read_weights
from fathom.errors import FathomError

_NAME = re.compile(r"update_(\d+)\.pt")
LAST = "last.pt"
_REMEDY = "delete the run's folder and train it again"


def weights_path(folder: Path, update: int) -> Path:
    """Return the file of the weights after an update."""
    return folder / f"update_{update}.pt"


def saved_weights(folder: Path) -> dict[int, Path]:
    """Return the files of saved weights by update, the oldest first.

    Args:
        folder: the run's checkpoints.
    """
    matches = {path: _NAME.fullmatch(path.name) for path in folder.glob("update_*.pt")}
    updates = {int(match[1]): path for path, match in matches.items() if match}
    return dict(sorted(updates.items()))


def mean_of_last(folder: Path, count: int) -> tuple[dict[str, Tensor], tuple[int, ...]]:
    """Return the mean of the last saved weights, and the updates of these weights.

    Floating-point tensors are averaged in float64 and get their own type back; all others are those
    of the last file. The mean of one file equals it to the bit.

    Args:
        folder: the run's checkpoints.
        count: how many, 1 or more.

    Raises:
        FathomError: fewer are saved, or their tensors differ in name, shape or type.
    """
    saved = saved_weights(folder)
    if count < 1:
        raise FathomError(f"the mean of {count} checkpoints", "average_of", "write 1 or more")
    if len(saved) < count:
        updates = f" (updates {', '.join(map(str, saved))})" if saved else ""
        raise FathomError(
            f"only {len(saved)} saved weights{updates}, average_of needs {count}",
            str(folder),
            "lower decoding.average_of, or raise training.keep_weights and train again",
        )
    updates = tuple(saved)[-count:]
    sums: dict[str, Tensor] = {}
    last: dict[str, Tensor] = {}
    for update in updates:
        weights = _weights(saved[update])
        if last:
            _check_same_tensors(last, weights, saved[update])
        for name, tensor in weights.items():
            if tensor.is_floating_point():
                sums[name] = sums[name] + tensor if name in sums else tensor.double()
        last = weights
    means = {name: (total / count).to(last[name].dtype) for name, total in sums.items()}
    return last | means, updates


def final_weights(folder: Path, average_of: int) -> dict[str, Tensor]:
    """Return the weights of a finished training: of its last state, or a mean of the last saved.

    Args:
        folder: the run's checkpoints.
        average_of: 1 takes the last state; n > 1 the mean of the last n saved weights.

    Raises:
        FathomError: they are missing, or belong to different networks.
    """
    return read_weights(folder / LAST) if average_of == 1 else mean_of_last(folder, average_of)[0]


def _weights(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a file by name."""
    weights = read_checkpoint(path).get("model")
    if not isinstance(weights, dict) or not all(map(torch.is_tensor, weights.values())):
        raise FathomError("the file has no weights", str(path), _REMEDY)
    return weights


def _check_same_tensors(before: dict[str, Tensor], weights: dict[str, Tensor], path: Path) -> None:
    """Refuse weights of another network than those of the previous file."""
    for name in [*before, *weights]:
        one, other = before.get(name), weights.get(name)
        if one is None or other is None:
            what = f"'{name}' is {'new' if one is None else 'missing'}"
        elif one.shape != other.shape or one.dtype != other.dtype:
            what = f"'{name}' is {_kind(other)}, before it was {_kind(one)}"
        else:
            continue
        raise FathomError(f"the weights of another network ({what})", str(path), _REMEDY)


def _kind(tensor: Tensor) -> str:
    return f"{tuple(tensor.shape)} {str(tensor.dtype).removeprefix('torch.')}"

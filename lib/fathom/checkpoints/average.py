"""The weights that a training keeps along its way, `update_<n>.pt`, and the mean of the last."""

import re
from pathlib import Path

import torch
from torch import Tensor

from fathom.checkpoints.read import read_checkpoint, read_weights
from fathom.errors import FathomError

_NAME = re.compile(r"update_(\d+)\.pt")
LAST = "last.pt"
_REMEDY = "delete the run's folder and train it again"


def kept_path(folder: Path, update: int) -> Path:
    """Return the file of the weights after an update."""
    return folder / f"update_{update}.pt"


def kept(folder: Path) -> dict[int, Path]:
    """Return the files of kept weights by update, the oldest first.

    Args:
        folder: the run's checkpoints.
    """
    found = {path: _NAME.fullmatch(path.name) for path in folder.glob("update_*.pt")}
    updates = {int(match[1]): path for path, match in found.items() if match}
    return dict(sorted(updates.items()))


def mean_of_last(folder: Path, count: int) -> tuple[dict[str, Tensor], tuple[int, ...]]:
    """Return the mean of the last kept weights, and the updates after which they were kept.

    Floating-point tensors are averaged in float64 and have their own type again; all others are the
    last one's. The mean of one is that one to the bit.

    Args:
        folder: the run's checkpoints.
        count: how many, 1 or more.

    Raises:
        FathomError: fewer were kept, or their tensors differ in name, shape or type.
    """
    there = kept(folder)
    if count < 1:
        raise FathomError(f"the mean of {count} checkpoints", "average_of", "write 1 or more")
    if len(there) < count:
        listed = f" (updates {', '.join(map(str, there))})" if there else ""
        raise FathomError(
            f"kept weights of {len(there)} updates{listed} where the mean of {count} is asked for",
            str(folder),
            "set average_of to what is there, or training.keep_weights higher and train again",
        )
    updates = tuple(there)[-count:]
    sums: dict[str, Tensor] = {}
    last: dict[str, Tensor] = {}
    for update in updates:
        weights = _weights(there[update])
        if last:
            _check_alike(last, weights, there[update])
        for name, tensor in weights.items():
            if tensor.is_floating_point():
                sums[name] = sums[name] + tensor if name in sums else tensor.double()
        last = weights
    means = {name: (each / count).to(last[name].dtype) for name, each in sums.items()}
    return last | means, updates


def final_weights(folder: Path, average_of: int) -> dict[str, Tensor]:
    """Return the weights of a finished training: of its last state, or a mean of the last kept.

    Args:
        folder: the run's checkpoints.
        average_of: 1 takes the last state, more the mean of so many.

    Raises:
        FathomError: they are missing, or do not fit each other.
    """
    return read_weights(folder / LAST) if average_of == 1 else mean_of_last(folder, average_of)[0]


def _weights(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a file by name."""
    weights = read_checkpoint(path).get("model")
    if not isinstance(weights, dict) or not all(map(torch.is_tensor, weights.values())):
        raise FathomError("holds no weights", str(path), _REMEDY)
    return weights


def _check_alike(before: dict[str, Tensor], weights: dict[str, Tensor], path: Path) -> None:
    """Refuse weights of another network than the file before."""
    for name in [*before, *weights]:
        one, other = before.get(name), weights.get(name)
        if one is None or other is None:
            what = f"'{name}' is {'new' if one is None else 'missing'}"
        elif one.shape != other.shape or one.dtype != other.dtype:
            what = f"'{name}' is {_kind(other)} where it was {_kind(one)}"
        else:
            continue
        raise FathomError(f"another network's weights ({what})", str(path), _REMEDY)


def _kind(tensor: Tensor) -> str:
    return f"{tuple(tensor.shape)} {str(tensor.dtype).removeprefix('torch.')}"

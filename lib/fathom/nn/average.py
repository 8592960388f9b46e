"""The weights saved during a training, `update_<n>.pt`, and the mean of the last ones."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from torch import Tensor

from fathom.io.commands import again
from fathom.io.errors import FathomError
from fathom.nn.weights import read_weights

_NAME = re.compile(r"update_(\d+)\.pt")
LAST = "last.pt"


def weights_path(folder: Path, update: int) -> Path:
    """Return the file of the weights after an update."""
    return folder / f"update_{update}.pt"


def saved_weights(folder: Path) -> dict[int, Path]:
    """Return the files of saved weights by update, the oldest first.

    Args:
        folder: the run's checkpoints.
    """
    names = (path.name for path in folder.glob("update_*.pt"))
    return {update: weights_path(folder, update) for update in saved_updates(names)}


def saved_updates(names: Iterable[str]) -> tuple[int, ...]:
    """Return the updates of the files of saved weights, the oldest first.

    Args:
        names: of files; others are left out.
    """
    return tuple(sorted(int(match[1]) for match in map(_NAME.fullmatch, names) if match))


def mean_of_last(
    folder: Path, files: Mapping[str, str], count: int
) -> tuple[dict[str, Tensor], tuple[int, ...]]:
    """Return the mean of the last saved weights, and the updates of these weights.

    Floating-point tensors are averaged in float64 and get their own type back; all others are those
    of the last file. The mean of one file equals it to the bit.

    Args:
        folder: the run's checkpoints.
        files: the recorded SHA-256 of each file in it, by name.
        count: how many, 1 or more.

    Raises:
        FathomError: fewer are recorded, a file is not the recorded one, or their tensors differ in
            name, shape or type.
    """
    saved = saved_updates(files)
    if count < 1:
        raise FathomError(f"the mean of {count} checkpoints", "average_of", "write 1 or more")
    if len(saved) < count:
        updates = f" (updates {', '.join(map(str, saved))})" if saved else ""
        raise FathomError(
            f"only {len(saved)} saved weights{updates}, average_of needs {count}",
            str(folder),
            "lower decoding.average_of, or raise training.keep_weights and train again",
        )
    updates = saved[-count:]
    sums: dict[str, Tensor] = {}
    last: dict[str, Tensor] = {}
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
    """Return the weights of a finished training: of its last state, or a mean of the last saved.

    Args:
        folder: the run's checkpoints.
        files: the recorded SHA-256 of each file in it, by name.
        average_of: 1 takes the last state; n > 1 the mean of the last n saved weights.

    Raises:
        FathomError: they are missing, are not the recorded ones, or belong to different networks.
    """
    if average_of == 1:
        return read_weights(folder / LAST, files.get(LAST, ""))
    return mean_of_last(folder, files, average_of)[0]


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
        raise FathomError(f"the weights of another network ({what})", str(path), again(path))


def _kind(tensor: Tensor) -> str:
    return f"{tuple(tensor.shape)} {str(tensor.dtype).removeprefix('torch.')}"

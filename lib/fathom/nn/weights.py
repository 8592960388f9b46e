"""Write and read checkpoint files, which may contain only tensors and plain containers."""

import pickle
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from fathom.io.commands import again
from fathom.io.errors import FathomError
from fathom.io.integrity import CHANGED
from fathom.io.seals import checked_seal, sealed


def write_checkpoint(path: Path, content: dict[str, Any]) -> None:
    """Write a checkpoint atomically, sealed by a checksum.

    Args:
        path: the file.
        content: tensors, numbers, text and plain containers.
    """
    with sealed(path) as stream:
        torch.save(content, stream)  # pyright: ignore[reportArgumentType]


def read_checkpoint(path: Path, sha256: str | None = None) -> dict:
    """Read a checkpoint onto the CPU, after comparing its seal; code in it is refused, not run.

    Args:
        path: a file that `write_checkpoint` wrote.
        sha256: the hash that the file must have, if one was recorded.

    Raises:
        FathomError: it is missing, damaged or another one, contains code, or is no mapping.
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
    """Return the weights of a checkpoint by name.

    Args:
        path: the file.
        sha256: as for `read_checkpoint`.

    Raises:
        FathomError: the file cannot be read, or has none.
    """
    weights = read_checkpoint(path, sha256).get("model")
    if not isinstance(weights, dict) or not all(map(torch.is_tensor, weights.values())):
        raise FathomError("the file has no weights", str(path), again(path))
    return weights


def load_weights(network: nn.Module, path: Path, sha256: str | None = None) -> None:
    """Load a checkpoint's weights, its entry "model", into a network.

    Args:
        network: built from the run's specification.
        path: the file.
        sha256: as for `read_checkpoint`.

    Raises:
        FathomError: the file cannot be read, or its weights belong to another network.
    """
    put_weights(network, read_weights(path, sha256), path)


def put_weights(network: nn.Module, weights: dict[str, Tensor], path: Path) -> None:
    """Load weights into a network.

    Args:
        network: built from the run's specification.
        weights: by name.
        path: where they were read, for the message.

    Raises:
        FathomError: they belong to another network.
    """
    try:
        network.load_state_dict(weights)
    except (RuntimeError, AttributeError, TypeError) as error:
        reason = " ".join(str(error).split())[:200]
        what = f"the weights of another network ({reason})"
        raise FathomError(what, str(path), again(path)) from None

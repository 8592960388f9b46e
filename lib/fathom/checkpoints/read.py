"""Read checkpoint files, which may contain only tensors and plain containers."""

import pickle
from pathlib import Path

import torch
from torch import Tensor, nn

from fathom.errors import FathomError

_REMEDY = "delete it and train again; training resumes from the checkpoint before, if there is one"


def read_checkpoint(path: Path) -> dict:
    """Read a checkpoint onto the CPU; code in it is refused, not run.

    Args:
        path: a file that `torch.save` wrote.

    Raises:
        FathomError: it is missing or damaged, contains code, or is no mapping.
    """
    try:
        checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise FathomError("no such checkpoint", str(path), "train the run first") from None
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, KeyError, OSError) as error:
        reason = str(error).split("\n")[0]
        raise FathomError(f"cannot be read ({reason})", str(path), _REMEDY) from None
    if not isinstance(checkpoint, dict):
        raise FathomError("not a checkpoint", str(path), _REMEDY)
    return checkpoint


def read_weights(path: Path) -> dict[str, Tensor]:
    """Return the weights of a checkpoint by name.

    Raises:
        FathomError: the file cannot be read, or has none.
    """
    checkpoint = read_checkpoint(path)
    if "model" not in checkpoint:
        raise FathomError("the file has no weights", str(path), _REMEDY)
    return checkpoint["model"]


def load_weights(network: nn.Module, path: Path) -> None:
    """Load a checkpoint's weights, its entry "model", into a network.

    Raises:
        FathomError: the file cannot be read, or its weights belong to another network.
    """
    put_weights(network, read_weights(path), path)


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
        raise FathomError(what, str(path), _REMEDY) from None

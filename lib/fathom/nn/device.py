"""Copies from the host to a device."""

import torch
from torch import Tensor


def to_device(tensor: Tensor, device: torch.device | str) -> Tensor:
    """Return a tensor of the host on a device; the host does not wait for the copy."""
    # From memory that is not pinned, the host waits until the device has done all earlier work.
    pinned = tensor.pin_memory() if torch.device(device).type == "cuda" else tensor
    return pinned.to(device, non_blocking=True)

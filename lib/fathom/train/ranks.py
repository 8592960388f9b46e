"""The processes that share an update: one, or several started together."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor

from fathom.io.errors import FathomError


class Lost(FathomError):
    """Another process of the training is gone, or no longer answers."""

    def __init__(self):
        """Say which process noticed it."""
        remedy = "read what it printed, and start the same command again to resume"
        where = f"process {os.environ.get('RANK', '0')}"
        super().__init__("another process of this training has ended", where, remedy)


@dataclass(frozen=True)
class Ranks:
    """The number of this process among the `world` that train one run."""

    rank: int
    world: int

    @classmethod
    def join(cls, device: torch.device) -> "Ranks":
        """Join the processes of a launcher such as torchrun, or be the only one.

        Raises:
            Lost: the others did not come.
        """
        world = int(os.environ.get("WORLD_SIZE", "1"))
        if world == 1:
            return cls(0, 1)
        if not dist.is_initialized():
            with with_others():
                # Numbers of the host go another way: the host must not wait for the device.
                backend = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
                dist.init_process_group(backend)
        return cls(dist.get_rank(), world)

    @property
    def first(self) -> bool:
        """Whether this process writes files and adds the losses that count once."""
        return self.rank == 0

    def sum(self, tensor: Tensor) -> Tensor:
        """Return the sum of a tensor over all processes."""
        if self.world > 1:
            with with_others():
                dist.all_reduce(tensor)
        return tensor

    def largest(self, number: int) -> int:
        """Return the largest of the numbers that the processes pass."""
        if self.world == 1:
            return number
        largest = torch.tensor(number)
        with with_others():
            dist.all_reduce(largest, op=dist.ReduceOp.MAX)
        return int(largest)

    def first_says(self, word: int = 0) -> int:
        """Return the number that the first process passes, at least 1; the others pass none."""
        return self.largest(word)


@contextmanager
def with_others() -> Iterator[None]:
    """Raise Lost where a message to the other processes fails inside the block.

    gloo and NCCL raise errors of many kinds, with addresses in them, for this one cause.
    """
    try:
        yield
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as error:
        raise Lost from error

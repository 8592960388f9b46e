"""The processes that share an update: one, or several started together."""

import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor


@dataclass(frozen=True)
class Ranks:
    """The number of this process among the `world` that train one run."""

    rank: int
    world: int

    @classmethod
    def join(cls, device: torch.device) -> "Ranks":
        """Join the processes of a launcher such as torchrun, or be the only one."""
        world = int(os.environ.get("WORLD_SIZE", "1"))
        if world == 1:
            return cls(0, 1)
        if not dist.is_initialized():
            # Numbers of the host go another way: the host must not wait for the device.
            dist.init_process_group("cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo")
        return cls(dist.get_rank(), world)

    @staticmethod
    def joins_first() -> bool:
        """Return whether this process is the first one, before it joins the others."""
        alone = os.environ.get("WORLD_SIZE", "1") == "1"
        return alone or os.environ.get("RANK", "0") == "0"

    @property
    def first(self) -> bool:
        """Whether this process writes files and adds the losses that count once."""
        return self.rank == 0

    def sum(self, tensor: Tensor) -> Tensor:
        """Return the sum of a tensor over all processes."""
        if self.world > 1:
            dist.all_reduce(tensor)
        return tensor

    def largest(self, number: int) -> int:
        """Return the largest of the numbers that the processes pass."""
        if self.world == 1:
            return number
        largest = torch.tensor(number)
        dist.all_reduce(largest, op=dist.ReduceOp.MAX)
        return int(largest)

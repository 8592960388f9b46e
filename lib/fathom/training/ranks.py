"""The processes that share an update: one alone, or several started together."""

import os
from collections.abc import Iterable
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor


@dataclass(frozen=True)
class Ranks:
    """This process's number among the `world` that train one run."""

    rank: int
    world: int

    @classmethod
    def join(cls, device: torch.device) -> "Ranks":
        """Join the processes that a launcher such as torchrun announced, or be alone."""
        world = int(os.environ.get("WORLD_SIZE", "1"))
        if world == 1:
            return cls(0, 1)
        if not dist.is_initialized():
            dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        return cls(dist.get_rank(), world)

    @property
    def first(self) -> bool:
        """Whether this process writes files and counts what is counted once."""
        return self.rank == 0

    def sum(self, tensor: Tensor) -> Tensor:
        """Return the sum of a tensor over all processes."""
        if self.world > 1:
            dist.all_reduce(tensor)
        return tensor

    def largest(self, number: int, device: torch.device) -> int:
        """Return the largest of the numbers that the processes give."""
        if self.world == 1:
            return number
        given = torch.tensor(number, device=device)
        dist.all_reduce(given, op=dist.ReduceOp.MAX)
        return int(given)

    def sum_gradients(self, parameters: Iterable[torch.nn.Parameter]) -> None:
        """Sum gradients over all processes, in one message.

        A parameter that no process used has none afterwards, so that it rests as it would alone.
        """
        if self.world == 1:
            return
        parameters = list(parameters)
        used = torch.tensor([float(each.grad is not None) for each in parameters])
        used = self.sum(used.to(parameters[0].device)) > 0
        taking = [each for each, some in zip(parameters, used.tolist(), strict=True) if some]
        flat = torch.cat(
            [
                (each.grad if each.grad is not None else torch.zeros_like(each)).reshape(-1)
                for each in taking
            ]
        )
        self.sum(flat)
        place = 0
        for each in taking:
            each.grad = flat[place : place + each.numel()].view_as(each).clone()
            place += each.numel()

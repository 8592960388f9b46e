"""The processes that share an update, and the sums of their gradients."""

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from threading import Thread

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import Parameter

from fathom.io.errors import FathomError, brief
from fathom.io.screen import say


class PeerLost(FathomError):
    """Another process of the training is gone, or no longer answers."""

    def __init__(self):
        remedy = "read what it printed, and start the same command again to resume"
        where = f"process {os.environ.get('RANK', '0')}"
        super().__init__("another process of this training has ended", where, remedy)


# What torchrun sets for each process, and torch reads.
_LAUNCHER = ("WORLD_SIZE", "RANK", "MASTER_ADDR", "MASTER_PORT")
_SILENT = 60  # seconds without a word about processes that do not come


@dataclass(frozen=True)
class Ranks:
    """The number of this process among the `world` that train one run."""

    rank: int
    world: int

    @classmethod
    def join(cls, device: torch.device) -> "Ranks":
        """Join the processes of a launcher such as torchrun, or be the only one."""
        world = _world()
        if world == 1:
            return cls(0, 1)
        if not dist.is_initialized():
            # Numbers of the host go another way: the host must not wait for the device.
            _begin("cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo", world)
        return cls(dist.get_rank(), world)

    @property
    def is_main(self) -> bool:
        """Whether this process writes files and adds the losses that count once."""
        return self.rank == 0

    def sum(self, tensor: Tensor) -> Tensor:
        """Return the sum of a tensor over all processes."""
        if self.world > 1:
            with detecting_lost_peers():
                dist.all_reduce(tensor)
        return tensor

    def bounds(self, number: float) -> tuple[float, float]:
        """Return the smallest and the largest of the numbers that the processes pass."""
        largest = torch.tensor([-number, number], dtype=torch.float64)
        if self.world > 1:
            with detecting_lost_peers():
                dist.all_reduce(largest, op=dist.ReduceOp.MAX)
        return 0.0 - float(largest[0]), float(largest[1])

    def all_reduce_max(self, number: int) -> int:
        """Return the largest of the numbers that the processes pass."""
        return int(self.bounds(number)[1])

    def broadcast_from_main(self, word: int = 0) -> int:
        """Return the number that the first process passes, at least 1; the others pass none."""
        return self.all_reduce_max(word)


def _world() -> int:
    """Return how many processes a launcher has started; 1 where there is none.

    Variables that are left from another program in the shell are refused.
    """
    given = {name: os.environ.get(name, "") for name in _LAUNCHER}
    if not given["WORLD_SIZE"] or given["WORLD_SIZE"] == "1":
        return 1
    for name, value in given.items():
        if not value or (name != "MASTER_ADDR" and not value.isdecimal()):
            what = f"WORLD_SIZE is '{brief(given['WORLD_SIZE'])}' and {name} is '{brief(value)}'"
            remedy = "run `unset WORLD_SIZE`, or start the processes with torchrun"
            raise FathomError(what, "the environment", remedy)
    return int(given["WORLD_SIZE"])


def _begin(backend: str, world: int) -> None:
    """Begin the process group, and say after a minute which processes have not come.

    torch waits in compiled code, where no signal is heard: so another thread calls it.
    """
    begun: Future[None] = Future()

    def begin() -> None:
        try:
            dist.init_process_group(backend)
            begun.set_result(None)
        except Exception as error:  # noqa: BLE001
            begun.set_exception(error)

    Thread(target=begin, daemon=True).start()
    # In slices: a signal that comes just before a wait is heard only after it.
    for second in count(1):
        if wait([begun], 1).done:
            break
        if second == _SILENT:
            rank, host, port = (os.environ[name] for name in _LAUNCHER[1:])
            others = ", ".join(str(other) for other in range(world) if str(other) != rank)
            say(f"fathom: process {rank} waits for process {brief(others)}, at {host}:{port}")
    with detecting_lost_peers():
        begun.result()


@contextmanager
def detecting_lost_peers() -> Iterator[None]:
    """Raise PeerLost where a message to the other processes fails inside the block.

    gloo and NCCL raise errors of many kinds, with addresses in them, for this one cause.
    """
    try:
        yield
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as error:
        raise PeerLost from error


# Of one message, as in torch's DistributedDataParallel.
_BYTES = 25 * 2**20


class Bucket:
    """Parameters whose gradients are summed in one message."""

    def __init__(self, parameters: list[Parameter]):
        self.parameters, self.waiting = parameters, len(parameters)
        self._sums, self._message = torch.zeros(0), None

    def send(self) -> None:
        """Start to sum the gradients; a parameter without any adds zeros."""
        gradients = [
            torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            for parameter in self.parameters
        ]
        self._sums = torch.cat([gradient.reshape(-1) for gradient in gradients])
        with detecting_lost_peers():
            self._message = dist.all_reduce(self._sums, async_op=True)

    def receive(self, used: Iterator[bool]) -> None:
        """Wait for the sums, and set them as gradients; None where no process used a parameter."""
        if self._message is not None:
            with detecting_lost_peers():
                self._message.wait()
        sums = self._sums.split([parameter.numel() for parameter in self.parameters])
        for parameter, total in zip(self.parameters, sums, strict=True):
            parameter.grad = total.view_as(parameter) if next(used) else None
        self._sums, self._message, self.waiting = torch.zeros(0), None, len(self.parameters)


class GradientSums:
    """Sums the gradients of all processes, in the same messages in each of them.

    Messages start in one fixed order: each when its gradients are there and those before it have
    started, the rest at the end. A parameter that no process used still has no gradient afterwards,
    so it does not move. Parameters are in the order of the forward pass in every process; `limit`
    is the bytes of a message, unless one parameter alone has more.
    """

    def __init__(self, parameters: Iterable[Parameter], limit: int = _BYTES):
        self._buckets = [Bucket(group) for group in _groups(parameters, limit)]
        self._of: dict[Tensor, Bucket] = {
            parameter: bucket for bucket in self._buckets for parameter in bucket.parameters
        }
        self._last, self._sent = False, 0
        for parameter in self._of:
            parameter.register_post_accumulate_grad_hook(self._arrived)

    def expect_last(self) -> None:
        """Say that the next backward pass is the update's last one in this process."""
        self._last = True

    def finish(self) -> None:
        """Send what is left and wait for all sums."""
        while self._sent < len(self._buckets):
            self._send_next()
        # Between hosts, so that none of them waits for its device.
        used = torch.tensor([parameter.grad is not None for parameter in self._of]).int()
        with detecting_lost_peers():
            dist.all_reduce(used)
        left = iter((used > 0).tolist())
        for bucket in self._buckets:
            bucket.receive(left)
        self._last, self._sent = False, 0

    def _arrived(self, parameter: Tensor) -> None:
        """Count a gradient that is complete, and send what is ready."""
        if not self._last:
            return
        self._of[parameter].waiting -= 1
        while self._sent < len(self._buckets) and not self._buckets[self._sent].waiting:
            self._send_next()

    def _send_next(self) -> None:
        self._buckets[self._sent].send()
        self._sent += 1


def _groups(parameters: Iterable[Parameter], limit: int) -> list[list[Parameter]]:
    """Return the parameters from the last, whose gradients come first, in groups of one type."""
    groups: list[list[Parameter]] = []
    size = 0
    for parameter in reversed([parameter for parameter in parameters if parameter.requires_grad]):
        size += parameter.nbytes
        if not groups or size > limit or groups[-1][0].dtype != parameter.dtype:
            groups.append([])
            size = parameter.nbytes
        groups[-1].append(parameter)
    return groups

"""The clock, contenders that take turns, and what is compared of their times."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

import torch

# Does the work of one round, which counts from 1, and returns its seconds.
Contender = Callable[[int], float]


def clock(device: torch.device) -> Callable[[], float]:
    """Return a clock in seconds: of this process on a CPU, which others may share.

    On CUDA it waits until the device has done what was asked of it.
    """
    if device.type == "cpu":
        return time.process_time

    def after_all_kernels() -> float:
        torch.cuda.synchronize(device)
        return time.perf_counter()

    return after_all_kernels


def timed(now: Callable[[], float], work: Callable[[int], object]) -> Contender:
    """Return a contender of this process.

    Args:
        now: the clock.
        work: does the work of a round.
    """

    def contender(number: int) -> float:
        start = now()
        work(number)
        return now() - start

    return contender


def turns(names: Sequence[str], rounds: int) -> Iterator[tuple[int, str]]:
    """Yield (round, name) in an order that is reversed in every second round; rounds count from 1.

    So none of them is always the one that runs after a warm cache or before a busy moment.
    """
    for number in range(1, rounds + 1):
        for name in names if number % 2 else reversed(names):
            yield number, name


def alternate(
    contenders: Mapping[str, Contender], rounds: int, warm_up: int
) -> dict[str, list[float]]:
    """Return the seconds of each round by contender.

    Args:
        contenders: by name.
        rounds: that count.
        warm_up: rounds before these: caches, and what is made once.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for number, name in turns(list(contenders), warm_up + rounds):
        spent = contenders[name](number)
        if number > warm_up:
            seconds[name].append(spent)
    return seconds


@dataclass(frozen=True)
class Spread:
    """The median of some numbers, and their first and third quartile."""

    middle: float
    low: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    """Return median and quartiles; of one number, the number itself."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    low, _, high = quantiles(values, n=4, method="inclusive")
    return Spread(median(values), low, high)


def faster(than: Sequence[float], seconds: Sequence[float]) -> Spread:
    """Return how many times faster a contender is than another, from rounds that belong together.

    Args:
        than: the other's seconds.
        seconds: the contender's, of the same rounds.
    """
    return spread([other / own for other, own in zip(than, seconds, strict=True)])

"""A function of many items in several processes: results in order, and few items in memory."""

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from multiprocessing import Pool
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")
# Items of one process and round: many enough to wait seldom, few enough to hold.
_ITEMS = 32


def mapped(
    function: Callable[[T], R], items: Iterable[T], processes: int | None = None
) -> Iterator[R]:
    """Yield the result of each item, in the order of the items.

    While one round of items is worked on, the next is read. A single round needs no processes.

    Args:
        function: of one item; it, items and results can be pickled.
        items: read in this process.
        processes: how many; None for the processors that this process may use.
    """
    processes = processes or len(os.sched_getaffinity(0))
    size, stream = processes * _ITEMS, iter(items)
    first = list(islice(stream, size))
    if processes == 1 or len(first) < size:
        yield from map(function, chain(first, stream))
        return
    with Pool(processes, _leave_signals) as pool:
        waiting = pool.map_async(function, first)
        while batch := list(islice(stream, size)):
            following = pool.map_async(function, batch)
            yield from waiting.get()
            waiting = following
        yield from waiting.get()


def _leave_signals() -> None:
    """Let the process that asked answer to Ctrl-C; it ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)

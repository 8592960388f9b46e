"""A function of many items in several processes: results in order, and few items in memory."""

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from multiprocessing import parent_process
from threading import Thread
from typing import TypeVar

from fathom.io.errors import FathomError

T = TypeVar("T")
R = TypeVar("R")
# Items that are sent together, and how many such batches a process has: few enough to hold.
_ITEMS, _BATCHES = 8, 8


def mapped(
    function: Callable[[T], R], items: Iterable[T], processes: int | None = None
) -> Iterator[R]:
    """Yield the result of each item, in the order of the items.

    Items are read as results are taken. A few items need no processes.

    Args:
        function: of one item; it, items and results can be pickled.
        items: read in this process.
        processes: how many; None for the processors that this process may use.

    Raises:
        FathomError: a process was killed.
    """
    processes = processes or len(os.sched_getaffinity(0))
    size, stream = processes * _BATCHES, iter(items)
    batches = iter(lambda: list(islice(stream, _ITEMS)), [])
    first = list(islice(batches, size))
    if processes == 1 or len(first) < size:
        yield from map(function, chain.from_iterable(chain(first, batches)))
        return
    pool = ProcessPoolExecutor(processes, initializer=_begin)
    try:
        waiting = deque(pool.submit(_of_all, function, batch) for batch in first)
        for batch in batches:
            yield from waiting.popleft().result()
            waiting.append(pool.submit(_of_all, function, batch))
        while waiting:
            yield from waiting.popleft().result()
    except BrokenProcessPool:
        what = "a process was killed, as happens where memory is full"
        remedy = "start again with more memory, or on fewer processors: taskset --cpu-list 0 fathom"
        raise FathomError(what, "memory", remedy) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _of_all(function: Callable[[T], R], items: list[T]) -> list[R]:
    return [function(item) for item in items]


def _begin() -> None:
    """Let the process that asked answer to Ctrl-C; it ends the others, also where it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when its parent has ended; it would wait for work without end."""
    if parent := parent_process():
        parent.join()
        os._exit(1)

"""The batches of the next updates, made by a thread while the current update computes."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, Self, TypeVar

B = TypeVar("B")


class Ahead(Generic[B]):
    """Makes batches ahead of their use; the thread ends with the `with` block.

    A batch depends on the number of its update alone, so that nothing is lost or repeated where a
    training stops between making a batch and using it.
    """

    def __init__(self, make: Callable[[int], B], last: int, depth: int = 2):
        """Start the thread; it makes nothing yet.

        Args:
            make: from the number of an update to its batch.
            last: the last update, after which nothing is made.
            depth: how many batches are made ahead.
        """
        self._make, self._last, self._depth = make, last, depth
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="batches")
        self._batches: dict[int, Future[B]] = {}

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Wait for the batch that is being made, and end the thread."""
        self._thread.shutdown(cancel_futures=True)

    def take(self, update: int) -> B:
        """Return the batch of an update; errors in making it are raised here."""
        for number in range(update, min(update + self._depth, self._last) + 1):
            if number not in self._batches:
                self._batches[number] = self._thread.submit(self._make, number)
        return self._batches.pop(update).result()

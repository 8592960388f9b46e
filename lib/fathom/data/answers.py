"""One request and its answer: every wait for a server has an end.

A server may send the head of its answer, or what follows its last byte, one byte at a time without
end, and a look-up of a host has no time limit of its own. So a thread sends the request and reads,
and the program waits for what the thread hands over.
"""

import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any

import requests
from requests import Response

from fathom.data.failures import FAILURES, cause

CHUNK = 1 << 18  # bytes


@dataclass(frozen=True)
class Limits:
    """What a download may take.

    Attributes:
        drops: connections that may end early.
        pause: seconds before the first attempt after a drop; each next pause is twice as long, up
            to `longest_pause`.
        connect: seconds to connect.
        silence: seconds without a byte.
        rate: bytes a second that must arrive, measured over `rate_over` seconds.
    """

    drops: int = 20
    pause: float = 1.0
    longest_pause: float = 30.0
    connect: float = 15.0
    silence: float = 60.0
    rate: float = 1000.0
    rate_over: float = 300.0


LIMITS = Limits()


class Failed(Exception):
    """There is no answer, or not all of it; the text is the cause."""


class TooSlow(Failed):
    """Bytes arrive below the minimum rate."""


def ask(
    address: str, headers: Mapping[str, str], limits: Limits
) -> tuple[Response, Generator[bytes]]:
    """Send a GET request.

    Args:
        address: redirects are followed.
        headers: of the request.
        limits: of the time that passes.

    Returns:
        The answer, and its bytes as they arrive, not decoded. Reading them raises `Failed`, too.

    Raises:
        Failed: there is no answer.
    """
    items = _handed_over(_exchange(address, headers, limits), limits.connect + limits.silence)
    try:
        response = next(items)
    except FAILURES as error:
        raise Failed(cause(error)) from None
    return response, _at_rate(items, limits)


class _Session(requests.Session):
    """A session that reads nothing of a redirect but its head: requests would read all of it."""

    def get_redirect_target(self, resp: Response) -> str | None:
        """Return where an answer leads, or None."""
        target = super().get_redirect_target(resp)
        if target:
            resp.close()
        return target


def _exchange(address: str, headers: Mapping[str, str], limits: Limits) -> Iterator[Any]:
    """Yield the answer, then its bytes."""
    seconds = (limits.connect, limits.silence)
    with (
        _Session() as session,
        session.get(address, headers=headers, stream=True, timeout=seconds) as response,
    ):
        yield response
        # `read1` gives what has arrived; `read` and `stream` wait for a full chunk.
        while chunk := response.raw.read1(CHUNK, decode_content=False):
            yield chunk


def _handed_over(items: Iterator[Any], seconds: float) -> Iterator[Any]:
    """Yield items that another thread makes, and raise its error.

    Args:
        items: made by the thread, a few ahead. A thread that hangs ends with the program.
        seconds: to wait for each item.

    Raises:
        TimeoutError: the next item has not come.
    """
    queue: Queue[Any] = Queue(maxsize=4)
    unwanted = Event()

    put = partial(_put, queue, unwanted)

    def run() -> None:
        try:
            for item in items:
                put(item)
                if unwanted.is_set():
                    return
        except FAILURES as error:
            put(error)
        finally:
            put(None)

    Thread(target=run, daemon=True).start()
    try:
        while True:
            try:
                item = queue.get(timeout=seconds)
            except Empty:
                raise TimeoutError from None
            if item is None:
                return
            if isinstance(item, Exception):
                raise item
            yield item
    finally:
        # Nothing else: a signal may have left the queue's lock held.
        unwanted.set()


def _put(queue: Queue[Any], unwanted: Event, item: Any) -> None:
    """Wait for room, until nobody wants the item any more."""
    while not unwanted.is_set():
        with suppress(Full):
            return queue.put(item, timeout=1)


def _at_rate(chunks: Iterator[bytes], limits: Limits) -> Generator[bytes]:
    """Yield chunks while they come fast enough."""
    begun, count = time.monotonic(), 0
    try:
        for chunk in chunks:
            yield chunk
            count += len(chunk)
            seconds = time.monotonic() - begun
            if seconds <= limits.rate_over:
                continue
            if count < limits.rate * seconds:
                raise TooSlow(
                    f"the server is too slow: only {count:,} bytes came in {seconds:,.0f} seconds"
                )
            begun, count = time.monotonic(), 0
    except FAILURES as error:
        raise Failed(cause(error)) from None

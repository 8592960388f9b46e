"""One request and its answer: every wait for a server has an end.

A server may send the head of its answer, or what follows its last byte, one byte at a time without
end, and a look-up of a host has no time limit of its own. So a thread sends the request and reads,
and the program waits for what the thread hands over.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any

import requests
from requests import Response

from fathom.data.failures import cause

CHUNK = 1 << 18  # bytes


@dataclass(frozen=True)
class Limits:
    """How long a download may go on without ending.

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
) -> tuple[Response, Iterator[bytes]]:
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
    except Exception as error:
        raise Failed(cause(error)) from None
    return response, _at_rate(items, limits)


def _exchange(address: str, headers: Mapping[str, str], limits: Limits) -> Iterator[Any]:
    """Yield the answer, then its bytes."""
    seconds = (limits.connect, limits.silence)
    hooks = {"response": _leave_redirect_unread}
    with requests.get(
        address, headers=headers, stream=True, timeout=seconds, hooks=hooks
    ) as response:
        yield response
        # `read1` gives what has arrived; `read` and `stream` wait until a whole chunk has.
        while chunk := response.raw.read1(CHUNK, decode_content=False):
            yield chunk


def _leave_redirect_unread(response: Response, **_: Any) -> None:
    """Close a redirect: requests would read all that comes with it."""
    if response.is_redirect:
        response.close()


def _handed_over(items: Iterator[Any], seconds: float) -> Iterator[Any]:
    """Yield items that another thread makes, and raise its error.

    Args:
        items: made by the thread, a few ahead. A thread that hangs ends with the program.
        seconds: to wait for each item.

    Raises:
        TimeoutError: the next item has not come.
    """
    queue: Queue[tuple[Any, BaseException | None]] = Queue(maxsize=4)
    unwanted = Event()

    def run() -> None:
        try:
            for item in items:
                if unwanted.is_set():
                    return
                queue.put((item, None))
            queue.put((None, StopIteration()))
        except Exception as error:
            queue.put((None, error))

    Thread(target=run, daemon=True).start()
    try:
        while True:
            try:
                item, error = queue.get(timeout=seconds)
            except Empty:
                raise TimeoutError from None
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            yield item
    finally:
        unwanted.set()
        with suppress(Empty):
            while True:
                queue.get_nowait()


def _at_rate(chunks: Iterator[bytes], limits: Limits) -> Iterator[bytes]:
    """Yield chunks while they come fast enough; an error gets the words of its cause."""
    begun, count = time.monotonic(), 0
    try:
        for chunk in chunks:
            yield chunk
            count += len(chunk)
            seconds = time.monotonic() - begun
            if seconds > limits.rate_over:
                if count < limits.rate * seconds:
                    what = f"only {count:,} bytes came in {seconds:,.0f} seconds"
                    raise TooSlow(f"the server is too slow: {what}")
                begun, count = time.monotonic(), 0
    except (Failed, GeneratorExit):
        raise
    except Exception as error:
        raise Failed(cause(error)) from None

import itertools
import threading
import time
from dataclasses import replace

import pytest

from fathom.data.answers import Failed, TooSlow, ask
from tests.support.refused import prose

HEAD = b"HTTP/1.1 200 OK\r\n"


def slowly(send, text=None):
    """Send bytes for ever, one at a time."""
    for byte in text or itertools.repeat(ord("x")):
        send(bytes([byte]))
        time.sleep(0.01)


def stays_silent(send):
    time.sleep(5)


def trickles_its_head(send):
    slowly(send, itertools.chain(HEAD, b"X: ", itertools.repeat(ord("x"))))


def ends_at_once(send):
    pass


def speaks_no_http(send):
    send(b"220 mail ready\r\n")


UNANSWERED = {
    stays_silent: prose("silent server"),
    trickles_its_head: prose("stopped sending"),
    ends_at_once: prose("no HTTP"),
    speaks_no_http: prose("no HTTP"),
}


@pytest.fixture
def limits(limits):
    """Short ones; a machine that is busy may reach them early, which no test here minds."""
    return replace(limits, connect=0.2, silence=0.2, rate_over=0.2)


@pytest.mark.parametrize(("run", "words"), UNANSWERED.items())
def test_a_server_that_never_answers_is_left(scripted, limits, run, words):
    with pytest.raises(Failed) as caught:
        ask(scripted(run).address, {}, limits)
    assert str(caught.value) == words


def test_bytes_come_as_they_arrive_and_not_decoded(scripted, limits):
    def run(send):
        send(HEAD + b"Content-Encoding: gzip\r\nContent-Length: 6\r\n\r\nabc")
        time.sleep(0.05)
        send(b"def")

    response, chunks = ask(scripted(run).address, {}, replace(limits, silence=5))
    assert (response.status_code, list(chunks)) == (200, [b"abc", b"def"])


def test_a_trickle_ends_when_it_is_below_the_rate(scripted, limits):
    """One byte a minute was progress, for ever."""

    def run(send):
        send(HEAD + b"\r\n")
        slowly(send)

    _, chunks = ask(scripted(run).address, {}, limits)
    with pytest.raises(TooSlow):
        list(chunks)


def test_a_trickle_above_the_rate_goes_on(scripted, limits):

    def run(send):
        send(HEAD + b"Content-Length: 40\r\n\r\n")
        slowly(send, b"x" * 40)

    _, chunks = ask(scripted(run).address, {}, replace(limits, silence=5, rate=10))
    assert b"".join(chunks) == b"x" * 40


def test_silence_after_some_bytes_is_a_failure(scripted, limits):
    def run(send):
        send(HEAD + b"Content-Length: 10\r\n\r\nabc")
        time.sleep(5)

    _, chunks = ask(scripted(run).address, {}, limits)
    assert next(chunks) == b"abc"
    with pytest.raises(Failed) as caught:
        next(chunks)
    assert str(caught.value) == prose("stopped sending")


def test_lines_after_the_last_byte_do_not_hold_the_program(scripted, limits):
    """http.client reads such lines until an empty one."""

    def run(send):
        send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n")
        for _ in range(500):
            send(b"X: x\r\n")
            time.sleep(0.01)

    _, chunks = ask(scripted(run).address, {}, limits)
    with pytest.raises(Failed):
        list(chunks)


def test_what_comes_with_a_redirect_is_not_read(scripted, limits, site):
    address = site.put("/real", content=b"here")

    def run(send):
        send(b"HTTP/1.1 302 Found\r\nLocation: " + address.encode() + b"\r\n\r\n")
        while True:
            send(bytes(1 << 20))

    _, chunks = ask(scripted(run).address, {}, replace(limits, silence=5))
    assert b"".join(chunks) == b"here"


def test_an_answer_that_nobody_reads_on_ends_its_thread(scripted, limits):
    def run(send):
        send(HEAD + b"\r\n")
        while True:
            send(bytes(1 << 20))

    before = set(threading.enumerate())
    _, chunks = ask(scripted(run).address, {}, replace(limits, silence=5))
    next(chunks)
    [reader] = [one for one in set(threading.enumerate()) - before if "run" in one.name]
    chunks.close()
    reader.join(5)
    assert not reader.is_alive()

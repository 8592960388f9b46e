"""No state of a terminal stops a program."""

import fcntl
import io
import os
import sys
import time

import pytest

from fathom.io import screen
from fathom.io.screen import Screen, say


@pytest.fixture
def pipe():
    """The reading end's number, and the writing end as standard error is opened."""
    reading, writing = os.pipe()
    with open(writing, "w", encoding="utf-8", buffering=1) as stream:
        yield reading, stream
        # What a test left in the buffer may have no reader.
        os.dup2(os.open(os.devnull, os.O_WRONLY), writing)


def test_text_comes_out_at_once(pipe):
    reading, stream = pipe
    assert Screen(stream).write("half") == 4
    assert os.read(reading, 99) == b"half"


def test_a_closed_pipe_is_left_alone_for_good(pipe):
    reading, stream = pipe
    os.close(reading)
    shown = Screen(stream)
    for _ in range(3):
        assert shown.write("line\n") == 5


def test_a_terminal_that_is_gone_is_left_alone():
    ours, theirs = os.openpty()
    os.close(ours)
    with open(theirs, "w", encoding="utf-8", buffering=1) as stream:
        shown = Screen(stream)
        assert shown.fileno() == theirs
        shown.write("line\n")
        os.dup2(os.open(os.devnull, os.O_WRONLY), theirs)


def test_a_closed_stream_is_left_alone():
    stream = io.StringIO()
    stream.close()
    assert Screen(stream).write("line\n") == 5


def test_a_full_pipe_is_waited_for_once_and_gets_text_when_it_takes_some(pipe, monkeypatch):
    monkeypatch.setattr(screen, "SECONDS", 0.05)
    reading, stream = pipe
    os.write(stream.fileno(), bytes(fcntl.fcntl(reading, fcntl.F_GETPIPE_SZ)))
    shown = Screen(stream)
    start = time.monotonic()
    for _ in range(100):
        shown.write("lost\n")
    assert time.monotonic() - start < 2
    assert b"lost" not in os.read(reading, 1 << 20)
    shown.write("seen\n")
    assert os.read(reading, 99).endswith(b"seen\n")


def test_a_line_goes_to_standard_error_as_it_is_now(monkeypatch):
    for _ in range(2):
        stream = io.StringIO()
        monkeypatch.setattr(sys, "stderr", stream)
        say("a line")
        assert stream.getvalue() == "a line\n"

"""Pages until Ctrl-C."""

import io
import os
import signal
import sys

import pytest

from fathom.cli.watching import watch
from fathom.io.signals import Stopped, raised
from tests.support.refused import says

PAGES = [["a", "b"], ["a", "c"], ["a", "c"]]


@pytest.fixture(autouse=True)
def interrupted():
    """Ctrl-C is no ignored signal, as it is in a process that a script starts in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def pages(number=signal.SIGINT):
    """Return a function that returns one page after the other, and then sends a signal."""
    left = iter(PAGES)

    def page():
        lines = next(left, None)
        if lines is None:
            os.kill(os.getpid(), number)
        return lines or []

    return page


def test_without_a_terminal_each_new_line_is_printed_once(capsys):
    with raised():
        watch(pages(), period=0)
    printed = capsys.readouterr()
    assert printed.out == "a\nb\nc\n"
    says("no longer watched").check(printed.err)
    assert printed.err.count("\n") == 1


def test_on_a_terminal_each_page_replaces_the_last(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stdout", terminal)
    with raised():
        watch(pages(), period=0)
    assert [page.split("\x1b[H")[1] for page in terminal.getvalue().split("\x1b[2J")[1:]] == [
        "a\nb\n",
        "a\nc\n",
        "a\nc\n",
    ]


def test_another_signal_ends_the_command_as_it_ends_others():
    with pytest.raises(Stopped), raised():
        watch(pages(signal.SIGTERM), period=0)

"""Signals that stop a command: TERM, INT, HUP, and what schedulers send before a limit.

A scheduler sends its signals several times, and a launcher sends them again: only the first one
counts. A user who is in a hurry presses Ctrl-C once more: an INT that follows another signal ends
the process at once. A signal that the process ignores from its start on, as after `nohup`, stays
ignored.
"""

import signal
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import current_thread, main_thread
from types import FrameType

from fathom.io.screen import say

# Warnings of schedulers: Slurm and PBS send USR1, Grid Engine USR2 too, LSF USR2 or XCPU.
WARNINGS = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU)
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, *WARNINGS)


class Stopped(BaseException):
    """A signal stopped the command; as with KeyboardInterrupt, `except Exception` lets it pass."""

    def __init__(self, number: int, when: str = "", by: str = ""):
        """Say what stopped it, and when, such as ` after update 3`.

        What is stopped `by` something else than a signal has the number of TERM.
        """
        cause = by or signal.Signals(number).name
        super().__init__(f"stopped by {cause}{when}; start the same command again to resume")
        self.number = number

    @property
    def code(self) -> int:
        """The exit code: 128 and the number; a scheduler's warning ends as TERM does."""
        return 128 + (signal.SIGTERM if self.number in WARNINGS else self.number)


class Pending:
    """A signal that waits until the block can end; its number is 0 for none."""

    number: int = 0


def raised() -> AbstractContextManager[Pending]:
    """Raise Stopped inside the block, wherever it is, when a signal comes.

    Compiled code may turn Stopped into an error of its own: `number` says that a signal came.
    After the block the process ends: signals are ignored from then on, except Ctrl-C.
    """
    return _handled(raises=True)


def deferred() -> AbstractContextManager[Pending]:
    """Only note the signal that comes inside the block, which asks for it where it can stop."""
    return _handled(raises=False)


def ignore_others() -> None:
    """Let the process end in peace: what a scheduler sends while it ends no longer counts.

    A handler of Python's would be gone while the interpreter ends, which takes torch a while.
    """
    for number in SIGNALS:
        if number != signal.SIGINT:
            signal.signal(number, signal.SIG_IGN)


def _ignored(_: int, __: FrameType | None) -> None:
    """Take a signal that comes again; what SIG_IGN ignores, commands started here would too."""


def end_in_one_line(before_jobs: bool) -> None:
    """Have Ctrl-C end a start of Snakemake in one line; once there are jobs, Snakemake ends it.

    Snakemake ends its own look at a workflow in a traceback.
    """
    if current_thread() is main_thread() and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _end if before_jobs else signal.default_int_handler)


def _end(number: int, _: FrameType | None) -> None:
    stopped = Stopped(number, " before any job")
    say(f"fathom: {stopped}")
    sys.exit(stopped.code)


@contextmanager
def _handled(raises: bool) -> Iterator[Pending]:
    """Note the first signal inside the block, or raise it; an INT after it ends the process.

    Python handles signals in the main thread alone; in another one the block runs as it is.
    """
    pending, mine = Pending(), current_thread() is main_thread()
    before = {number: signal.getsignal(number) for number in SIGNALS if mine}
    before = {number: old for number, old in before.items() if old is not signal.SIG_IGN}

    def handle(number: int, _: FrameType | None) -> None:
        for later in before:
            signal.signal(later, signal.SIG_DFL if later == signal.SIGINT else _ignored)
        pending.number = number
        if raises:
            raise Stopped(number)

    try:
        for number in before:
            signal.signal(number, handle)
        yield pending
    finally:
        for number, old in before.items():
            # Even for a moment, a default that is set again would let a signal kill the process.
            after = signal.SIG_IGN if raises and number != signal.SIGINT else old
            signal.signal(number, after or signal.SIG_DFL)

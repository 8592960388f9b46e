"""Lines for the user on standard error, which never stop the program.

A closed pipe, a terminal that is gone and one that takes no more text cost the user lines. What
must not be lost is in files.
"""

import select
import sys
from functools import lru_cache
from typing import Any, TextIO

# How long a full pipe or a stopped terminal is waited for, once.
SECONDS = 1.0
_DAYS, _SHORTER = (86_400, "days"), ((3600, "h"), (60, "min"))


class Screen:
    """A stream that writes to another one for as long as that takes text, and raises no error."""

    def __init__(self, stream: TextIO):
        self.stream = stream
        self._dead, self._full = False, False

    def write(self, text: str) -> int:
        """Write text at once, or leave it out."""
        if not self._dead and self._takes_text():
            try:
                self.stream.write(text)
                self.stream.flush()
            except (OSError, ValueError):
                self._dead = True
        return len(text)

    def _takes_text(self) -> bool:
        """Return whether the stream takes text now; a full one is waited for once."""
        try:
            ready = select.select([], [self.stream.fileno()], [], 0 if self._full else SECONDS)
        except (OSError, ValueError):
            # No file at all, such as a test's stream, or a closed one, which write() finds.
            return True
        self._full = not ready[1]
        return not self._full

    def flush(self) -> None:
        """Do nothing: text is written at once."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@lru_cache(maxsize=1)
def screen(stream: TextIO) -> Screen:
    """Return the screen of a stream, which remembers that the stream is gone or full."""
    return Screen(stream)


def say(line: str) -> None:
    """Print a line on standard error, if it takes one."""
    screen(sys.stderr).write(f"{line}\n")


def duration(seconds: float, days: bool = True) -> str:
    """Return a time in the largest unit of which there is one or more.

    Without `days` this is hours at most, in which the time of devices is counted.
    """
    for size, unit in (_DAYS, *_SHORTER) if days else _SHORTER:
        if seconds >= size:
            count = seconds / size
            return f"{count:.3g} {unit}" if count < 100 else f"{count:,.0f} {unit}"
    return "< 1 s" if 0 < seconds < 1 else f"{seconds:.0f} s"

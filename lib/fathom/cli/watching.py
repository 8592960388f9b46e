"""Print lines again and again until Ctrl-C: a page on a terminal, else what has changed."""

import signal
import sys
import time
from collections.abc import Callable

from fathom.cli.options import report
from fathom.io.signals import Stopped

# Seconds between two looks.
PERIOD = 3.0
# Delete the page, and begin at its first line.
_AGAIN = "\x1b[2J\x1b[H"


def watch(lines: Callable[[], list[str]], period: float = PERIOD) -> None:
    """Print what a function returns every few seconds.

    On a terminal the page is replaced. Elsewhere only lines that were not in the last page are
    printed.

    Args:
        lines: returns the page.
        period: seconds between two pages.

    Raises:
        Stopped: a signal other than Ctrl-C stopped it.
    """
    before: list[str] = []
    try:
        while True:
            page = lines()
            if sys.stdout.isatty():
                print(_AGAIN + "\n".join(page), flush=True)
            else:
                for line in page:
                    if line not in before:
                        print(line, flush=True)
            before = page
            time.sleep(period)
    except Stopped as stopped:
        if stopped.number != signal.SIGINT:
            raise
        report("no longer watched; trainings continue")

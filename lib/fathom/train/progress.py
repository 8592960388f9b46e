"""What a user sees of a training: plain lines, or a bar on a terminal; train.log has all lines.

A line is in train.log before it is printed: a terminal that is gone takes nothing away.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from fathom.io.files import appending
from fathom.io.screen import screen

Report = Callable[[str], None]


@dataclass
class Speed:
    """Target tokens per second since the last logged update; validations and saves apart."""

    tokens: int = 0  # of the training up to the last logged update
    seconds: float = 0.0  # of the updates since then
    rate: float = 0.0  # target tokens/s

    def read(self, tokens: int) -> None:
        """End an interval at an update up to which the training has had `tokens`."""
        self.rate = (tokens - self.tokens) / self.seconds
        self.tokens, self.seconds = tokens, 0.0

    def __str__(self) -> str:
        return f"{self.rate:,.0f} target tokens/s"


class Reporter:
    """Prints the lines of a training, and appends them to train.log.

    On a terminal a bar shows updates, and the lines of logged updates go to train.log alone.
    """

    def __init__(self, report: Report, log: Path):
        log.parent.mkdir(parents=True, exist_ok=True)
        self.report, self.log = report, log
        self.bar = _bar() if sys.stderr.isatty() else None

    def line(self, text: str) -> None:
        """Print a line, above the bar."""
        self.write(text)
        if self.bar and self.bar.live.is_started:
            self.bar.console.print(text, markup=False, highlight=False)
        else:
            self.report(text)

    def row(self, text: str) -> None:
        """Print the numbers of an update that is logged; a bar shows them already."""
        (self.write if self.bar else self.line)(text)

    def update(self, done: int, nll: float) -> None:
        """Show that an update is done, with its NLL in nats per token."""
        if self.bar:
            self.bar.update(self.bar.task_ids[0], completed=done, nll=nll)

    def write(self, text: str) -> None:
        """Append a line to train.log."""
        with appending(self.log) as stream:
            stream.write(f"{text}\n")

    def start(self, name: str, done: int, updates: int) -> None:
        """Start to show updates."""
        if self.bar:
            self.bar.add_task(name, completed=done, total=updates, nll=float("nan"))
            self.bar.start()

    def stop(self) -> None:
        """Show no more updates; the bar stays as it is."""
        if self.bar:
            self.bar.stop()


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.0f} of {task.total:.0f} updates"),
        TextColumn("NLL {task.fields[nll]:.3f}"),
        TimeRemainingColumn(),
        console=Console(file=cast(IO[str], screen(sys.stderr))),
    )

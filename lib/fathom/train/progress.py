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

    operations: float  # per target token, of matrix products
    peak: float | None  # operations/s of all devices in the arithmetic in use; None: not known
    tokens: int = 0  # of the training up to the last logged update
    seconds: float = 0.0  # of the updates since then
    rate: float = 0.0  # target tokens/s

    def read(self, tokens: int) -> None:
        """End an interval at an update up to which the training has had `tokens`."""
        self.rate = (tokens - self.tokens) / self.seconds
        self.tokens, self.seconds = tokens, 0.0

    def numbers(self) -> dict[str, float | None]:
        """Return the columns of times.tsv."""
        share = self.rate * self.operations / self.peak if self.peak else None
        return {"tokens_per_second": self.rate, "share_of_peak": share}

    def __str__(self) -> str:
        share = self.numbers()["share_of_peak"]
        text = f"{self.rate:,.0f} target tokens/s"
        return text if share is None else f"{text} ({share:.0%} of the peak)"


class Reporter:
    """Prints the lines of a training, and appends them to train.log."""

    def __init__(self, report: Report, log: Path):
        log.parent.mkdir(parents=True, exist_ok=True)
        self.report, self.log = report, log

    def line(self, text: str) -> None:
        """Print a line."""
        self.write(text)
        self.report(text)

    def row(self, text: str) -> None:
        """Print the numbers of an update that is logged."""
        self.line(text)

    def update(self, done: int, nll: float) -> None:
        """Show that an update is done, with its NLL in nats per token."""

    def write(self, text: str) -> None:
        """Append a line to train.log."""
        with appending(self.log) as stream:
            stream.write(f"{text}\n")

    def start(self, name: str, done: int, updates: int) -> None:
        """Start to show updates."""

    def stop(self) -> None:
        """Show no more updates."""


class BarReporter(Reporter):
    """Shows updates in a bar; logged updates go to train.log alone."""

    def __init__(self, report: Report, log: Path):
        super().__init__(report, log)
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:.0f} of {task.total:.0f} updates"),
            TextColumn("NLL {task.fields[nll]:.3f}"),
            TimeRemainingColumn(),
            console=Console(file=cast(IO[str], screen(sys.stderr))),
        )

    def line(self, text: str) -> None:
        """Print a line above the bar."""
        if self.bar.live.is_started:
            self.write(text)
            self.bar.console.print(text, markup=False, highlight=False)
        else:
            super().line(text)

    def row(self, text: str) -> None:
        """Write the line to train.log; the bar shows its numbers."""
        self.write(text)

    def start(self, name: str, done: int, updates: int) -> None:
        """Show the bar."""
        self.bar.add_task(name, completed=done, total=updates, nll=float("nan"))
        self.bar.start()

    def update(self, done: int, nll: float) -> None:
        """Move the bar."""
        self.bar.update(self.bar.task_ids[0], completed=done, nll=nll)

    def stop(self) -> None:
        """Leave the bar as it is."""
        self.bar.stop()


def reporter(report: Report, log: Path) -> Reporter:
    """Return a reporter with a bar if standard error is a terminal, else one of plain lines."""
    return (BarReporter if sys.stderr.isatty() else Reporter)(report, log)

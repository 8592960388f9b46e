"""What verbs print: an answer as lines or JSON, rows, progress, and what to type next."""

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from fathom.config.switches import VARIABLE
from fathom.io.screen import say

_INDENT = "    "  # of what a terminal's width has cut off


def answer(as_json: bool, content: Any, lines: Iterable[str]) -> None:
    """Print an answer on standard output: as JSON, or its lines."""
    if as_json:
        print(json.dumps(content, indent=1, allow_nan=False))
    else:
        print_lines(lines)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines on standard output."""
    for line in lines:
        print(line)


def report(line: str) -> None:
    """Print a line of progress on standard error, if that still takes it."""
    say(line)


def report_of(what: str) -> Callable[[str], None]:
    """Return a `report` whose lines begin with what they are about: jobs run side by side."""
    return lambda line: say(f"{what}: {line}")


def suggest(command: str) -> None:
    """Print on standard error what a user may type next; the rules of a workflow know it."""
    if VARIABLE not in os.environ:
        say(f"next: {command}")


def print_columns(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows below their headings; a line that a terminal is too narrow for is wrapped."""
    rows = [headings, *rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
        print(wrapped("  ".join(cells).rstrip()))


def wrapped(line: str) -> str:
    """Return a line; on a terminal that is narrower, wrapped between words and indented."""
    if not sys.stdout.isatty():
        return line
    return textwrap.fill(
        line,
        shutil.get_terminal_size().columns,
        subsequent_indent=_INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )

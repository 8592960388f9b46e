"""Rows and lines of a verb's answer: on a terminal as wide as it is, else in full."""

import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence

_INDENT = "    "  # of what a terminal's width has cut off


def print_columns(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows below their headings.

    On a terminal long texts wrap inside their column. Elsewhere a line is a row, with tabs.

    Args:
        headings: one for each column.
        rows: as many texts each.
    """
    if not sys.stdout.isatty():
        for row in (headings, *rows):
            print("\t".join(row))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for heading in headings:
        grid.add_column(Text(heading), overflow="fold")
    for row in rows:
        grid.add_row(*map(Text, row))
    Console(highlight=False).print(grid)


def print_line(line: str) -> None:
    """Print a line; on a terminal that is narrower, wrapped between words and indented."""
    if sys.stdout.isatty():
        columns = shutil.get_terminal_size().columns
        line = textwrap.fill(
            line,
            columns,
            subsequent_indent=_INDENT,
            break_long_words=False,
            break_on_hyphens=False,
        )
    print(line)

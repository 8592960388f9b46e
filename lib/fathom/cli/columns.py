"""Rows of a verb's answer: aligned on a terminal, and with tabs for other programs."""

import sys
from collections.abc import Iterable, Sequence


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

"""A sheet as Markdown that also reads well in a terminal."""

import re
from collections.abc import Sequence

from fathom.tables.layout import Grid, Sheet, Shown

# A lower-than sign before a blank and an underscore within a word mean nothing in Markdown.
_SPECIAL = re.compile(r"[\\*`]|<(?=[A-Za-z/!])|(?<!\w)_|_(?!\w)")


def page(sheet: Sheet) -> str:
    """Return a sheet as Markdown, its columns aligned."""
    parts = [f"# {_text(sheet.title)}", _text(sheet.caption)]
    for grid in sheet.grids:
        if grid.heading:
            parts.append(f"## {_text(grid.heading)}")
        parts.append(table(grid))
        if grid.note:
            parts.append(_text(grid.note))
    parts.append("\n".join(f"- {_text(note)}" for note in sheet.notes))
    return "\n\n".join(part for part in parts if part) + "\n"


def table(grid: Grid) -> str:
    """Return a grid as a pipe table."""
    rows = [[_field(title) for title in grid.header], *(_texts(row) for row in grid.body)]
    if grid.footer:
        rows.append([f"*{text}*" if text else "" for text in _texts(grid.footer)])
    widths = [max(3, *(len(row[at]) for row in rows)) for at in range(len(grid.header))]
    rule = [
        "-" * width if at in grid.texts else "-" * (width - 1) + ":"
        for at, width in enumerate(widths)
    ]
    lines = [_padded(rows[0], widths, grid.texts), "| " + " | ".join(rule) + " |"]
    lines += [_padded(row, widths, grid.texts) for row in rows[1:]]
    return "\n".join(lines)


def _texts(row: Sequence[Shown]) -> list[str]:
    return [_field(each.whole) for each in row]


def _padded(row: Sequence[str], widths: Sequence[int], texts: frozenset[int]) -> str:
    fields = [
        text.ljust(width) if at in texts else text.rjust(width)
        for at, (text, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "| " + " | ".join(fields) + " |"


def _text(text: str) -> str:
    """Return text in which no character is Markdown's, for a paragraph."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def _field(text: str) -> str:
    """Return text for a field of a table, which a bar would end."""
    return _text(text).replace("|", r"\|")

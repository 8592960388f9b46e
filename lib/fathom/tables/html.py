"""A sheet as one HTML page that needs nothing else: no script, no font, no network."""

from collections.abc import Sequence
from html import escape

from fathom.tables.layout import Grid, Sheet, Shown

_STYLE = """
body { font: 14px/1.5 system-ui, sans-serif; color: #222; margin: 1.5rem; }
h1 { font-size: 1.25rem; margin: 0 0 .25rem; }
h2 { font-size: 1.05rem; margin: 1.25rem 0 .25rem; }
p { max-width: 60rem; margin: .25rem 0 .75rem; }
table { border-collapse: collapse; border-top: 2px solid #222; border-bottom: 2px solid #222; }
th { border-bottom: 1px solid #222; font-weight: 600; }
th, td { padding: .2rem .6rem; text-align: right; white-space: nowrap; }
th.text, td.text { text-align: left; }
td.words { text-align: center; font-style: italic; color: #555; }
tbody tr:nth-child(even) { background: #f5f5f3; }
tfoot td { border-top: 1px solid #222; color: #555; }
small { color: #555; }
ul { max-width: 60rem; padding-left: 1.2rem; color: #444; font-size: 13px; }
""".strip()


def page(sheet: Sheet) -> str:
    """Return a sheet as a page."""
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        f'<head><meta charset="utf-8"><title>{escape(sheet.title)}</title>',
        f"<style>\n{_STYLE}\n</style></head>",
        "<body>",
        f"<h1>{escape(sheet.title)}</h1>",
        f"<p>{escape(sheet.caption)}</p>",
    ]
    for grid in sheet.grids:
        if grid.heading:
            parts.append(f"<h2>{escape(grid.heading)}</h2>")
        parts += table(grid)
        if grid.note:
            parts.append(f"<p><small>{escape(grid.note)}</small></p>")
    parts += ["<ul>", *(f"<li>{escape(note)}</li>" for note in sheet.notes), "</ul>"]
    return "\n".join([*parts, "</body>", "</html>"]) + "\n"


def table(grid: Grid) -> list[str]:
    """Return a grid as the lines of an HTML table."""
    head = "".join(
        f'<th class="text">{escape(title)}</th>'
        if at in grid.texts
        else f"<th>{escape(title)}</th>"
        for at, title in enumerate(grid.header)
    )
    lines = ["<table>", f"<thead><tr>{head}</tr></thead>", "<tbody>"]
    lines += [_row(row, grid.texts) for row in grid.body]
    lines.append("</tbody>")
    if grid.footer:
        lines.append(f"<tfoot>{_row(grid.footer, grid.texts)}</tfoot>")
    return [*lines, "</table>"]


def _row(row: Sequence[Shown], texts: frozenset[int]) -> str:
    fields = []
    for at, each in enumerate(row):
        spread = f" <small>{escape(each.spread)}</small>" if each.spread else ""
        text = escape(each.text) + spread
        if each.span > 1:
            fields.append(f'<td class="words" colspan="{each.span}">{text}</td>')
        elif each.span == 1:
            fields.append(f'<td class="text">{text}</td>' if at in texts else f"<td>{text}</td>")
    return f"<tr>{''.join(fields)}</tr>"

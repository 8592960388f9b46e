"""A table's files: csv with every digit, and md, tex and html for reading; and the terminal."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path
from textwrap import wrap
from typing import Any
from unicodedata import normalize

from fathom.artefacts.rendering import environment, markdown_text, write_csv
from fathom.artefacts.table.comparison import AGAINST, ComparedTable
from fathom.artefacts.table.differences import numbers_by_seed
from fathom.artefacts.table.view import BlockView, CellView, RowView, TableView, our_text
from fathom.io.errors import brief
from fathom.io.files import write_text
from fathom.results.tree import SEEDS

# In text these are commands of LaTeX, or print other characters.
_TEX = {
    "\\": r"\textbackslash{}",
    **{character: f"\\{character}" for character in "{}$&#%_"},
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    **{character: f"${character}$" for character in "<>|"},
    # A bracket that begins a row is read as the line break's argument.
    "[": "{[}",
    "]": "{]}",
    "†": r"$^{\dagger}$",
    "‡": r"$^{\ddagger}$",
    "–": "--",
    "§": r"\S{}",
    "·": r"$\cdot$",
    "½": r"$\frac{1}{2}$",
    # Greek letters that LaTeX has as Latin ones alone.
    **{
        greek: rf"$\mathrm{{{latin}}}$"
        for greek, latin in zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧο", "ABEZHIKMNOPTXo", strict=True)
    },
}
# Latin letters of LaTeX's encoding T1, and what else pdfLaTeX prints as it is.
_LETTERS = "À-ÖØ-öø-ĥĨ-ķĹ-ľŁ-ňŊ-ťŨ-žȘ-ț"
_PRINTED = re.compile(rf"[\n -~¡-¿–—‘’“”„…‰‹›€™{_LETTERS}]")
AVERAGE, DECIMALS = "avg", 2
GAP = 2  # characters between two columns of the terminal


NUMBERS = (
    "block", "row", "column", "value", "stderr", "words", "note", "interval", "seeds", "sentences",
    "mark", "measurement", "metric", "run", "scale",
)  # fmt: skip
BY_SEED = ("block", "row", "column", "seed", "value", "measurement", "run")


def write(table: TableView, compared: ComparedTable, stem: Path) -> None:
    """Write a table in every format: files with the path `stem` and a suffix each."""
    lines, by_seed = numbers(compared), stem.with_name(f"{stem.name}{SEEDS}")
    write_csv(by_seed, BY_SEED, seed_numbers(compared))
    write_csv(stem.with_suffix(".csv"), [*dict.fromkeys(chain(NUMBERS, *lines))], lines)
    write_text(stem.with_suffix(".md"), markdown(table))
    write_text(stem.with_suffix(".tex"), tex(table))
    write_text(stem.with_suffix(".html"), html(table))


def numbers(compared: ComparedTable) -> list[dict[str, Any]]:
    """Return a line for each cell that has a value or words, with all digits."""
    rows = []
    for item in compared.cells:
        result, cell = item.result, item.result.cell
        if not result.shown:
            continue
        numbers = vars(cell) | vars(result) | {"mark": item.mark, "scale": compared.scale}
        numbers |= {"measurement": cell.key, "metric": "; ".join(result.how), "run": cell.source}
        row = {name: numbers[name] for name in NUMBERS}
        if compared.table.settings.against is not None or compared.table.settings.less:
            row |= {name: getattr(item.against, name, None) for name in AGAINST}
        rows.append(row)
    return rows


def seed_numbers(compared: ComparedTable) -> Iterator[dict[str, Any]]:
    """Yield a line for each seed of each cell that has a number, in the unit of the cell."""
    for cell in (item.result.cell for item in compared.cells):
        if cell.kind == "run" and not cell.less:
            line = {"measurement": cell.key, "run": cell.source}
            line |= {name: getattr(cell, name) for name in ("block", "row", "column")}
            for seed, value in numbers_by_seed(cell, compared.sources).items():
                yield line | {"seed": seed, "value": value}


def judged_numbers(compared: ComparedTable) -> Iterator[dict[str, Any]]:
    """Yield the lines of `numbers`, with the reported number and the verdict of each cell."""
    shown = (item for item in compared.cells if item.result.shown)
    for line, item in zip(numbers(compared), shown, strict=True):
        verdict = item.verdict and item.verdict.words
        yield line | {"reported": item.reported and item.reported.number, "verdict": verdict}


def html(table: TableView) -> str:
    """Return a table as a page that needs no script, font or network."""
    return environment(autoescape=True).get_template("table.html").render(table=table)


def markdown(table: TableView) -> str:
    """Return a table as Markdown that also reads well in a terminal."""
    templates = environment()
    templates.filters["grid"] = _markdown_grid
    return templates.get_template("table.md").render(table=table)


def tex(table: TableView) -> str:
    """Return a table as a LaTeX table environment, to be included by a document."""
    templates = environment(brackets="<>")
    templates.filters |= {"tex": _tex, "tex_cell": _tex_cell}
    text = templates.get_template("table.tex").render(table=table)
    if others := sorted({each for each in text if not _PRINTED.match(each)}):
        names = (each if each.isprintable() else f"U+{ord(each):04X}" for each in others)
        needs = "XeLaTeX or LuaLaTeX, and a font that has them"
        text = f"% pdfLaTeX has no {brief(' '.join(names))}: this table needs {needs}.\n{text}"
    return text


def terminal(block: BlockView, width: int) -> tuple[list[tuple[str, str]], bool]:
    """Return a block as lines of text with their kind, and whether ± had no room.

    Headings and words wrap between words, and numbers never. Words that neighbours share are
    printed over all of their columns. Columns that have no room follow below. The kind of the
    heading is "heading".
    """
    spreads = _total(_widths(block, width, True)) <= width
    widths = _widths(block, width, spreads)
    count = len(block.columns)
    if _total(widths) > width and count > 1:
        cuts = [_some_columns(block, 0, stop) for stop in range(count - 1, 0, -1)]
        fits = (cut for cut in cuts if _total(_widths(cut, width, spreads)) <= width)
        first = next(fits, cuts[-1])
        rest = _some_columns(block, len(first.columns), count)
        (above, first_narrow), (below, rest_narrow) = terminal(first, width), terminal(rest, width)
        return [*above, ("", "heading"), *below], first_narrow or rest_narrow
    heading = RowView("", "heading", tuple(map(CellView, block.columns)))
    lines = [(line, "heading") for line in _lines(heading, widths, spreads)]
    lines.append(("─" * _total(widths), "heading"))
    for row in block.rows:
        lines += [(line, row.kind) for line in _lines(row, widths, spreads)]
    return lines, not spreads


def average_lines(tables: Iterable[ComparedTable]) -> Iterator[str]:
    """Yield a line for each average that was reproduced: ours, the paper's and the verdict."""
    for table in tables:
        for item in table.cells:
            cell, reported = item.result.cell, item.reported
            if cell.column == AVERAGE and reported is not None and item.result.value is not None:
                ours = our_text(item.result, DECIMALS).full
                theirs = reported.value or reported.outcome
                verdict = item.verdict.words if item.verdict else ""
                name = f"{table.table.paper} {table.table.name}"
                yield f"{name}  {cell.id}: {ours}, paper {theirs}, {verdict}"


def _widths(block: BlockView, width: int, spreads: bool) -> list[int]:
    """Return the widths of the labels and of each column.

    Columns are as wide as their text where there is room; else headings and words wrap.
    """
    least, best = [], []
    for at, title in enumerate(block.columns):
        cells = [row.cells[at] for row in block.rows if row.cells[at].span == 1]
        texts = [title, *(cell.full if spreads else cell.text for cell in cells)]
        whole = [cell.full for cell in cells if spreads and cell.spread]
        words = [word for text in texts for word in text.split()]
        least.append(max(map(len, [*words, *whole]), default=1))
        best.append(max(map(len, texts)))
    for row in block.rows:
        for at, cell in enumerate(row.cells):
            if cell.span > 1:
                # The last column that shared words cover has the room that they lack.
                end, gaps = at + cell.span, GAP * (cell.span - 1)
                longest = max(map(len, cell.text.split()))
                least[end - 1] += max(0, longest - sum(least[at:end]) - gaps)
                best[end - 1] += max(0, len(cell.text) - sum(best[at:end]) - gaps)
    label = max((len(row.label) for row in block.rows), default=0)
    spare = width - _total([label, *least])
    while spare > 0 and least != best:
        for at, wide in enumerate(best):
            if least[at] < wide and spare > 0:
                least[at], spare = least[at] + 1, spare - 1
    return [label, *least]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _some_columns(block: BlockView, start: int, stop: int) -> BlockView:
    """Return a block with some of its columns; words are repeated that it shares with others."""
    rows = []
    for row in block.rows:
        cells: list[CellView] = []
        for at in range(start, stop):
            first = max(left for left in range(at + 1) if row.cells[left].span)
            span = min(first + row.cells[first].span, stop) - at
            begins = at in (first, start)
            cells.append(replace(row.cells[first], span=span) if begins else CellView(span=0))
        rows.append(RowView(row.label, row.kind, tuple(cells)))
    return BlockView(block.heading, block.columns[start:stop], tuple(rows))


def _lines(row: RowView, widths: Sequence[int], spreads: bool) -> Iterator[str]:
    """Yield the lines of a row: label and shared words to the left, other cells to the right."""
    columns, pads = [[row.label]], [f"<{widths[0]}"]
    for at, cell in enumerate(row.cells, start=1):
        if cell.span:
            room = sum(widths[at : at + cell.span]) + GAP * (cell.span - 1)
            columns.append(wrap(cell.full if spreads else cell.text, max(room, 1)))
            pads.append(f"<{room}" if cell.span > 1 else f">{room}")
    for texts in zip_longest(*columns, fillvalue=""):
        fields = (f"{text:{pad}}" for text, pad in zip(texts, pads, strict=True))
        yield (" " * GAP).join(fields).rstrip()


def _markdown_grid(block: BlockView) -> str:
    """Return a block as a Markdown table with aligned columns."""
    from tabulate import tabulate

    rows = []
    for row in block.rows:
        label = markdown_text(row.label)
        texts = ((markdown_text(cell.full), cell.bold) for cell in row.cells)
        cells = (f"**{text}**" if bold and text else text for text, bold in texts)
        rows.append([label if row.kind == "result" else f"*{label}*", *cells])
    header = ["", *map(markdown_text, block.columns)]
    alignment = ("left", *["right"] * len(block.columns))
    return tabulate(rows, header, "pipe", colalign=alignment, disable_numparse=True)


def _tex(text: str) -> str:
    """Return text on one line in which no character is a command of LaTeX.

    Symbols of LaTeX and amssymb are in math; what pdfLaTeX does not have stays.
    """
    return normalize("NFC", " ".join(text.split())).translate(_tex_codes())


@cache
def _tex_codes() -> dict[int, str]:
    """Return LaTeX for characters that pdfLaTeX does not print as they are."""
    # The library pylatexenc also gives commands that no package defines, such as allequal.
    from docutils.utils.math.unichar2tex import uni2tex_table

    # These are letters of text, or need an argument.
    other = re.compile(rf"[{_LETTERS}]|.\\(sqrt|\w+brace )")
    symbols = {
        code: f"${symbol.strip()}$"
        for code, symbol in uni2tex_table.items()
        if not other.match(f"{chr(code)}{symbol}")
    }
    return symbols | str.maketrans(_TEX)


def _tex_cell(cell: CellView) -> str:
    text = rf"\textbf{{{_tex(cell.full)}}}" if cell.bold else _tex(cell.full)
    return rf"\multicolumn{{{cell.span}}}{{c}}{{{text}}}" if cell.span > 1 else text

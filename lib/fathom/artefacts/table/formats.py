"""A table's files: csv with every digit, and md, tex and html for reading."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.artefacts.table.comparison import ComparedTable, write_csv
from fathom.artefacts.table.view import BlockView, CellView, TableView
from fathom.io.files import write_text

if TYPE_CHECKING:
    from jinja2 import Environment
    from pandas import DataFrame

_TEMPLATES = Path(__file__).parent / "templates"
# A lower-than sign before a blank, an underscore within a word, and a bracket that is no link mean
# nothing in Markdown.
_MARKDOWN = re.compile(r"[\\*`]|<(?=[A-Za-z/!])|(?<!\w)_|_(?!\w)|~(?=~)|\[(?=[^]]*][(\[:])")
# What begins a heading, a list, a quote or a line where it begins a paragraph.
_BEGIN = re.compile(r"^(?:(\d+)(?=[.)]\s)|(?=[-+#>=]))")
_TEX = {
    "\\": r"\textbackslash{}",
    **{character: f"\\{character}" for character in "{}$&#%_"},
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    # In text these print other characters.
    **{character: f"${character}$" for character in "<>|"},
    # A bracket that begins a row is read as the line break's argument.
    "[": "{[}",
    "]": "{]}",
    "±": r"$\pm$",
    "†": r"$^{\dagger}$",
    "‡": r"$^{\ddagger}$",
    "–": "--",
    "§": r"\S{}",
    "·": r"$\cdot$",
    "½": r"$\frac{1}{2}$",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    **{
        letter: rf"$\{name}$"
        for letter, name in {"α": "alpha", "β": "beta", "Σ": "Sigma", "Δ": "Delta"}.items()
    },
}


def write(table: TableView, frame: "DataFrame", stem: Path) -> None:
    """Write a table in every format.

    Args:
        table: the table as it reads.
        frame: its numbers, from `numbers`.
        stem: the files' common path, without a suffix.
    """
    write_csv(frame, stem.with_suffix(".csv"))
    write_text(stem.with_suffix(".md"), markdown(table))
    write_text(stem.with_suffix(".tex"), tex(table))
    write_text(stem.with_suffix(".html"), html(table.title, [table]))


def numbers(compared: ComparedTable) -> "DataFrame":
    """Return a line for each cell that has a value or words, with all digits."""
    from pandas import DataFrame

    columns = (
        "block", "row", "column", "value", "stderr", "words", "note", "interval", "seeds",
        "sentences", "mark", "measurement", "metric", "run", "scale",
    )  # fmt: skip
    records = [
        (
            own.cell.block,
            own.cell.row,
            own.cell.column,
            own.value,
            own.stderr,
            own.words,
            own.note,
            own.interval,
            own.seeds,
            own.sentences,
            item.mark,
            own.cell.key,
            "; ".join(own.how),
            own.cell.source,
            compared.scale,
        )
        for item, own in ((item, item.result) for item in compared.cells)
        if own.value is not None or own.words
    ]
    return DataFrame(records, columns=columns, dtype=object)


def html(title: str, tables: Sequence[TableView], intro: Iterable[str] = ()) -> str:
    """Return tables as one page that needs no script, font or network.

    Args:
        title: of the page; a table of the same title gets no heading of its own.
        tables: the tables.
        intro: paragraphs before the first table.
    """
    templates = environment(autoescape=True)
    return templates.get_template("page.html").render(title=title, tables=tables, intro=intro)


def markdown(table: TableView) -> str:
    """Return a table as Markdown that also reads well in a terminal."""
    templates = environment()
    templates.filters |= {"markdown": _markdown, "paragraph": _paragraph, "grid": grid}
    return templates.get_template("table.md").render(table=table)


def tex(table: TableView) -> str:
    """Return a table as a LaTeX table environment, to be included by a document."""
    templates = environment(brackets="<>")
    templates.filters |= {"tex": _tex, "tex_cell": _tex_cell}
    return templates.get_template("table.tex").render(table=table)


def grid(block: BlockView) -> str:
    """Return a block as a Markdown table with aligned columns."""
    from pandas import DataFrame

    rows = [
        [
            _markdown(row.label) if row.kind == "result" else f"*{_markdown(row.label)}*",
            *(_markdown_cell(cell) for cell in row.cells),
        ]
        for row in block.rows
    ]
    header = ["", *(_markdown(column) for column in block.columns)]
    alignment = ("left", *("right" for _ in block.columns))
    frame = DataFrame(rows, columns=header, dtype=object)
    return frame.to_markdown(index=False, colalign=alignment, disable_numparse=True)


def environment(
    folder: Path = _TEMPLATES, autoescape: bool = False, brackets: str = "{}"
) -> "Environment":
    """Return what renders templates.

    Args:
        folder: where they are.
        autoescape: whether every text is escaped for HTML.
        brackets: what begins and ends a template's own words.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    begin, end = brackets
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=autoescape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        block_start_string=begin + "%",
        block_end_string="%" + end,
        variable_start_string=begin * 2,
        variable_end_string=end * 2,
        comment_start_string=begin + "#",
        comment_end_string="#" + end,
    )


def _markdown(text: str) -> str:
    """Return text on one line in which no character is Markdown's; a bar would end a field."""
    return _MARKDOWN.sub(r"\\\g<0>", " ".join(text.split())).replace("|", r"\|")


def _paragraph(text: str) -> str:
    return _BEGIN.sub(r"\1\\", _markdown(text))


def _markdown_cell(cell: CellView) -> str:
    text = _markdown(cell.full)
    return f"**{text}**" if cell.bold and text else text


def _tex(text: str) -> str:
    """Return text on one line in which no character is a command of LaTeX."""
    return "".join(_TEX.get(character, character) for character in " ".join(text.split()))


def _tex_cell(cell: CellView) -> str:
    text = rf"\textbf{{{_tex(cell.full)}}}" if cell.bold else _tex(cell.full)
    return rf"\multicolumn{{{cell.span}}}{{c}}{{{text}}}" if cell.span > 1 else text

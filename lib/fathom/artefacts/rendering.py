"""How files of results are written: pages, tables and cards by templates, numbers as csv."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathom.io.files import write_text

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent / "templates"
# A lower-than sign before a blank, an underscore within a word, and a bracket that is not a link
# mean nothing in Markdown.
_MARKDOWN = re.compile(r"[\\*`]|<(?=[A-Za-z/!])|(?<!\w)_|_(?!\w)|~(?=~)|\[(?=[^]]*][(\[:])")
_TAG = re.compile(r"(?<!\\)<(?=[A-Za-z/!])")
# What begins a heading, a list, a quote or a line where it begins a paragraph.
_BEGIN = re.compile(r"^(?:(\d+)(?=[.)]\s)|(?=[-+#>=]))")


def markdown_text(text: str) -> str:
    """Return text on one line in which no character is Markdown's; a bar would end a field."""
    return _MARKDOWN.sub(r"\\\g<0>", " ".join(text.split())).replace("|", r"\|")


def paragraph(text: str) -> str:
    """Return text as a paragraph of Markdown in which no character is Markdown's."""
    return _BEGIN.sub(r"\1\\", markdown_text(text))


@cache
def environment(autoescape: bool = False, brackets: str = "{}") -> "Environment":
    """Return what renders templates; a name that a template does not get is an error.

    With `autoescape` every text is escaped for HTML; `brackets` begin and end a template's words.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    begin, end = brackets
    made = Environment(
        loader=FileSystemLoader(FOLDER),
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
    made.filters |= {
        "markdown": markdown_text,
        "paragraph": paragraph,
        # Markdown in which nothing is a tag of HTML.
        "tags": lambda text: _TAG.sub(r"\\\g<0>", text),
    }
    return made


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write numbers with all their digits; None is an empty field."""
    text = StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, text.getvalue())

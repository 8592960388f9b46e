"""How files of results are written: pages, tables and cards by templates, numbers as csv."""

import csv
import hashlib
import os
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from io import StringIO
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathom.io.commands import DRAWN, NAMES
from fathom.io.files import sha256, write_text
from fathom.io.records import write_record
from fathom.results.measurements import SCHEMA
from fathom.results.recipe import PACKAGE, commit
from fathom.results.verify import INPUTS

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


def without_tags(text: str) -> str:
    """Return Markdown in which nothing is a tag of HTML."""
    return _TAG.sub(r"\\\g<0>", text)


def _hash(script: str) -> str:
    """Return a script's hash as a page's policy names it."""
    return b64encode(hashlib.sha256(str(script).encode()).digest()).decode("ascii")


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
        "tags": without_tags,
        "hash": _hash,
    }
    return made


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write numbers with all their digits; None is an empty field."""
    text = StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, text.getvalue())


def write_drawn(
    stem: Path, files: Iterable[Path], inputs: Iterable[Path], names: Sequence[str] = ()
) -> None:
    """Write the record of what was drawn.

    Args:
        stem: the record's path without its suffix.
        files: what was written.
        inputs: the files of results that it was drawn from.
        names: what a user named, where the record's place does not say it.
    """
    record = stem.with_name(f"{stem.name}{DRAWN}")
    content: dict[str, Any] = {"schema": SCHEMA, "commit": commit(PACKAGE)}
    for key, paths in (("files", files), (INPUTS, inputs)):
        places = {Path(os.path.relpath(path, record.parent)).as_posix(): path for path in paths}
        content[key] = {name: sha256(places[name]) for name in sorted(places)}
    content |= {NAMES: names} if names else {}
    write_record(record, content)


def first_difference(old: Path, new: Path) -> str:
    """Return the first cell of a csv file, or the line of another text, that differs."""
    lines = (path.read_text("utf-8", "backslashreplace").split("\n") for path in (old, new))
    pairs = enumerate(zip_longest(*lines, fillvalue=""), start=1)
    number, (there, now) = next((n, pair) for n, pair in pairs if pair[0] != pair[1])
    if old.suffix == ".csv":
        heading = new.read_text(encoding="utf-8").split("\n")[0]
        columns, before, after = (next(csv.reader([line]), []) for line in (heading, there, now))
        for column, was, drawn in zip_longest(columns, before, after, fillvalue=""):
            if was != drawn:
                return f"line {number}, {column}: '{was}' here, but '{drawn}' is drawn now"
    return f"line {number} is not what is drawn now"

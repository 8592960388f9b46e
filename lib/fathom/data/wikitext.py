"""Wikitext to the paragraphs that a reader sees; mwparserfromhell parses it.

What is left out: templates, references, tables, galleries, formulas and source code, headings,
lines of lists, pictures and categories, comments. A link gives its words. Brackets in which nothing
is left, as around a pronunciation, go too.
"""

import re
from collections.abc import Collection, Iterator

import mwparserfromhell
from mwparserfromhell.nodes import ExternalLink, HTMLEntity, Node, Tag, Text, Wikilink
from mwparserfromhell.wikicode import Wikicode

from fathom.data.clean import tidy

# Tags that hold no running text.
_SILENT = frozenset(
    (
        "ce", "chem", "code", "gallery", "graph", "hiero", "imagemap", "indicator", "mapframe",
        "maplink", "math", "nowiki", "pre", "ref", "references", "score", "source",
        "syntaxhighlight", "table", "templatestyles", "timeline",
    )
)  # fmt: skip
# Comments and references are up to half of a page, and take as much of the parser's time.
_NOTES = re.compile(
    r"<!--.*?-->|<ref\b[^<>]*/>|<ref\b[^<>]*>.*?</ref\s*>", re.DOTALL | re.IGNORECASE
)
# A line of a list or an indented one: mwparserfromhell makes a tag of its first character.
_OF_LISTS = frozenset(("li", "dd", "dt", "hr"))
# No text has it, since XML cannot hold it.
_LIST = "\x00"
_STYLE = re.compile("'{2,}")
_BEHAVIOUR = re.compile(r"__[A-Z]+__")
# Also full-width brackets, with full-width and ideographic commas.
_EMPTY_BRACKETS = re.compile(
    "\\s*(?:\\([\\s,;:]*\\)|\uff08[\\s,;:\uff0c\uff1b\uff1a\u3001]*\uff09|\\[\\s*\\])"
)
_FILE = re.compile(
    r"\.(?:jpe?g|png|svg|gif|tiff?|webp|djvu|pdf|og[agv]|web[mp]|mp3|wav|flac|midi?)$", re.I
)
# A link to the same article of another wiki, which is shown nowhere in the text.
_OTHER_WIKI = re.compile(r"[a-z]{2,3}(?:-[a-z]+)*:")
_ALWAYS_SILENT = ("category", "file", "image", "media")


def paragraphs(text: str, silent: Collection[str] = ()) -> Iterator[str]:
    """Yield the paragraphs of a page, each on one line, composed and without stray white space.

    Args:
        text: its wikitext.
        silent: names of namespaces, in small letters, whose links have no words. English ones need
            not be among them.
    """
    # Quotes of bold and italic text need not be in pairs.
    code = mwparserfromhell.parse(_NOTES.sub("", text), skip_style_tags=True)
    for line in "".join(_shown(code, (*_ALWAYS_SILENT, *silent))).split("\n"):
        if _LIST in line:
            continue
        paragraph = _BEHAVIOUR.sub("", _STYLE.sub("", line))
        if paragraph := tidy(_EMPTY_BRACKETS.sub("", paragraph)):
            yield paragraph


def _shown(code: Wikicode | None, silent: Collection[str]) -> Iterator[str]:
    """Yield what a reader sees of some nodes; a line of a list has its mark."""
    for node in code.nodes if code is not None else ():
        yield from _of_node(node, silent)


def _of_node(node: Node, silent: Collection[str]) -> Iterator[str]:
    if isinstance(node, Text):
        yield node.value
    elif isinstance(node, HTMLEntity):
        yield node.normalize()
    elif isinstance(node, Wikilink):
        yield from _of_link(node, silent)
    elif isinstance(node, ExternalLink):
        # Without a title a reader sees a number, or the address alone.
        yield from _shown(node.title, silent)
    elif isinstance(node, Tag):
        tag = str(node.tag).strip().lower()
        if tag in _OF_LISTS and node.wiki_markup:
            yield _LIST
        elif tag == "br":
            yield " "
        elif tag not in _SILENT:
            yield from _shown(node.contents, silent)


def _of_link(link: Wikilink, silent: Collection[str]) -> Iterator[str]:
    """Yield the words of a link: its text, or else its title."""
    title = str(link.title).strip()
    namespace = title.partition(":")[0].strip().casefold()
    if namespace in silent or _FILE.search(title):
        return
    if link.text is not None:
        yield from _shown(link.text, silent)
    elif not _OTHER_WIKI.match(title):
        yield title.removeprefix(":")

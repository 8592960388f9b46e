"""Wikitext to the paragraphs that a reader sees; mwparserfromhell parses it.

What is left out: templates, references, tables, galleries, formulas and source code, headings,
lines of lists, pictures and categories, comments. A link gives its words. Brackets in which nothing
is left of what they had, as around a pronunciation, go too. Entities and <nowiki> give letters,
whatever they look like. Of a language with variants one is shown.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator
from html import unescape

import mwparserfromhell
from mwparserfromhell.nodes import ExternalLink, HTMLEntity, Node, Tag, Text, Wikilink
from mwparserfromhell.wikicode import Wikicode

from fathom.data.clean import tidy
from fathom.data.quotes import without_marks
from fathom.data.variants import one_variant
from fathom.data.wiki_codes import CODES

# Tags that hold no running text.
_SILENT = frozenset(
    (
        "ce", "chem", "code", "gallery", "graph", "hiero", "imagemap", "indicator", "mapframe",
        "maplink", "math", "pre", "ref", "references", "score", "source", "syntaxhighlight",
        "table", "templatestyles", "timeline",
    )
)  # fmt: skip
# Comments and references are up to half of a page, and take as much of the parser's time.
_NOTES = re.compile(
    r"<!--.*?-->|<nowiki\s*>.*?</nowiki\s*>|<ref\b[^<>]*/>|<ref\b[^<>]*>.*?</ref\s*>",
    re.DOTALL | re.IGNORECASE,
)
# A line of a list or an indented one: mwparserfromhell makes a tag of its first character.
_OF_LISTS = frozenset(("li", "dd", "dt", "hr"))
# Marks of our own: a line of a list, a place where other markup was, and what are letters though
# they look like markup. No text has them, since XML cannot hold them.
_LIST, _BREAK = "\x00", "\x06"
_LETTERS = dict(zip("'_{<&", "\x01\x02\x03\x04\x05", strict=True))
_AS_LETTERS = str.maketrans(_LETTERS)
_SHOWN = {ord(mark): letter for letter, mark in _LETTERS.items()}
_SWITCH = re.compile(r"__([^\s_]+(?:_[^\s_]+)*)__")
# Also full-width brackets, with full-width and ideographic commas.
_EMPTY_BRACKETS = re.compile(
    rf"(?<!\s)\s*(?:\((?:[\s,;:]*{_BREAK})+[\s,;:]*\)|\[(?:\s*{_BREAK})+\s*\]"
    rf"|\uff08(?:[\s,;:\uff0c\uff1b\uff1a\u3001]*{_BREAK})+[\s,;:\uff0c\uff1b\uff1a\u3001]*\uff09)"
)
_FILE = re.compile(
    r"\.(?:jpe?g|png|svg|gif|tiff?|webp|djvu|pdf|og[agv]|web[mp]|mp3|wav|flac|midi?)$", re.I
)
_ALWAYS_SILENT = frozenset(("category", "file", "image", "media")) | CODES


def paragraphs(text: str, silent: Collection[str] = ()) -> Iterator[str]:
    """Yield the paragraphs of a page, each on one line, composed and without stray white space.

    Args:
        text: its wikitext.
        silent: names of namespaces, in small letters, whose links have no words. English ones need
            not be among them.
    """
    # Quotes of bold and italic text need not be in pairs.
    code = mwparserfromhell.parse(_NOTES.sub(_without_note, text), skip_style_tags=True)
    for line in one_variant(_shown(code, _ALWAYS_SILENT.union(silent))).split("\n"):
        if _LIST in line:
            continue
        paragraph = _EMPTY_BRACKETS.sub("", _SWITCH.sub(_without_switch, without_marks(line)))
        if paragraph := tidy(paragraph.replace(_BREAK, "")):
            yield paragraph.translate(_SHOWN)


def _without_note(match: re.Match[str]) -> str:
    """Return nothing for a comment, a mark for a reference, and <nowiki> as it is."""
    start = match[0][:3].lower()
    return {"<!-": "", "<re": _BREAK}.get(start, match[0])


def _without_switch(match: re.Match[str]) -> str:
    """Return nothing for a switch such as __NOTOC__, in any language; __init__ is none."""
    letters = match[1].replace("_", "")
    is_word = all(unicodedata.category(letter)[0] in "LM" for letter in letters)
    return "" if is_word and letters == letters.upper() else match[0]


def _shown(code: Wikicode | None, silent: Collection[str]) -> str:
    """Return what a reader sees of some nodes, with our marks."""
    return _BREAK.join(_of_node(node, silent) for node in (code.nodes if code else ()))


def _of_node(node: Node, silent: Collection[str]) -> str:
    if isinstance(node, Text):
        return node.value
    if isinstance(node, HTMLEntity):
        # Also of what is no character, as half of a surrogate pair.
        return unescape(str(node)).translate(_AS_LETTERS)
    if isinstance(node, Wikilink):
        return _of_link(node, silent)
    if isinstance(node, ExternalLink):
        # Without a title a reader sees a number, or the address alone.
        return _shown(node.title, silent)
    return _of_tag(node, silent) if isinstance(node, Tag) else ""


def _of_tag(node: Tag, silent: Collection[str]) -> str:
    tag = str(node.tag).strip().lower()
    if tag in _OF_LISTS and node.wiki_markup:
        return _LIST
    if tag == "br":
        return " "
    if tag in _SILENT:
        return ""
    shown = _shown(node.contents, silent)
    return shown.translate(_AS_LETTERS) if tag == "nowiki" else shown


def _of_link(link: Wikilink, silent: Collection[str]) -> str:
    """Return the words of a link: its text, or else its title. Quotes are marks in a text alone."""
    title = _shown(link.title, silent).strip()
    namespace = title.partition(":")[0].strip().casefold()
    if namespace in silent or _FILE.search(title):
        return ""
    if link.text is None:
        return title.removeprefix(":").translate(_AS_LETTERS)
    return without_marks(_shown(link.text, silent)).replace("'", _LETTERS["'"])

"""The articles of a MediaWiki dump, `<wiki>-<date>-pages-articles.xml.bz2`, read as a stream.

An article is a page of the main namespace that is no redirect and holds wikitext. A page is dropped
for the first of: other_namespace, redirect, not_wikitext, empty. Only one page is in memory.
"""

import bz2
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple
from xml.etree import ElementTree

from fathom.data.members import REMEDY
from fathom.io.errors import FathomError

_MAIN = "0"
# Namespaces whose links show a picture or a category, and no words of the sentence.
_SILENT = ("-2", "6", "14")


class Article(NamedTuple):
    """A page's title and wikitext."""

    title: str
    text: str


@dataclass
class Dump:
    """A dump that is read.

    Attributes:
        path: its file.
        wiki: the wiki that it must be of, by the name that it gives itself, such as enwiki.
        silent: the names of the namespaces whose links have no words, in small letters; known when
            the first article is.
        dropped: pages by the reason why they are no article.
    """

    path: Path
    wiki: str
    silent: set[str] = field(default_factory=set)
    dropped: Counter[str] = field(default_factory=Counter)

    def articles(self) -> Iterator[Article]:
        """Yield the articles in the dump's order.

        Raises:
            FathomError: the file is not bz2 or breaks off, is no XML, no dump, or of another wiki.
        """
        try:
            with bz2.open(self.path) as stream:
                yield from self._read(stream)
        except (EOFError, ElementTree.ParseError, OSError) as error:
            # What is wrong with packed data has no number; what a disk refuses has.
            if isinstance(error, OSError) and error.errno is not None:
                raise
            what = f"not a readable dump ({error})"
            raise FathomError(what, self.path.name, REMEDY) from None

    def _read(self, stream: IO[bytes]) -> Iterator[Article]:
        events = ElementTree.iterparse(stream, events=("start", "end"))
        _, root = next(events)
        if _name(root) != "mediawiki":
            raise FathomError(f"<{_name(root)}> and no dump of a wiki", self.path.name, REMEDY)
        known = False
        for event, element in events:
            name = _name(element) if event == "end" else ""
            if name == "siteinfo":
                self._check(element)
                known = True
            if name == "page":
                if not known:
                    raise FathomError("a page before <siteinfo>", self.path.name, REMEDY)
                if article := self._article(element):
                    yield article
                # What was read stays below the root otherwise.
                root.clear()

    def _check(self, info: ElementTree.Element) -> None:
        """Compare the wiki, and remember the names of its namespaces."""
        wiki = _text(info, "dbname")
        if wiki != self.wiki:
            raise FathomError(f"a dump of '{wiki}', not of {self.wiki}", self.path.name, REMEDY)
        for namespace in info.iterfind("{*}namespaces/{*}namespace"):
            if namespace.get("key") in _SILENT:
                self.silent.add((namespace.text or "").casefold())

    def _article(self, page: ElementTree.Element) -> Article | None:
        """Return a page as an article, or count why it is none."""
        text = _text(page, "revision/{*}text")
        reasons = {
            "other_namespace": _text(page, "ns") != _MAIN,
            "redirect": page.find("{*}redirect") is not None,
            "not_wikitext": _text(page, "revision/{*}model", "wikitext") != "wikitext",
            "empty": not text.strip(),
        }
        for reason, applies in reasons.items():
            if applies:
                self.dropped[reason] += 1
                return None
        return Article(_text(page, "title"), text)


def _name(element: ElementTree.Element) -> str:
    """Return a tag without its namespace, which has the version of the form in it."""
    return element.tag.rpartition("}")[2]


def _text(element: ElementTree.Element, path: str, default: str = "") -> str:
    return element.findtext(f"{{*}}{path}", default) or ""

"""HTML pages inside packages, a package for each language, in which paragraphs have an id.

Paragraphs and headings are joined by page (without the folder of the language) and id; of several
with one id on a page the first counts. A page may hold a text for several systems in hidden spans,
of which a browser shows one. The default one counts; a paragraph without it is passed over.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import IO

from fathom.config.schema.dataset import PackageDataset, PackageLineDataset
from fathom.config.schema.package_reads import HtmlPages
from fathom.data.archives import visit
from fathom.data.members import text_of
from fathom.data.texts import Pair
from fathom.io.errors import FathomError

_PARAGRAPHS = frozenset(("p", "h1", "h2", "h3", "h4", "h5", "h6"))
_ENDING = ".html"

# The texts of a language's pages by page and id.
Texts = Mapping[tuple[str, str], str]


def page_pairs(
    source: str,
    files: Mapping[str, Path],
    dataset: PackageDataset | PackageLineDataset,
    how: HtmlPages,
    dropped: dict[str, Counter[str]],
) -> Iterator[tuple[str, Pair]]:
    """Yield the pairs of a source in the order of the English pages, each with its text's name.

    Args:
        source: the source's name.
        files: the file of each source.
        dataset: texts and codes; a code is the name of the language's folder in the package.
        how: which source has the English pages.
        dropped: where English paragraphs without a translation are counted, by text.

    Raises:
        FathomError: a package has no pages in a code, or one that is not UTF-8.
    """
    (code_of_english,) = dataset.codes(how.english, dataset.english)
    for text in dataset.texts:
        for code in dataset.codes(source, text):
            english = _texts(files[how.english], code_of_english)
            own = _texts(files[source], code)
            dropped[text]["no_translation"] += len(english.keys() - own.keys())
            yield from ((text, Pair(own[key], english[key])) for key in english if key in own)


# English is the other side of every language.
@lru_cache(maxsize=2)
def _texts(package: Path, code: str) -> Texts:
    """Return the texts of a package's pages in one language."""
    texts: dict[tuple[str, str], str] = {}

    def take(name: str, stream: IO[bytes]) -> None:
        _, _, page = f"/{name}".rpartition(f"/{code}/")
        reader = _Reader()
        reader.feed(text_of(stream.read(), f"{package.name}: {name}"))
        texts.update(((page, key), text) for key, text in reader.texts.items() if text.strip())

    def needed(name: str) -> bool:
        path = PurePosixPath(name)
        return path.suffix == _ENDING and code in path.parts

    visit(package, needed, take)
    if not texts:
        what = f"{package.name} has no pages in {code}"
        raise FathomError(what, package.name, "correct the codes")
    return texts


@dataclass
class _Span:
    """An open span: whether it is for one system, and which such spans are directly in it."""

    unseen: bool
    has_system: bool = False
    has_default: bool = False


class _Reader(HTMLParser):
    """The texts of a page's paragraphs and headings by their ids; the first of an id counts."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[str, str] = {}
        self._id = ""
        self._parts: list[str] = []
        self._spans: list[_Span] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = dict(attrs)
        if tag in _PARAGRAPHS:
            self._end_paragraph()
            self._id, self._parts = "" if self._unseen else of.get("id") or "", []
        elif tag == "br":
            self._parts.append(" ")
        elif tag == "span":
            # Hidden and with a class: the text for one system. The default one has no class.
            system = "hidden" in of and bool(of.get("class"))
            if self._spans and "hidden" in of:
                self._spans[-1].has_system |= system
                self._spans[-1].has_default |= not system
            self._spans.append(_Span(self._unseen or system))

    def handle_endtag(self, tag: str) -> None:
        if tag == "span" and self._spans:
            span = self._spans.pop()
            if span.has_system and not span.has_default:
                # A sentence with a gap is none.
                self._id = ""
        elif tag in _PARAGRAPHS:
            self._end_paragraph()

    def handle_data(self, data: str) -> None:
        if self._id and not self._unseen:
            self._parts.append(data)

    @property
    def _unseen(self) -> bool:
        """Whether the place is inside a text for one system."""
        return bool(self._spans) and self._spans[-1].unseen

    def _end_paragraph(self) -> None:
        """Keep the open paragraph, if there is one."""
        if self._id:
            self.texts.setdefault(self._id, "".join(self._parts))
        self._id = ""

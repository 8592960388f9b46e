"""Dumps of the shape in which Wikipedia publishes them, with invented pages."""

import bz2
from pathlib import Path
from xml.sax.saxutils import escape

from fathom.config.schema.dataset import WikipediaDataset
from tests.data.small_archives import dataset

NAMESPACES = {
    -2: "Medium",
    0: "",
    1: "Diskussion",
    6: "Datei",
    10: "Vorlage",
    14: "Kategorie",
}


def page(
    title: str, text: str, ns: int = 0, redirect: bool = False, model: str = "wikitext"
) -> str:
    """Return a page, each element on a line of its own."""
    to = '<redirect title="Elsewhere" />\n    ' if redirect else ""
    return f"""\
  <page>
    <title>{escape(title)}</title>
    <ns>{ns}</ns>
    <id>1</id>
    {to}<revision>
      <id>2</id>
      <contributor><username>Ann</username></contributor>
      <model>{model}</model>
      <format>text/x-wiki</format>
      <text bytes="{len(text)}" xml:space="preserve">{escape(text)}</text>
    </revision>
  </page>
"""


def xml(wiki: str, *pages: str) -> str:
    """Return a dump of a wiki, such as dewiki."""
    namespaces = "".join(
        f'      <namespace key="{key}" case="first-letter">{name}</namespace>\n'
        for key, name in NAMESPACES.items()
    )
    return f"""\
<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="de">
  <siteinfo>
    <sitename>Wikipedia</sitename>
    <dbname>{wiki}</dbname>
    <namespaces>
{namespaces}    </namespaces>
  </siteinfo>
{"".join(pages)}</mediawiki>
"""


def dump(folder: Path, wiki: str, *pages: str) -> Path:
    """Write a dump in two streams of bz2, as a multistream dump has more than one."""
    path = folder / f"{wiki}-20261101-pages-articles.xml.bz2"
    content = xml(wiki, *pages).encode()
    half = len(content) // 2
    path.write_bytes(bz2.compress(content[:half]) + bz2.compress(content[half:]))
    return path


def wikipedia_dataset(
    languages: list[str], train: dict[str, int | str] | None = None, **changes
) -> WikipediaDataset:
    """Return a data set of a dump for each language, with two sentences each held out."""
    value = {
        "title": "invented",
        "citation": "nowhere",
        "licence": "CC0-1.0",
        "format": "wikipedia",
        "tasks": languages,
        "sources": {language: {language: [f"{language}wiki"]} for language in languages},
        "cleaning": {"max_characters": 80},
        "split": {"by": "held_out", "salt": "s", "valid": 2, "test": 2, "train": train or {}},
        "max_shared": 0.2,
    }
    return dataset("articles", value | changes)

"""The articles of a dump: what counts as one, and every kind of file that is none."""

import bz2
import gzip
import tracemalloc

import pytest

from fathom.data.dumps import Article, Dump
from tests.data.small_dumps import dump, page, xml
from tests.support.refused import refused

HOUSE = page("Haus", "Ein Haus & <b>ein</b> Dach.")


def test_articles_come_in_the_dumps_order_with_their_wikitext(tmp_path):
    read = Dump(dump(tmp_path, "dewiki", HOUSE, page("Maus", "Eine Maus.")), "dewiki")
    assert list(read.articles()) == [
        Article("Haus", "Ein Haus & <b>ein</b> Dach."),
        Article("Maus", "Eine Maus."),
    ]
    assert read.silent == {"medium", "datei", "kategorie"}
    assert not read.dropped


def test_pages_that_are_no_articles_are_counted_by_reason(tmp_path):
    pages = (
        page("Vorlage:Kasten", "Ein Kasten.", ns=10),
        page("Diskussion:Haus", "Stimmt das?", ns=1, redirect=True),
        page("Heim", "#REDIRECT [[Haus]]", redirect=True),
        page("Daten", "{}", model="json"),
        page("Leer", " \n"),
        HOUSE,
    )
    read = Dump(dump(tmp_path, "dewiki", *pages), "dewiki")
    assert [article.title for article in read.articles()] == ["Haus"]
    assert read.dropped == {"other_namespace": 2, "redirect": 1, "not_wikitext": 1, "empty": 1}


def test_a_dump_without_lines_of_its_own_is_read_too(tmp_path):
    path = tmp_path / "dewiki.xml.bz2"
    text = xml("dewiki", HOUSE)
    path.write_bytes(bz2.compress("".join(line.strip() for line in text.split("\n")).encode()))
    assert len(list(Dump(path, "dewiki").articles())) == 1


def test_a_page_leaves_memory_before_the_next_is_read(tmp_path):
    """Twenty pages of 100 kB are 2 MB."""
    pages = [page(f"Seite {n}", f"{n} {'Satz. ' * 17_000}") for n in range(20)]
    path = dump(tmp_path, "dewiki", *pages)
    tracemalloc.start()
    try:
        assert sum(1 for _ in Dump(path, "dewiki").articles()) == 20
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


BAD = {
    "truncated": lambda text: cut(bz2.compress(text * 50)),
    "not packed": lambda text: text,
    "packed otherwise": gzip.compress,
    "an error page": lambda _: b"<html><p>Not here</p></html>",
    "damaged": lambda text: bz2.compress(text)[:20] + b"\0\0" + bz2.compress(text)[22:],
    "no XML": lambda _: bz2.compress(b"Just text."),
    "an empty file": lambda _: b"",
    "XML that breaks off": lambda text: bz2.compress(cut(text)),
    "not UTF-8": lambda text: bz2.compress(text.replace(b"Ein", b"\xff\xfe")),
}


@pytest.mark.parametrize("make", BAD.values(), ids=BAD)
def test_a_file_that_is_no_whole_dump_is_one_refusal(tmp_path, make):
    path = tmp_path / "dewiki.xml.bz2"
    path.write_bytes(make(xml("dewiki", HOUSE).encode()))
    with refused("no dump", where="dewiki.xml.bz2"):
        list(Dump(path, "dewiki").articles())


def test_xml_that_is_no_dump_is_refused_by_its_first_element(tmp_path):
    path = tmp_path / "dewiki.xml.bz2"
    path.write_bytes(bz2.compress(b"<html><p>Not here</p></html>"))
    with refused("other XML", "html", where="dewiki.xml.bz2"):
        list(Dump(path, "dewiki").articles())


def test_the_dump_of_another_wiki_is_refused_by_its_own_name(tmp_path):
    path = dump(tmp_path, "dewiki", HOUSE)
    with refused("other wiki", "dewiki", "frwiki", where=path.name):
        list(Dump(path, "frwiki").articles())


def test_a_page_before_the_wikis_name_is_refused(tmp_path):
    path = tmp_path / "dewiki.xml.bz2"
    start, _, rest = xml("dewiki", HOUSE).partition("  <siteinfo>")
    path.write_bytes(bz2.compress((start + rest[rest.index("  <page>") :]).encode()))
    with refused("page before name", where=path.name):
        list(Dump(path, "dewiki").articles())


def test_what_the_disk_refuses_is_no_fault_of_the_dump(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(Dump(tmp_path / "missing.xml.bz2", "dewiki").articles())

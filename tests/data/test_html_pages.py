from collections import Counter, defaultdict

import pytest

from fathom.data.html_pages import page_pairs
from fathom.data.readers.packages import read as read_packages
from tests.data.small_archives import debian_of, help_pages, packages_dataset
from tests.support.refused import refused

CODES = {"help_eng": {"eng": ["en-US"]}, "help_fra": {"it": ["fr"]}}
READS = {name: {"kind": "html", "english": "help_eng"} for name in CODES}


@pytest.fixture
def read(tmp_path):
    """A function that reads two packages of pages and returns their pairs, and what was dropped."""

    def run(english, french):
        files = {
            "help_eng": help_pages(tmp_path / "en.deb", "en-US", english),
            "help_fra": help_pages(tmp_path / "fr.deb", "fr", french),
        }
        dataset = packages_dataset(CODES, ["it"], READS)
        dropped = defaultdict(Counter)
        pairs = page_pairs("help_fra", files, dataset, dataset.reads["help_fra"], dropped)
        return [tuple(pair) for _, pair in pairs], dropped["it"]

    return run


def test_paragraphs_and_headings_are_joined_by_page_and_id(read):
    english = {
        "a.html": '<h1 id="h1">Menu</h1><p id="p1">Open a file.</p><p id="p2">Close it.</p>',
        "b/a.html": '<p id="p1">Another page</p>',
    }
    french = {
        "b/a.html": '<p id="p1">Une autre page</p>',
        "a.html": '<p id="p2">Fermez-le.</p><h1 id="h1">Menu</h1><p id="p9">Nouveau</p>',
    }
    pairs, dropped = read(english, french)
    assert pairs == [
        ("Menu", "Menu"),
        ("Fermez-le.", "Close it."),
        ("Une autre page", "Another page"),
    ]
    assert dropped == {"no_translation": 1}


def test_marks_inside_a_paragraph_and_entities_are_read_as_text(read):
    body = '<p id="p">{} <span class="emph">{}</span> &amp;<br>{}<img src="x"></p>'
    pairs, _ = read({"a.html": body.format(*"abc")}, {"a.html": body.format(*"xyz")})
    assert pairs == [("x y & z", "a b & c")]


def test_of_a_text_for_several_systems_the_default_one_counts(read):
    body = (
        '<p id="p">{} <span class="switch"><span hidden="true" class="MAC"><span>Command</span>'
        '</span><span hidden="true" id="default"><span>Ctrl</span></span></span>+N</p>'
    )
    pairs, _ = read({"a.html": body.format("Press")}, {"a.html": body.format("Appuyez sur")})
    assert pairs == [("Appuyez sur Ctrl+N", "Press Ctrl+N")]


def test_paragraphs_for_one_system_are_passed_over_and_those_without_a_default_text(read):
    body = (
        '<span><span hidden="true" class="MAC"><p id="a">{}</p></span>'
        '<span hidden="true" id="default"><p id="a">{}</p></span></span>'
        '<p id="b">The path <span><span hidden="true" class="WIN">C</span></span>.</p>'
        '<p id="c">{}</p>'
    )
    pairs, _ = read({"a.html": body.format(*"def")}, {"a.html": body.format(*"xyz")})
    assert pairs == [("y", "e"), ("z", "f")]


def test_a_paragraph_ends_where_the_next_one_begins(read):
    body = '<p id="a">{}<p id="b">{}'
    pairs, _ = read({"a.html": body.format("a", "b") + "</p>"}, {"a.html": body.format(*"xy")})
    assert pairs == [("x", "a")]


def test_what_has_no_id_and_what_is_no_paragraph_is_passed_over(read):
    body = '<p>{}</p><div id="d">{}</div><pre id="c">{}</pre><p id="e"> </p><p id="p">{}</p>end'
    pairs, dropped = read({"a.html": body.format(*"abcd")}, {"a.html": body.format(*"vwxy")})
    assert pairs == [("y", "d")]
    assert dropped == {"no_translation": 0}


def test_the_first_paragraph_of_an_id_counts(read):
    body = '<p id="p">{}</p><p id="p">{}</p>'
    pairs, _ = read({"a.html": body.format("a", "b")}, {"a.html": body.format("x", "y")})
    assert pairs == [("x", "a")]


def test_a_package_without_the_language_is_named(read, tmp_path):
    with refused("no pages", "fr.deb", "fr"):
        read({"a.html": '<p id="p">a</p>'}, {"notes.txt": "text"})


def test_slovak_pages_that_are_a_link_to_the_czech_ones_are_refused(tmp_path):
    """So is Debian's Slovak help of LibreOffice."""
    page = b'<p id="p">a</p>'
    link = {"./usr/share/help/sk": "cs"}
    files = {
        "help_eng": help_pages(tmp_path / "en.deb", "en-US", {"a.html": page}),
        "help_slk": debian_of(tmp_path / "sk.deb", {"./usr/share/help/cs/a.html": page}, link),
    }
    codes = {"help_eng": {"eng": ["en-US"]}, "help_slk": {"slk": ["sk"]}}
    how = {"kind": "html", "english": "help_eng"}
    dataset = packages_dataset(codes, ["slk"], dict.fromkeys(codes, how))
    with refused("no pages", "sk.deb", "sk"):
        read_packages(files, dataset)


def test_a_page_that_is_not_utf_8_is_named(read):
    with refused("not UTF-8", where="fr.deb: ./usr/share/help/fr/text/a.html"):
        read({"a.html": '<p id="p">a</p>'}, {"a.html": b'<p id="p">\xff</p>'})


def test_pages_of_help_are_a_text_like_any_other(tmp_path):
    english = {"a.html": "".join(f'<p id="p{i}">Open file number {i}</p>' for i in range(40))}
    french = {"a.html": "".join(f'<p id="p{i}">Ouvrez le fichier {i}</p>' for i in range(40))}
    files = {
        "help_eng": help_pages(tmp_path / "en.deb", "en-US", english),
        "help_fra": help_pages(tmp_path / "fr.deb", "fr", french),
    }
    texts = read_packages(files, packages_dataset(CODES, ["it"], READS))
    assert texts["it"].read == 40
    assert sum(len(rows) for rows in texts["it"].splits.values()) == 40

from collections import Counter, defaultdict

import pytest

from fathom.data.language_packs import pack_pairs
from tests.data.small_archives import debian_of, language_pack, packages_dataset
from tests.support.refused import refused

CODES = {"firefox_eng": {"eng": ["en-CA"]}, "firefox_fra": {"talk": ["fr"]}}
READS = {name: {"kind": "fluent", "english": "firefox_eng"} for name in CODES}


@pytest.fixture
def read(tmp_path):
    """A function that reads two packs and returns their pairs, and what was dropped."""

    def run(english, french):
        files = {
            "firefox_eng": language_pack(tmp_path / "en.deb", "en-CA", english),
            "firefox_fra": language_pack(tmp_path / "fr.deb", "fr", french),
        }
        dataset = packages_dataset(CODES, ["talk"], READS)
        dropped = defaultdict(Counter)
        how = dataset.reads["firefox_fra"]
        pairs = pack_pairs("firefox_fra", files, dataset, how, dropped)
        return [tuple(pair) for _, pair in pairs], dropped["talk"]

    return run


def test_messages_are_joined_by_file_message_and_attribute(read):
    english = "open = Open\nclose = Close\nbox =\n    .label = A box\n    .tooltip = Many\n"
    french = "close = Fermer\nbox =\n    .label = Une boîte\nnew = Nouveau\n"
    pairs, dropped = read({"menu.ftl": english, "b/menu.ftl": "open = Up"}, {"menu.ftl": french})
    assert pairs == [("Fermer", "Close"), ("Une boîte", "A box")]
    assert dropped == {"no_translation": 3}


def test_keys_of_a_keyboard_and_sizes_are_no_text(read):
    text = "a =\n    .label = {}\n    .accesskey = {}\n    .style = width: {}\n"
    pairs, _ = read({"m.ftl": text.format(*"xyz")}, {"m.ftl": text.format(*"uvw")})
    assert pairs == [("u", "x")]


def test_terms_and_comments_are_no_messages(read):
    text = "# A comment\n-brand = {}\nquit = {} now\n"
    pairs, _ = read({"m.ftl": text.format("A", "Quit")}, {"m.ftl": text.format("B", "Sortir")})
    assert pairs == [("Sortir now", "Quit now")]


def test_what_is_inserted_is_a_placeholder_and_the_default_variant_counts(read):
    english = (
        'greet = Hello { $name }\nspaced = { " " }in\n'
        "many = { $n ->\n    [one] a page\n   *[other] pages\n }\n"
    )
    french = english.replace("pages", "feuilles").replace("Hello", "Salut").replace("in", "dans")
    pairs, _ = read({"m.ftl": english}, {"m.ftl": french})
    assert pairs == [("Salut {x}", "Hello {x}"), (" dans", " in"), ("feuilles", "pages")]


def test_properties_have_comments_continued_lines_and_escapes(read):
    english = "# no = text\n! neither = this\nsave = Save\nlong : A long \\\n    line\nq=What?\n"
    french = (
        "save = Enregistr\\u00e9\nlong : Une \\\n    longue ligne\nq=Quoi\\: ?\nsave.accesskey=E"
    )
    pairs, _ = read({"m.properties": english}, {"m.properties": french})
    assert pairs == [
        ("Enregistré", "Save"),
        ("Une longue ligne", "A long line"),
        ("Quoi: ?", "What?"),
    ]


def test_a_package_without_the_language_is_named(read, tmp_path):
    with refused("no messages", "fr.deb", "fr"):
        read({"m.ftl": "a = b"}, {})
    files = {name: debian_of(tmp_path / f"{name}.deb", {"./a": b"b"}) for name in CODES}
    dataset = packages_dataset(CODES, ["talk"], READS)
    with refused("no messages", "firefox_eng.deb", "en-CA"):
        next(pack_pairs("firefox_fra", files, dataset, dataset.reads["firefox_fra"], {}))


def test_text_that_is_not_utf_8_is_named(read, tmp_path):
    with refused("not decoded", where="fr.deb: localization/fr/m.properties"):
        read({"m.properties": "a = b"}, {"m.properties": b"a = \xff"})

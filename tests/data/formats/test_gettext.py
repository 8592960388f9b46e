import pytest

from fathom.data.readers.gettext import read
from fathom.data.texts import Pair
from fathom.io.errors import FathomError
from tests.data.small_archives import catalogue, message, messages_dataset, plural, wheel
from tests.support.refused import refused, says

CZECH = "nplurals=4; plural=(n == 1 && n % 1 == 0) ? 0 : (n >= 2 && n <= 4 && n % 1 == 0) ? 1: 3;"
BOSNIAN = "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 ? 1 : 2);"
FRENCH = "nplurals=2; plural=(n > 1);"
KOREAN = "nplurals=1; plural=0"


def pairs(text):
    """Return all pairs of a task's text, sorted by pivot."""
    every = [pair for split in text.splits.values() for pair in split]
    return sorted(every, key=lambda pair: pair.pivot)


@pytest.fixture
def read_one(tmp_path):
    """A function that reads one French catalogue and returns its task's text."""

    def run(content, **changes):
        dataset = messages_dataset({"app": {"fra": ["fr"]}}, ["fra"], **changes)
        path = wheel(tmp_path / "app-1-py3-none-any.whl", {"fr": content})
        text = read({"app": path}, dataset)["fra"]
        assert text.read == sum(text.dropped.values()) + len(pairs(text))
        return text

    return run


def test_messages_become_pairs_and_each_rule_counts_what_it_drops(read_one):
    content = catalogue(
        message("Save", "Enregistrer"),
        message("Save", "Sauver", before='msgctxt "a game"'),
        message("Not sure", "Pas sûr", before="#, fuzzy"),
        message("Open", ""),
        message("Hello %(name)s", "Bonjour %(name)s"),
        message("Hello %s", "Bonjour"),
        message("URL", "URL"),
        message("…", "..."),
        message("w" * 101, "mot"),
        message("A sentence of some length", "Mot"),
        message("Fish &amp; <b>chips</b>", "Poisson et\u2028frites"),
        '\n#~ msgid "Gone"\n#~ msgstr "Parti"\n',
    )
    text = read_one(content)
    assert pairs(text) == [
        Pair("Poisson et frites", "Fish & chips"),
        Pair("Enregistrer", "Save"),
    ]
    assert text.dropped == {
        "fuzzy": 1,
        "no_translation": 1,
        "placeholders": 1,
        "placeholders_differ": 1,
        "untranslated": 1,
        "no_letter": 1,
        "too_long": 1,
        "unequal_length": 1,
        "obsolete": 1,
        "duplicate": 1,
    }


@pytest.mark.parametrize(
    ("plurals", "forms", "one", "many"),
    [
        (KOREAN, ["f0"], "f0", "f0"),
        (FRENCH, ["f0", "f1"], "f0", "f1"),
        (BOSNIAN, ["f0", "f1", "f2"], "f0", "f2"),
        (CZECH, ["f0", "f1", "f2", "f3"], "f0", "f3"),
        # More forms than the header announces, and no header at all.
        (FRENCH, ["f0", "f1", "f2"], "f0", "f1"),
        ("", ["f0", "f1"], "f0", "f1"),
    ],
)
def test_the_forms_for_one_and_for_five_are_taken(read_one, plurals, forms, one, many):
    text = read_one(catalogue(plural("a page", "pages", *forms), plurals=plurals))
    assert pairs(text) == [Pair(one, "a page"), Pair(many, "pages")]


def test_a_form_that_the_header_announces_and_the_message_lacks_gives_no_pair(read_one):
    text = read_one(catalogue(plural("a page", "pages", "f0", "f1"), plurals=CZECH))
    assert pairs(text) == [Pair("f0", "a page")]


def test_a_plural_without_any_translation_counts_once(read_one):
    text = read_one(catalogue(plural("a page", "pages", "", ""), plurals=FRENCH))
    assert (pairs(text), text.dropped["no_translation"]) == ([], 1)


def test_equal_forms_give_two_pairs_or_the_plurals_alone(read_one):
    content = catalogue(plural("a page", "pages", "f0"), plurals=KOREAN)
    rules = {"max_characters": 100, "max_ratio": 4.0, "min_ratio": 0.2, "ratio_from": 20}
    both = read_one(content, cleaning=rules | {"equal_plurals": "both"})
    assert pairs(both) == [Pair("f0", "a page"), Pair("f0", "pages")]
    alone = read_one(content, cleaning=rules | {"equal_plurals": "plural"})
    assert pairs(alone) == [Pair("f0", "pages")]


def test_a_catalogue_is_decoded_as_its_header_says(read_one):
    content = catalogue(message("Summer", "Été"), charset="ISO-8859-1")
    assert b"\xc9t\xe9" in content
    assert pairs(read_one(content)) == [Pair("Été", "Summer")]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (catalogue(message("Summer", "Été")).replace(b"\xc3\xa9", b"\xe9"), says("not decoded")),
        (catalogue().replace(b"UTF-8", b"no-such-code"), says("not decoded")),
        (b'msgid "a"\nnonsense\n', says("no catalogue")),
        (catalogue(plurals="nplurals=2; plural=import os;"), says("no catalogue")),
    ],
)
def test_a_broken_catalogue_is_named_with_its_wheel(read_one, content, what):
    with pytest.raises(FathomError) as caught:
        read_one(content)
    what.check(caught.value)
    assert caught.value.where == "app-1-py3-none-any.whl: app/locale/fr/LC_MESSAGES/django.po"


def test_duplicates_are_found_across_wheels_and_codes(tmp_path):
    sources = {"one": {"kor": ["ko", "ko_KR"]}, "two": {"kor": ["ko"], "fra": ["fr"]}}
    dataset = messages_dataset(sources, ["fra", "kor"])
    files = {
        "one": wheel(
            tmp_path / "one.whl",
            {
                "ko": catalogue(message("Save", "하나"), message("Open", "열기")),
                "ko_KR": catalogue(message("save", "둘")),
                "fr": catalogue(message("Not", "asked for")),
            },
        ),
        "two": wheel(
            tmp_path / "two.whl",
            {
                "ko": catalogue(message("Save", "하나")),
                "fr": catalogue(message("Save", "Enregistrer")),
            },
        ),
    }
    texts = read(files, dataset)
    assert pairs(texts["kor"]) == [Pair("열기", "Open"), Pair("하나", "Save")]
    assert pairs(texts["fra"]) == [Pair("Enregistrer", "Save")]
    assert texts["kor"].dropped == {"duplicate": 2}


def test_a_code_without_messages_is_an_error(tmp_path):
    dataset = messages_dataset({"app": {"fra": ["fr", "fr_XX"]}}, ["fra"])
    path = wheel(tmp_path / "app.whl", {"fr": catalogue(message("Save", "Enregistrer"))})
    with refused("no messages", "app.whl", "fr_XX") as caught:
        read({"app": path}, dataset)
    assert caught.value.where == "config/datasets/invented.yaml: sources.app"

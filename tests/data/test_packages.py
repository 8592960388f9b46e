"""Texts inside packages: catalogues as text and compiled, JSON, verses; in pairs and alone."""

import json
from collections import Counter
from struct import pack

import pytest
import yaml

from fathom.data.catalogues import Message, parsed
from fathom.data.readers.packages import raw_pairs, read
from fathom.data.split import Line, Pair
from fathom.io.errors import FathomError
from tests.data.small_archives import (
    ALONE,
    DEFAULTS,
    bible,
    catalogue,
    compiled,
    dataset,
    french_dataset,
    message,
    plural,
    wheel,
    zip_of,
)
from tests.support.refused import refused

CZECH = "nplurals=4; plural=(n == 1 && n % 1 == 0) ? 0 : (n >= 2 && n <= 4 && n % 1 == 0) ? 1: 3;"
BOSNIAN = "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 ? 1 : 2);"
FRENCH = "nplurals=2; plural=(n > 1);"
KOREAN = "nplurals=1; plural=0"


def sentences(text):
    """Return all pairs or lines of a task's text, sorted by their last side."""
    every = [sentence for rows in text.splits.values() for sentence in rows]
    return sorted(every, key=lambda sentence: sentence[-1])


@pytest.fixture
def read_one(tmp_path):
    """A function that reads one French catalogue and returns its task's text."""

    def run(content, equal_plurals="both"):
        rules = DEFAULTS["packages"]["cleaning"] | {"equal_plurals": equal_plurals}
        card = french_dataset({"app": {"fra": ["fr"]}}, ["fra"], {}, cleaning=rules)
        path = wheel(tmp_path / "app-1-py3-none-any.whl", {"fr": content})
        text = read({"app": path}, card)["fra"]
        assert text.read == text.dropped.total() + len(sentences(text))
        return text

    return run


@pytest.fixture
def raw(tmp_path):
    """A function that returns the raw pairs of one package, and what was dropped."""

    def run(contents, how, codes, tasks=("it",)):
        encoded = {
            name: content if isinstance(content, bytes) else json.dumps(content).encode()
            for name, content in contents.items()
        }
        card = french_dataset({"app": codes}, [*tasks], {"app": how})
        dropped = {task: Counter() for task in tasks}
        path = zip_of(tmp_path / "app.whl", encoded)
        pairs = [pair for _, pair in raw_pairs({"app": path}, card, dropped)]
        return pairs, +dropped[tasks[0]]

    return run


# Catalogues


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
    assert sentences(text) == [
        Pair("Poisson et frites", "Fish & chips"),
        Pair("Enregistrer", "Save"),
    ]
    rules = ("fuzzy", "no_translation", "placeholders", "placeholders_differ", "untranslated")
    rules += ("no_letter", "too_long", "unequal_length", "obsolete", "duplicate")
    assert text.dropped == dict.fromkeys(rules, 1)


@pytest.mark.parametrize(
    ("plurals", "forms", "expected"),
    [
        (KOREAN, ["f0"], ["f0", "f0"]),
        (FRENCH, ["f0", "f1"], ["f0", "f1"]),
        (BOSNIAN, ["f0", "f1", "f2"], ["f0", "f2"]),
        (CZECH, ["f0", "f1", "f2", "f3"], ["f0", "f3"]),
        # More forms than the header announces, no header at all, and a form that is not there.
        (FRENCH, ["f0", "f1", "f2"], ["f0", "f1"]),
        ("", ["f0", "f1"], ["f0", "f1"]),
        (CZECH, ["f0", "f1"], ["f0"]),
        (FRENCH, ["", ""], []),
    ],
)
def test_the_forms_for_one_and_for_five_are_taken(read_one, plurals, forms, expected):
    content = catalogue(plural("a page", "pages", *forms), plurals=plurals)
    text = read_one(content)
    assert [pair.text for pair in sentences(text)] == expected
    assert text.dropped["no_translation"] == (not expected)
    # Two equal forms give two pairs, or the plural's alone.
    if plurals == KOREAN:
        assert sentences(read_one(content, "plural")) == [Pair("f0", "pages")]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (catalogue(message("Summer", "Été"), charset="ISO-8859-1"), None),
        (catalogue(message("Summer", "Été")).replace(b"\xc3\xa9", b"\xe9"), "cannot be decoded"),
        (catalogue().replace(b"UTF-8", b"no-such-code"), "cannot be decoded"),
        (b'msgid "a"\nnonsense\n', "not a message catalogue"),
        (catalogue(plurals="nplurals=2; plural=import os;"), "not a message catalogue"),
    ],
)
def test_a_catalogue_is_decoded_as_its_header_says_or_named_with_its_wheel(
    read_one, content, words
):
    if words is None:
        assert sentences(read_one(content)) == [Pair("Été", "Summer")]
        return
    where = "app-1-py3-none-any.whl: app/locale/fr/LC_MESSAGES/django.po"
    with refused(words, where=where):
        read_one(content)


def test_duplicates_are_found_across_wheels_and_codes(tmp_path):
    sources = {"one": {"kor": ["ko", "ko_KR"]}, "two": {"kor": ["ko"], "fra": ["fr"]}}
    korean = catalogue(message("Save", "하나"), message("Open", "열기"))
    french = catalogue(message("Save", "Enregistrer"))
    one = {"ko": korean, "ko_KR": catalogue(message("save", "둘")), "fr": french}
    two = {"ko": catalogue(message("Save", "하나")), "fr": french}
    files = {"one": wheel(tmp_path / "one.whl", one), "two": wheel(tmp_path / "two.whl", two)}
    texts = read(files, french_dataset(sources, ["fra", "kor"], {}, languages={}))
    assert sentences(texts["kor"]) == [Pair("열기", "Open"), Pair("하나", "Save")]
    assert sentences(texts["fra"]) == [Pair("Enregistrer", "Save")]
    assert texts["kor"].dropped == {"duplicate": 2}


def test_a_code_may_be_of_two_tasks_or_name_one_catalogue_of_a_folder(raw):
    content = {"app/locale/fr/LC_MESSAGES/a.po": catalogue(message("Save", "Enregistrer"))}
    content["app/locale/fr/LC_MESSAGES/b.po"] = catalogue(message("Open", "Ouvrir"))
    content["app/locale/de.po"] = catalogue(message("Save", "Sichern"))
    pairs, _ = raw(content, "po", {"it": ["fr/b"], "law": ["fr/b", "de"]}, ("it", "law"))
    assert pairs == [("Ouvrir", "Open")] * 2 + [("Sichern", "Save")]


# Compiled catalogues

COMPILED = compiled(
    message("Save", "Enregistrer"),
    message("Open", "Ouvrir", before='msgctxt "door"'),
    plural("a page", "pages", "une page", "deux pages", "des pages"),
    message("two\\nlines", "deux\\nlignes"),
    plurals=BOSNIAN,
)


def test_a_compiled_catalogue_has_its_messages_and_its_rule_of_plurals():
    assert sorted(parsed(COMPILED, "here", "mo")) == [
        Message("Open", "", "Ouvrir", "Ouvrir"),
        Message("Save", "", "Enregistrer", "Enregistrer"),
        Message("a page", "pages", "une page", "des pages"),
        Message("two\nlines", "", "deux\nlignes", "deux\nlignes"),
    ]
    # The other order of bytes: a head, the table of messages, that of translations, the texts.
    head = pack(">7I", 0x950412DE, 0, 1, 28, 36, 0, 0)
    content = head + pack(">4I", 3, 44, 2, 48) + b"One\0Un\0"
    assert parsed(content, "here", "mo") == [Message("One", "", "Un", "Un")]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        COMPILED[:20],
        catalogue(message("Save", "Enregistrer")),
        COMPILED.replace(b"Enregistrer", b"\xff" * 11),
    ],
)
def test_what_is_not_a_compiled_catalogue_is_refused(content):
    with refused("not a message catalogue", where="app.whl: fr.mo"):
        parsed(content, "app.whl: fr.mo", "mo")


# JSON

CODES = {"it": ["fr"], "eng": ["en"]}
IN_FOLDER = {"kind": "json", "folder": "i18n"}
CASES = yaml.safe_load("""
- # Texts are joined by their keys; what is not text, or names another key, is passed over.
  how: json
  contents:
    lamp/en.json: {title: A lamp, state: {'on': 'On', 'off': 'Off', same: '[%key:common::same%]'},
                   count: 3, blank: ' ', parts: [not, read]}
    lamp/fr.json: {title: Une lampe, state: {'on': Allumée, same: '[%key:common::same%]'}}
  pairs: [[Une lampe, A lamp], [Allumée, 'On']]
  dropped: {no_translation: 1}
- # Each file belongs to the English one of its folder and name, without a checksum.
  how: json
  contents:
    lamp/fr.json: {name: Lampe}
    lamp/en.json: {name: Lamp}
    lamp/sensor.en.json: {name: Sensor}
    lamp/sensor.fr.json: {name: Capteur}
    door/en.json: {name: Door}
    fr/notes.txt: not read
    pages/en-0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a.json: {name: Page}
    pages/fr-1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b.json: {name: Une page}
    pages/fr-CA-2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c.json: {name: Feuille}
  pairs: [[Lampe, Lamp], [Capteur, Sensor], [Une page, Page]]
  dropped: {no_translation: 1}
- # Other folders are passed over.
  how: {kind: json, folder: i18n}
  contents:
    i18n/en.json: {c: A page}
    i18n/fr.json: {c: Une page}
    dates/en.json: {may: May}
    my_i18n/fr.json: {c: Jamais}
  pairs: [[Une page, A page]]
  dropped: {}
""")


@pytest.mark.parametrize("case", CASES)
def test_json_files_are_joined_by_name_and_key(raw, case):
    pairs, dropped = raw(case["contents"], case["how"], CODES)
    assert [[*pair] for pair in pairs] == case["pairs"]
    assert dropped == case["dropped"]


# Verses

PLACES = [(40, 10, 1), (40, 2, 1), (40, 2, 3), (41, 1, 1)]
VERSES = bible(
    {
        "4": {place: f"Verse {place}" for place in PLACES} | {(40, 3, 1): "Lacking"},
        "5": {place: f"Verset {place}" for place in PLACES} | {(40, 3, 1): "", (40, 3, 2): "Seul"},
    }
)
IN_BIBLE = {"kind": "verses", "database": "app/bible.db", "books": [41, 40]}


# What a package lacks


@pytest.mark.parametrize(
    ("contents", "how", "codes", "words"),
    [
        (
            {"locale/fr.po": catalogue()},
            "po",
            {"it": ["fr", "xx"]},
            "app.whl has no messages in xx",
        ),
        ({"locale/fr.po": catalogue()}, "mo", {"it": ["fr"]}, "has no messages in fr;"),
        ({"locale/fr/LC_MESSAGES/a.po": catalogue()}, "po", {"it": ["fr/b"]}, "messages in fr/b"),
        ({"a/en.json": {"a": "A"}}, "json", CODES, "app.whl has no messages in fr"),
        ({"a/en.json": {"a": "A"}, "a/fr.json": b"{"}, "json", CODES, "a/fr.json: not JSON"),
        ({"i18n/en.json": [{"a": "b"}]}, IN_FOLDER, CODES, "no messages in en"),
        ({"a": b""}, IN_BIBLE, CODES, "app.whl: the file app/bible.db is missing"),
        (
            {"app/bible.db": b"no database"},
            IN_BIBLE,
            CODES,
            r"not a database of verses \(file is not a database\)",
        ),
        ({"app/bible.db": VERSES}, IN_BIBLE, CODES, "no verses of book 41 in the versions fr"),
    ],
)
def test_what_a_package_lacks_is_named(raw, contents, how, codes, words):
    with pytest.raises(FathomError, match=words):
        raw(contents, how, codes)


# Several ways, several tasks


def test_each_source_is_read_in_its_way_and_verses_in_the_order_of_the_books(tmp_path, raw):
    home = {"i18n/en.json": b'{"on": "On"}', "i18n/fr.json": b'{"on": "Un"}'}
    names = {"names/locale/fr/LC_MESSAGES/a.mo": compiled(message("Spain", "Espagne"))}
    files = {
        "home": zip_of(tmp_path / "home.whl", home),
        "app": wheel(tmp_path / "app.whl", {"fr": catalogue(message("Save", "Enregistrer"))}),
        "names": zip_of(tmp_path / "names.whl", names),
    }
    codes = {"home": {"talk": ["fr"], "eng": ["en"]}, "app": {"talk": ["fr"]}}
    codes |= {"names": {"law": ["fr"]}}
    reads = {"home": "json", "app": "po", "names": "mo"}
    texts = read(files, french_dataset(codes, ["talk", "law"], reads))
    assert sentences(texts["talk"]) == [("Un", "On"), ("Enregistrer", "Save")]
    assert sentences(texts["law"]) == [("Espagne", "Spain")]
    pairs, _ = raw({"app/bible.db": VERSES}, IN_BIBLE, {"it": ["5"], "eng": ["4"]})
    places = [(41, 1, 1), (40, 2, 1), (40, 2, 3), (40, 10, 1)]
    assert pairs == [(f"Verset {place}", f"Verse {place}") for place in places]


def test_tasks_of_one_text_have_a_part_each_and_one_test(tmp_path):
    contents = {
        f"app/locale/{text}.po": catalogue(
            *(message(f"{text} {n}", f"{n} mots de {text}") for n in range(200))
        )
        for text in ("law", "rel")
    }
    codes, parts = {"app": {"law": ["law"], "rel": ["rel"]}}, {"law": ["law1", "law2"]}
    card = french_dataset(codes, ["law1", "law2", "rel"], {}, parts=parts)
    texts = read({"app": zip_of(tmp_path / "app.whl", contents)}, card)
    one, two = texts["law1"], texts["law2"]
    for split in ("valid", "test"):
        assert one.splits[split] == two.splits[split] != []
    assert not {*one.splits["train"]} & {*two.splits["train"]}
    counts = [len(text.splits["train"]) for text in (one, two)]
    assert sum(counts) + len(one.splits["valid"]) + len(one.splits["test"]) == 200
    assert min(counts) > 0.35 * sum(counts)
    assert one.dropped["other_part"] == counts[1]
    assert one.read == len(sentences(one)) + one.dropped.total()
    assert texts["rel"].dropped["other_part"] == 0


# Alone


@pytest.fixture
def alone(tmp_path):
    """A function that reads catalogues of English and Hindi, each language alone."""

    def run(english, hindi, **others):
        codes = {"en": ["en"], "hi": ["hi"]}
        files = {"app": wheel(tmp_path / "app.whl", {"en": english, "hi": hindi})}
        files |= {"home": zip_of(tmp_path / "home.whl", others)} if others else {}
        reads = {"app": "po", "home": "json"} if others else {}
        sources = dict.fromkeys(files, codes)
        texts = read(files, dataset("packages", ["en", "hi"], sources, reads=reads, **ALONE))
        for text in texts.values():
            assert text.read == len(sentences(text)) + text.dropped.total()
            assert all(isinstance(line, Line) for line in sentences(text))
        return texts

    return run


def test_the_messages_of_all_packages_are_a_task_and_are_cleaned_alone(alone):
    english = catalogue(
        message("Save", "Not this"),
        message("save!", ""),
        message("Hello %s", ""),
        message("…", ""),
        message("w" * 101, ""),
        message("Fuzzy <b>is</b> text too", "x", before="#, fuzzy"),
        plural("a page", "pages", "", ""),
        '\n#~ msgid "Gone"\n#~ msgstr ""\n',
    )
    files = {"i18n/en.json": b'{"a": "Save?", "b": "Open it"}', "i18n/hi.json": b'{"a": "x"}'}
    text = alone(english, catalogue(message("Save", "सहेजें")), **files)["en"]
    found = [line.text for line in sentences(text)]
    assert found == ["Fuzzy is text too", "Open it", "Save", "a page", "pages"]
    rules = ("placeholders", "no_letter", "too_long", "obsolete")
    assert +text.dropped == dict.fromkeys(rules, 1) | {"duplicate": 2}


def test_translations_are_cleaned_by_the_rules_of_pairs_and_distinct_by_themselves(alone):
    hindi = catalogue(
        message("Of it", "का"),
        message("Its", "का"),
        # A vowel sign tells words apart.
        message("That", "कि"),
        message("URL", "URL"),
        message("Hello %s", "नमस्ते"),
        message("Open", ""),
        message("Not sure", "शायद", before="#, fuzzy"),
    )
    text = alone(catalogue(message("Save", "")), hindi)["hi"]
    assert [line.text for line in sentences(text)] == ["का", "कि"]
    rules = ("untranslated", "placeholders_differ", "no_translation", "fuzzy", "duplicate")
    assert text.dropped == dict.fromkeys(rules, 1)


def test_the_split_follows_the_sentence_and_not_its_translation(alone):
    english = catalogue(*(message(f"Sentence {n}", "") for n in range(60)))
    one, other = (
        alone(english, catalogue(*(message(f"{start} {n}", f"{n} का") for n in range(60))))
        for start in ("Sentence", "Other")
    )
    assert one["hi"].splits == other["hi"].splits
    assert all(one["en"].splits.values())

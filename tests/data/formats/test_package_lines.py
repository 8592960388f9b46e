import json

import pytest

from fathom.data.readers.package_lines import read
from tests.data.small_archives import catalogue, message, package_lines_dataset, wheel, zip_of

CODES = {"app": {"en": ["en"], "hi": ["hi"]}, "home": {"en": ["en"], "hi": ["hi"]}}


@pytest.fixture
def texts(tmp_path):
    """The texts of a wheel with catalogues and of one with JSON, in English and Hindi."""
    english = catalogue(message("Save", ""), message("Hello %s", ""))
    hindi = catalogue(message("Save", "सहेजें"), message("URL", "URL"))
    of_languages = {
        "en": {"save": "Save!", "open": "Open it", "key": "[%key:x%]"},
        "hi": {"save": "सहेजें", "open": "Open it", "key": "[%key:x%]"},
    }
    contents = {f"translations/{code}.json": json.dumps(of) for code, of in of_languages.items()}
    files = {
        "app": wheel(tmp_path / "app.whl", {"en": english, "hi": hindi}),
        "home": zip_of(tmp_path / "home.whl", {name: of.encode() for name, of in contents.items()}),
    }
    reads = {"app": "po", "home": {"kind": "json", "folder": "translations"}}
    return read(files, package_lines_dataset(CODES, ["en", "hi"], reads))


def sentences(text):
    """Return all sentences of a task, sorted."""
    return sorted(line.text for lines in text.splits.values() for line in lines)


def test_english_is_the_texts_of_all_packages_each_once(texts):
    assert sentences(texts["en"]) == ["Open it", "Save"]
    assert +texts["en"].dropped == {"placeholders": 1, "duplicate": 1}
    assert texts["en"].read == 4


def test_translations_are_cleaned_by_the_rules_of_pairs(texts):
    assert sentences(texts["hi"]) == ["सहेजें"]
    assert +texts["hi"].dropped == {"untranslated": 2, "duplicate": 1}

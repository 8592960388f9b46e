import json
from collections import Counter, defaultdict

import pytest

from fathom.config.schema.dataset import JsonFiles
from fathom.data.json_files import json_pairs
from fathom.data.readers.packages import read as read_packages
from tests.data.small_archives import packages_dataset, zip_of
from tests.support.refused import refused

ENGLISH = {
    "title": "A lamp",
    "state": {"on": "On", "off": "Off", "same": "[%key:common::same%]"},
    "count": 3,
    "blank": " ",
    "parts": ["not", "read"],
}
FRENCH = {"title": "Une lampe", "state": {"on": "Allumée", "same": "[%key:common::same%]"}}


@pytest.fixture
def read(tmp_path):
    """A function that reads the JSON files of a wheel; English is `en`."""
    dropped = defaultdict(Counter)

    def run(contents, code="fr", how=None):
        encoded = {
            name: content if isinstance(content, bytes) else json.dumps(content).encode()
            for name, content in contents.items()
        }
        wheel = zip_of(tmp_path / "home.whl", encoded)
        codes = {"home": {"talk": [code], "eng": ["en"]}}
        dataset = packages_dataset(codes, ["talk"], {"home": "json"})
        return [*json_pairs("home", wheel, dataset, how, dropped)], dropped["talk"]

    return run


def test_texts_are_joined_by_their_keys(read):
    pairs, dropped = read({"lamp/en.json": ENGLISH, "lamp/fr.json": FRENCH})
    assert pairs == [("talk", ("Une lampe", "A lamp")), ("talk", ("Allumée", "On"))]
    assert dropped == {"no_translation": 1}


def test_each_file_belongs_to_the_english_one_of_its_folder_and_name(read):
    pairs, dropped = read(
        {
            "lamp/fr.json": {"name": "Lampe"},
            "lamp/en.json": {"name": "Lamp"},
            "lamp/sensor.en.json": {"name": "Sensor"},
            "lamp/sensor.fr.json": {"name": "Capteur"},
            "door/en.json": {"name": "Door"},
            "door/de.json": {"name": "Tür"},
            "door/manifest.json": {"name": "door"},
            "fr/notes.txt": b"no JSON",
        }
    )
    assert [pair for _, pair in pairs] == [("Lampe", "Lamp"), ("Capteur", "Sensor")]
    assert dropped == {"no_translation": 1}


def test_a_checksum_in_a_name_is_no_part_of_the_code(read):
    pairs, _ = read(
        {
            f"pages/en-{'0a' * 16}.json": {"name": "Lamp"},
            f"pages/fr-{'1b' * 16}.json": {"name": "Lampe"},
            f"pages/fr-CA-{'2c' * 16}.json": {"name": "Fanal"},
        }
    )
    assert pairs == [("talk", ("Lampe", "Lamp"))]


def test_files_of_other_folders_are_passed_over_where_one_is_named(read):
    contents = {
        "lamp/translations/en.json": {"name": "Lamp"},
        "lamp/translations/fr.json": {"name": "Lampe"},
        "dates/en.json": {"may": "May"},
        "dates/fr.json": {"may": "mai"},
        "my_translations/fr.json": b"no JSON",
    }
    pairs, dropped = read(contents, how=JsonFiles(kind="json", folder="translations"))
    assert pairs == [("talk", ("Lampe", "Lamp"))]
    assert dropped.total() == 0


def test_texts_with_the_markup_that_the_card_names_are_dropped_and_counted(read):
    how = JsonFiles(kind="json", folder="i18n", without=("[[", "{{"))
    pairs, dropped = read(
        {
            "i18n/en.json": {"a": "See [[this]]", "b": "Page", "c": "A page"},
            "i18n/fr.json": {"a": "Voir ceci", "b": "Page {{nombre}}", "c": "Une page"},
        },
        how=how,
    )
    assert pairs == [("talk", ("Une page", "A page"))]
    assert dropped["markup"] == 2


def test_a_key_chooses_the_texts_and_lists_count_by_place(read):
    how = JsonFiles(kind="json", folder="dist", key="translation")
    english = [{"name": "One", "verses": [{"id": 1, "translation": "Hello"}]}]
    french = [{"name": "Un", "verses": [{"id": 1, "translation": "Salut"}, {"translation": "Fin"}]}]
    contents = {"dist/en.json": english, "dist/fr.json": french}
    pairs, dropped = read(contents, how=how)
    assert pairs == [("talk", ("Salut", "Hello"))]
    assert dropped.total() == 0


def test_a_key_that_no_text_has_is_refused(read):
    how = JsonFiles(kind="json", folder="dist", key="translations")
    contents = {f"dist/{code}.json": [{"translation": "a"}] for code in ("en", "fr")}
    with refused("no messages", "home.whl", "en"):
        read(contents, how=how)


def test_a_code_without_a_file_and_a_file_that_is_no_json_are_named(read):
    with refused("no messages", "home.whl", "mk"):
        read({"lamp/en.json": ENGLISH, "lamp/fr.json": FRENCH}, code="mk")
    with refused("not JSON", where="home.whl: lamp/fr.json"):
        read({"lamp/en.json": ENGLISH, "lamp/fr.json": b"{"})


def test_a_package_of_json_is_a_text_like_any_other(tmp_path):
    contents = {"lamp/en.json": ENGLISH, "lamp/fr.json": FRENCH | {"blank": "rien"}}
    encoded = {name: json.dumps(content).encode() for name, content in contents.items()}
    wheel = zip_of(tmp_path / "home.whl", encoded)
    codes = {"home": {"talk": ["fr"], "eng": ["en"]}}
    texts = read_packages({"home": wheel}, packages_dataset(codes, ["talk"], {"home": "json"}))
    assert texts["talk"].read == 3
    assert sum(len(rows) for rows in texts["talk"].splits.values()) == 2

from collections import Counter

import pytest

from fathom.data.catalogues import Catalogue, catalogues, messages, translations
from fathom.data.texts import Pair
from fathom.io.errors import FathomError
from tests.data.small_archives import catalogue, message, messages_dataset, plural, wheel

TEXT = catalogue(message("Save", "Enregistrer"), message("Open", ""), plural("a", "b", "c"))


def test_catalogues_come_source_by_source_with_their_task(tmp_path):
    sources = {"one": {"kor": ["ko"]}, "two": {"kor": ["ko"], "fra": ["fr"]}}
    files = {
        name: wheel(tmp_path / f"{name}.whl", dict.fromkeys(("ko", "fr"), catalogue()))
        for name in sources
    }
    read = [
        (task, where.split(":")[0])
        for task, where, _ in catalogues(files, messages_dataset(sources, ["fra", "kor"]))
    ]
    assert read == [("kor", "one.whl"), ("kor", "two.whl"), ("fra", "two.whl")]


def test_a_code_of_two_tasks_is_read_for_both(tmp_path):
    files = {"one": wheel(tmp_path / "one.whl", {"pt": catalogue()})}
    dataset = messages_dataset({"one": {"por": ["pt"], "glg": ["pt"]}}, ["por", "glg"])
    assert [task for task, _, _ in catalogues(files, dataset)] == ["por", "glg"]


def test_a_code_without_messages_is_an_error(tmp_path):
    files = {"one": wheel(tmp_path / "one.whl", {"fr": catalogue()})}
    with pytest.raises(FathomError) as caught:
        list(catalogues(files, messages_dataset({"one": {"fra": ["fr", "xx"]}}, ["fra"])))
    assert "xx" in caught.value.what
    assert caught.value.where == "config/datasets/invented.yaml: sources.one"


def test_a_message_gives_pairs_or_counts_as_dropped():
    dropped = Counter()
    pairs = list(translations(Catalogue("fra", "fr.po", TEXT.decode()), dropped, True))
    assert pairs == [Pair("Enregistrer", "Save"), Pair("c", "a")]
    assert dropped == {"no_translation": 1}


def test_messages_are_read_whatever_their_translation():
    dropped = Counter()
    read = list(messages(Catalogue("fra", "fr.po", TEXT.decode()), dropped))
    assert (read, dropped) == (["Save", "Open", "a", "b"], {})


def test_text_that_is_not_a_catalogue_is_named():
    with pytest.raises(FathomError) as caught:
        list(messages(Catalogue("fra", "app.whl: fr.po", 'msgid "a"\nnonsense\n'), Counter()))
    assert caught.value.where == "app.whl: fr.po"

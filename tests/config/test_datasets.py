"""Data sets and their sources: what defines a text, and what does not."""

import pytest

from fathom.config.load import load


def definition(project, name):
    return project.datasets[name].definition(project.sources)


@pytest.mark.parametrize(
    ("moves", "name", "file", "old", "new"),
    [
        (True, "words", "datasets/words.yaml", "salt: test", "salt: other"),
        (True, "words", "datasets/words.yaml", "tasks: [bos, fra, kor]", "tasks: [bos, kor, fra]"),
        (True, "words", "sources/words.yaml", "sha256: 0", "sha256: 1"),
        (True, "halves", "datasets/halves.yaml", "[law1, law2]}", "[law2, law1]}"),
        (True, "domains", "datasets/domains.yaml", "  letters: {med: [med.en-fr]}\n  texts: {law: ["
         "law.en-fr]}", "  texts: {law: [law.en-fr]}\n  letters: {med: [med.en-fr]}"),
        # What describes a text does not.
        (False, "words", "datasets/words.yaml", "title: Words", "title: Other words"),
        (False, "words", "datasets/words.yaml", "max_shared: 0.2", "max_shared: 1.0"),
        (False, "words", "datasets/words.yaml", "bos: {train:",
         "bos: {test: 9, valid: 9, train: 9}  # {"),
        (False, "words", "sources/words.yaml", "notice: Invented.", "notice: Made."),
        (False, "halves", "sources/words.yaml", "notice: Invented.", "notice: Made."),
    ],
)  # fmt: skip
def test_what_changes_a_text_changes_its_definition_and_its_folder(
    edited, sample, moves, name, file, old, new
):
    project = load(edited((file, old, new)), check=False)
    assert (definition(project, name) != definition(sample, name)) is moves
    folders = {one.datasets[name].corpus_folder(one.sources) for one in (project, sample)}
    assert len(folders) == 1 + moves


def test_a_source_without_a_published_checksum_is_identified_by_its_file(sample):
    assert definition(sample, "domains")["sources"]["letters"] == {
        "sha256": None,
        "file": "letters.tar.gz",
        "codes": {"med": ["med.en-fr"]},
    }


def test_a_data_set_that_no_reader_makes_says_why_and_has_a_definition(sample):
    planned = sample.datasets["planned"]
    assert planned.not_built == "its archive is gone"
    assert definition(sample, "planned") == {
        "tasks": [["bos", "bos"], ["fra", "fra"], ["kor", "kor"]],
        "not_built": "planned",
    }
    assert sample.datasets["words"].not_built is None


def test_a_tasks_languages_are_its_own_and_the_pivot(sample):
    languages = [
        sample.datasets[name].languages_of(task)
        for name, task in (("words", "bos"), ("domains", "law"), ("lines", "fr"))
    ]
    assert languages == [("bos", "eng"), ("fra", "eng"), ("fr",)]


def test_the_lines_of_training_text_are_those_that_the_card_expects(sample):
    assert sample.datasets["pair"].lines("train") == 1000


def test_tasks_of_one_text_have_the_codes_of_the_text(sample):
    halves = sample.datasets["halves"]
    assert halves.texts == ("law", "rel")
    assert [halves.text_of(task) for task in ("law2", "rel")] == ["law", "rel"]
    assert (halves.codes("words", "law"), halves.codes("words", "law1")) == (("fr",), ())
    assert sample.datasets["words"].texts == ("bos", "fra", "kor")


def test_a_card_with_for_is_a_source_for_each_combination(sample):
    assert {name for name in sample.sources if name.startswith("pages")} == {"pages_de", "pages_fr"}
    french = sample.sources["pages_fr"]
    assert (french.title, french.file) == ("Pages in fr", "fr-20260101.xml.bz2")
    assert french.mirrors == ("https://example.org/fr/20260101",)

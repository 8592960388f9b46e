import re
from pathlib import Path

import pytest

from fathom.config.yaml_files import YamlFile, read
from fathom.runs.datasets import (
    FORMATS,
    SPLITS,
    BuiltDataset,
    PlannedDataset,
    direction_findings,
    read_dataset,
)
from fathom.runs.sources import read_source
from tests.support.refused import prose, says

ROOT = Path(__file__).parents[2]
DATASETS = {path.stem: path for path in sorted((ROOT / "config" / "datasets").glob("*.yaml"))}
SOURCES = {
    path.stem: read_source(path.stem, read(path, ROOT))[0]
    for path in sorted((ROOT / "config" / "sources").glob("*.yaml"))
}
RELATED = ("aze", "bel", "glg", "slk", "tur", "rus", "por", "ces")
DIVERSE = ("bos", "mar", "hin", "mkd", "ell", "bul", "fra", "kor")
DOMAINS = ("med", "law", "bank", "it", "talk", "rel")
HALVES = ("med", "law1", "law2", "bank", "it", "talk", "rel")


def file_of(name):
    return read(DATASETS[name], ROOT)


def dataset_of(name):
    dataset, findings = read_dataset(name, file_of(name), SOURCES)
    assert findings == []
    return dataset


def changed(name, *without, **changes):
    """Return what is found in a card with other keys, as lines."""
    file = file_of(name)
    value = {key: part for key, part in file.value.items() if key not in without} | changes
    _, findings = read_dataset(name, YamlFile(file.name, value, file.lines), SOURCES)
    return [str(finding) for finding in findings]


@pytest.mark.parametrize("name", DATASETS)
def test_every_data_set_of_config_is_right(name):
    assert dataset_of(name).name == name


def test_every_key_is_described():
    for model in (PlannedDataset, *FORMATS.values()):
        missing = [name for name, field in model.model_fields.items() if not field.description]
        assert missing == [], model


def test_each_format_has_its_reader_and_each_reader_its_class():
    readers = (ROOT / "lib" / "fathom" / "data" / "formats").glob("[a-z]*.py")
    assert sorted(path.stem for path in readers) == sorted(FORMATS)


@pytest.mark.parametrize(
    ("names", "tasks"),
    [
        (("ted8_related", "po_wheels_related"), RELATED),
        (("ted8_diverse", "po_wheels_diverse"), DIVERSE),
        (("wmt16_en_de", "wmt14_en_de", "po_wheels_german"), ("deu",)),
        (("wmt15_cs_en", "po_wheels_czech"), ("ces",)),
        (("domains6", "wheels_domains6"), DOMAINS),
        (("domains7", "wheels_domains7"), HALVES),
    ],
)
def test_tasks_are_in_the_papers_order_and_a_substitute_has_the_same(names, tasks):
    assert {dataset_of(name).tasks for name in names} == {tasks}


def test_only_sinhala_has_no_substitute():
    wikipedia, strings = dataset_of("wikipedia25").tasks, dataset_of("strings25").tasks
    assert len(wikipedia) == 25
    assert [task for task in wikipedia if task != "si"] == [*strings]


@pytest.mark.parametrize(
    ("names", "languages"),
    [
        (("wmt16_en_de", "wmt14_en_de", "po_wheels_german"), ("eng", "deu")),
        (("wmt15_cs_en", "po_wheels_czech"), ("ces", "eng")),
        (("domains6", "wheels_domains6", "domains7", "wheels_domains7"), ("eng", "fra")),
        (("ted8_related", "strings25", "wikipedia25"), None),
    ],
)
def test_a_data_set_of_one_language_pair_says_what_it_translates(names, languages):
    assert {dataset_of(name).translates for name in names} == {languages}


def test_expected_counts_are_the_published_ones():
    expected = dataset_of("ted8_related").expected
    assert expected["por"].model_dump() == {"train": "185k", "valid": 4035, "test": 4855}
    assert expected["glg"].train == "10.0k"
    counts = dataset_of("po_wheels_diverse").expected.values()
    sums = [sum(getattr(of_task, split) for of_task in counts) for split in SPLITS]
    assert sums == [12090, 774, 2390]


def test_a_data_set_without_a_reader_says_why_and_has_a_definition():
    planned = dataset_of("wmt15_cs_en")
    assert isinstance(planned, PlannedDataset)
    ((path, reason),) = planned.not_built()
    assert path == "not_built"
    assert "CzEng" in reason
    assert planned.definition(SOURCES) == {
        "tasks": [["ces", "ces"]],
        "pivot": "eng",
        "translates": ["ces", "eng"],
        "not_built": "wmt15_cs_en",
    }
    assert dataset_of("po_wheels_czech").not_built() == []


def test_a_planned_data_set_has_no_key_of_its_text():
    (line,) = changed("wmt16_en_de", format="gettext")
    says("unknown key", "format").check(line)


@pytest.mark.parametrize(
    ("without", "changes", "message"),
    [
        ((), {"format": "getext"}, says(where=": format", nearest="gettext")),
        (("format",), {}, says(where=": format", remedy="format:")),
        (("pivot",), {}, says("no value", where=": pivot")),
        ((), {"title": False}, says("YAML boolean", where=": title")),
        ((), {"citation": 1}, says(where=": citation", remedy=prose("put it in quotes"))),
        ((), {"tasks": [*DIVERSE, "bos"]}, says("twice", "bos", 2, where=": tasks")),
        (
            (),
            {"tasks": [*DIVERSE[:-1]]},
            says("unknown", "task", "kor", where=": sources.django.kor"),
        ),
        ((), {"tasks": [*DIVERSE[:-1]]}, says("unknown", "task", "kor", where=": expected.kor")),
        ((), {"pivot": "fra"}, says("pivot as task", "fra", where=": tasks")),
        ((), {"languages": {"boss": "bos"}}, says(where=": languages.boss", nearest="bos")),
        (
            (),
            {"cleaning": {"equal_plurals": "both"}},
            says("no value", where=": cleaning.max_ratio"),
        ),
        (
            (),
            {"cleaning": {"missing_marks": ["x"]}},
            says("unknown key", where=": cleaning.missing_marks"),
        ),
        ((), {"split": {"by": "published"}}, says(where=": split.by", remedy="key_hash")),
        (
            (),
            {"translates": ["eng", "fra"]},
            says("tasks translate", re.compile("bos, bul, ell,.*"), where=": translates"),
        ),
        (
            (),
            {"sources": {"djungo": {"bos": ["bs"]}}},
            says(where=": sources.djungo", nearest="django"),
        ),
        (
            (),
            {"sources": {"django": {"bos": ["bs"]}}},
            says("no source for a task", "kor", where=": sources"),
        ),
        (
            (),
            {"sources": {"django": {"bos": []}}},
            says("limit", ..., prose("too short"), where=": sources.django.bos"),
        ),
        ((), {"expected": {}}, says("no counts", "bos", where=": expected")),
        ((), {"colour": "blue"}, says("unknown key", "colour", where=": colour")),
    ],
)
def test_a_broken_card_is_named_with_file_and_key(without, changes, message):
    lines = changed("po_wheels_diverse", *without, **changes)
    message.check(lines)
    assert all(line.startswith("config/datasets/po_wheels_diverse.yaml") for line in lines)


def test_all_findings_of_a_card_come_at_once():
    assert len(changed("po_wheels_diverse", sources={"django": {"bos": ["bs"]}}, expected={})) == 15


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"messages": "eng"}, says(where=": messages", nearest="en")),
        ({"pivot": "eng"}, says(where=": pivot", remedy="format: gettext")),
        (
            {"translates": ["en", "fr"]},
            says("tasks translate", ..., "no pivot", where=": translates"),
        ),
    ],
)
def test_sentences_without_pairs_have_rules_of_their_own(changes, message):
    (line,) = changed("strings25", **changes)
    message.check(line)


def test_a_tasks_languages_are_its_own_and_the_pivot():
    assert dataset_of("ted8_diverse").languages_of("bos") == ("bos", "eng")
    assert dataset_of("domains6").languages_of("law") == ("fra", "eng")
    assert dataset_of("strings25").languages_of("fr") == ("fr",)


@pytest.mark.parametrize(
    ("name", "takes_one"),
    [("ted8_diverse", True), ("po_wheels_german", False), ("strings25", False)],
)
def test_only_several_language_pairs_take_a_direction(name, takes_one):
    dataset = dataset_of(name)
    assert bool([*direction_findings(dataset, None, "here")]) is takes_one
    assert bool([*direction_findings(dataset, "many_to_one", "here")]) is not takes_one


def test_the_definition_holds_what_changes_the_text_and_nothing_else():
    dataset = dataset_of("po_wheels_diverse")
    assert isinstance(dataset, BuiltDataset)
    definition = dataset.definition(SOURCES)
    named = {"name": "y", "title": "other", "citation": "", "licence": "", "max_shared": 1.0}
    assert dataset.model_copy(update=named).definition(SOURCES) == definition
    assert dataset.model_copy(update={"expected": {}}).definition(SOURCES) == definition
    for change in (
        {"split": dataset.split.model_copy(update={"salt": "other"})},
        {"cleaning": dataset.cleaning.model_copy(update={"max_characters": 400})},
        {"sources": {"django": dataset.sources["django"]}},
        {"tasks": dataset.tasks[:-1]},
        {"translates": ("eng", "fra")},
    ):
        other = dataset.model_copy(update=change)
        assert other.definition(SOURCES) != definition
        assert other.corpus_folder(SOURCES) != dataset.corpus_folder(SOURCES)
    django = SOURCES["django"]
    altered = SOURCES | {"django": django.model_copy(update={"sha256": "0" * 64})}
    assert dataset.definition(altered) != definition
    moved = SOURCES | {"django": django.model_copy(update={"title": "x", "notice": "y"})}
    assert dataset.definition(moved) == definition


def test_the_task_of_the_messages_is_part_of_the_definition():
    dataset = dataset_of("strings25")
    other = dataset.model_copy(update={"messages": "fr"})
    assert other.definition(SOURCES) != dataset.definition(SOURCES)

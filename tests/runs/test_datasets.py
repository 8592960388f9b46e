from dataclasses import replace
from pathlib import Path

import pytest

from fathom.config.schema_errors import Schemas
from fathom.config.yaml_files import YamlFile, read
from fathom.runs.datasets import SPLITS, Dataset, Source, findings

ROOT = Path(__file__).parents[2]
SCHEMAS = Schemas(ROOT / "workflow" / "schemas", ROOT)
SOURCE_FILES = sorted((ROOT / "config" / "sources").glob("*.yaml"))
DATASET_FILES = sorted((ROOT / "config" / "datasets").glob("*.yaml"))
SOURCES = {
    path.stem: Source.from_mapping(path.stem, read(path, ROOT).value) for path in SOURCE_FILES
}


def dataset_of(path):
    return Dataset.from_mapping(path.stem, read(path, ROOT).value)


@pytest.fixture
def wheels():
    return read(ROOT / "config" / "datasets" / "po_wheels_diverse.yaml", ROOT)


@pytest.mark.parametrize("path", SOURCE_FILES, ids=lambda path: path.stem)
def test_every_source_of_config_is_right(path):
    file = read(path, ROOT)
    assert list(SCHEMAS.findings("source", file)) == []
    assert Source.from_mapping(path.stem, file.value).name == path.stem


@pytest.mark.parametrize("path", DATASET_FILES, ids=lambda path: path.stem)
def test_every_data_set_of_config_is_right(path):
    file = read(path, ROOT)
    assert list(SCHEMAS.findings("dataset", file)) == []
    assert list(findings(dataset_of(path), SOURCES, file)) == []


@pytest.mark.parametrize("kind", ["source", "dataset"])
def test_every_key_of_a_schema_is_described(kind):
    def keys(schema):
        for name, each in schema.get("properties", {}).items():
            yield name, each
            yield from keys(each)
        for nested in (schema.get("additionalProperties"), schema.get("items")):
            if isinstance(nested, dict):
                yield from keys(nested)

    assert [name for name, each in keys(SCHEMAS.schema(kind)) if "description" not in each] == []


def test_tasks_stand_in_the_papers_order():
    diverse = ("bos", "mar", "hin", "mkd", "ell", "bul", "fra", "kor")
    related = ("aze", "bel", "glg", "slk", "tur", "rus", "por", "ces")
    for path in DATASET_FILES:
        assert dataset_of(path).task_names == (diverse if "diverse" in path.stem else related)


def test_expected_counts_are_the_published_ones():
    expected = dataset_of(ROOT / "config/datasets/ted8_related.yaml").expected
    assert expected["por"] == {"train": "185k", "valid": 4035, "test": 4855}
    assert expected["glg"]["train"] == "10.0k"
    wheels = dataset_of(ROOT / "config/datasets/po_wheels_diverse.yaml").expected
    sums = [sum(counts[split] for counts in wheels.values()) for split in SPLITS]
    assert sums == [12090, 774, 2390]


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("sources/django.yaml", "bytes: 8276471", "bytes: 8e6", "YAML reads 8e6 as text"),
        ("sources/django.yaml", 'version: "5.1.4"', "version: 5.1", "put it in quotes"),
        ("sources/django.yaml", "kind: package", "kind: pakage", "nearest valid name: 'package'"),
        ("sources/django.yaml", "package: Django\n", "", "the key 'package' is missing"),
        ("sources/ted_talks.yaml", "  - http://ph", "  - ftp://ph", "has another form"),
        ("datasets/ted8_related.yaml", "pivot: eng", "pivot: eng\nlanguage: {}", "'languages'"),
        ("datasets/po_wheels_diverse.yaml", "[bs]", "[no]", "YAML reads no, on, yes and off"),
        ("datasets/po_wheels_diverse.yaml", "valid: 17", "valid: 1.7k5", "has another form"),
        ("datasets/po_wheels_diverse.yaml", "  salt: fathom-split-1\n", "", "'salt' is missing"),
        ("datasets/po_wheels_diverse.yaml", "equal_plurals: both", "equal_plurals: all", "both"),
    ],
)
def test_a_broken_file_gives_one_line_that_names_the_cause(project, edit, file, old, new, said):
    edit(f"config/{file}", old, new)
    kind = "source" if file.startswith("sources") else "dataset"
    found = list(SCHEMAS.findings(kind, read(project / "config" / file, project)))
    assert len(found) == 1
    assert said in str(found[0])
    assert f"config/{file}" in str(found[0])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": "getext"}, "no format 'getext'; nearest valid name: 'gettext'"),
        ({"tasks": ["bos", "mar", "hin", "mkd", "ell", "bul", "fra"]}, "no task 'kor'"),
        ({"pivot": "fra"}, "'fra' is the pivot"),
        ({"languages": {"boss": "bos"}}, "no task 'boss'; nearest valid name: 'bos'"),
        ({"cleaning": {"equal_plurals": "both"}}, "the rule 'max_ratio' is missing"),
        ({"split": {"by": "published"}}, "the rule 'missing_marks' is missing"),
    ],
)
def test_names_that_do_not_fit_are_found(wheels, changes, said):
    file = YamlFile(wheels.name, wheels.value | changes, wheels.lines)
    found = findings(Dataset.from_mapping("x", file.value), SOURCES, file)
    assert any(said in str(each) for each in found)


def test_unknown_sources_missing_counts_and_tasks_without_text_are_found(wheels):
    value = dict(wheels.value)
    value["sources"] = {"djungo": {"bos": ["bs"]}}
    value["expected"] = {"bos": value["expected"]["bos"]}
    found = [str(each) for each in findings(Dataset.from_mapping("x", value), SOURCES, wheels)]
    assert any("no source 'djungo'; nearest valid name: 'django'" in each for each in found)
    assert sum("no source has text for" in each for each in found) == 7
    assert sum("no counts for" in each for each in found) == 7


def test_shares_over_the_whole_are_found(wheels):
    dataset = Dataset.from_mapping("x", wheels.value)
    dataset = replace(dataset, split=replace(dataset.split, test_per_mille=960))
    assert "shares over 1000 in all" in str(next(findings(dataset, SOURCES, wheels)))


def test_a_rule_without_effect_is_found():
    file = read(ROOT / "config/datasets/ted8_diverse.yaml", ROOT)
    value = file.value | {"cleaning": file.value["cleaning"] | {"max_characters": 500}}
    found = list(findings(Dataset.from_mapping("x", value), SOURCES, file))
    assert ["'max_characters' has no effect" in str(each) for each in found] == [True]


def test_a_tasks_languages_are_its_own_and_the_pivot(wheels):
    dataset = Dataset.from_mapping("x", wheels.value)
    assert dataset.languages("bos") == ("bos", "eng")
    domains = Dataset.from_mapping("x", wheels.value | {"languages": {"bos": "fra"}})
    assert domains.languages("bos") == ("fra", "eng")


def test_the_definition_holds_what_changes_the_text_and_nothing_else(wheels):
    dataset = Dataset.from_mapping("x", wheels.value)
    definition = dataset.definition(SOURCES)
    same = replace(
        dataset, name="y", title="other", citation="", licence="", max_alike=1, expected={}
    )
    assert same.definition(SOURCES) == definition
    others = [
        replace(dataset, split=replace(dataset.split, salt="other")),
        replace(dataset, cleaning=replace(dataset.cleaning, max_characters=400)),
        replace(dataset, sources={"django": dataset.sources["django"]}),
        replace(dataset, task_names=dataset.task_names[:-1]),
    ]
    for other in others:
        assert other.definition(SOURCES) != definition
        assert other.corpus_folder(SOURCES) != dataset.corpus_folder(SOURCES)
    altered = SOURCES | {"django": replace(SOURCES["django"], sha256="0" * 64)}
    assert dataset.definition(altered) != definition
    moved = SOURCES | {"django": replace(SOURCES["django"], title="x", notice="y")}
    assert dataset.definition(moved) == definition


def test_the_corpus_folder_is_the_one_that_runs_use(catalog):
    folders = {each.corpus_folder(catalog.sources) for each in catalog.datasets.values()}
    used = {
        catalog.spec(run, scale).data.corpus_folder
        for run in catalog.paper_of
        for scale in catalog.scales
    }
    assert used <= folders

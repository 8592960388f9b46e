"""JSON Schemas for editors: right files are valid by them, and mistakes are not."""

import jsonschema
import pytest

from fathom.artefacts.schemas import schemas
from fathom.config.files import KINDS
from fathom.config.load import load
from tests.config.conftest import PROJECT
from tests.support.specs import ROOT

# What these are is said by the class of what they name.
NAMES = ("name", "kind", "by", "start", "like", "for", "families", "runs")


@pytest.fixture(scope="module")
def generated(sample):
    return schemas(sample)


@pytest.mark.parametrize("root", [PROJECT, ROOT])
def test_the_files_of_a_project_are_valid(root):
    """Every kind of file has a schema."""
    project = load(root, check=False)
    generated = schemas(project)
    assert set(generated) == set(KINDS)
    for kind, schema in generated.items():
        validator = jsonschema.Draft202012Validator(schema)
        validator.check_schema(schema)
        for file in project.files.all(kind).values():
            errors = [
                (list(error.path), error.message) for error in validator.iter_errors(file.plain)
            ]
            assert not errors, file.file


@pytest.mark.parametrize(
    "run",
    [
        {"model": {"widht": 512}},
        {"training": {"updates": 3.5}},
        {"method": {"name": "latent_layer"}},
        {"layer": "6/6"},
    ],
)
def test_a_wrong_run_is_not_valid(generated, run):
    validator = jsonschema.Draft202012Validator(generated["runs"])
    assert list(validator.iter_errors({"families": {}, "runs": {"a": run}}))


def test_a_partial_entry_and_a_name_in_brackets_are_valid(generated):
    entry = {"for": {"n": [1, 2]}, "like": ["base"], "model": {"encoder_layers": "<n>"}}
    validator = jsonschema.Draft202012Validator(generated["runs"])
    assert not list(validator.iter_errors({"runs": {"run_<n>": entry}}))


def test_a_figure_has_the_keys_of_its_kind(generated):
    validator = jsonschema.Draft202012Validator(generated["figures"])
    assert not list(validator.iter_errors({"a": {"kind": "lines", "smooth": 3}}))
    assert list(validator.iter_errors({"a": {"kind": "lines", "less": "6/6"}}))
    assert list(validator.iter_errors({"a": {"kind": "line"}}))


def test_a_claim_has_known_keys_and_answers(generated):
    validator = jsonschema.Draft202012Validator(generated["claims"])
    claim = {"sentence": "A is.", "section": "§1", "claim": "table1[1, 2] > 0", "supports": "holds"}
    assert not list(validator.iter_errors({"a": claim}))
    for wrong in ({"supports": "hold"}, {"reading": "our"}, {"clame": "1 > 0"}, {"sentence": ""}):
        assert list(validator.iter_errors({"a": claim | wrong}))


def test_every_setting_of_a_run_a_scale_a_data_set_and_a_source_has_a_description(generated):
    silent = {
        f"{kind}: {name}.{key}"
        for kind in ("runs", "scale", "dataset", "source", "config")
        for name, section in {"": generated[kind], **generated[kind].get("$defs", {})}.items()
        for key, setting in section.get("properties", {}).items()
        if not setting.get("description") and "$ref" not in str(setting) and key not in NAMES
    }
    assert silent == set()

"""JSON Schemas for editors: the project's own files are valid by them."""

import jsonschema
import pytest

from fathom.project.schemas import schemas, text

KINDS = {"runs": "runs", "tables": "tables", "parameters": "parameters", "paper": "paper"}
KINDS |= {
    "figures": "figures",
    "scale": "scale",
    "method": "method",
    "deviations": "deviations",
    "columns": "columns",
    "source": "source",
    "dataset": "dataset",
}


@pytest.fixture(scope="module")
def generated(own_project):
    return schemas(own_project)


@pytest.mark.parametrize("kind", KINDS)
def test_the_projects_own_files_are_valid(own_project, generated, kind):
    validator = jsonschema.Draft202012Validator(generated[kind])
    validator.check_schema(generated[kind])
    for file in own_project.files[KINDS[kind]].values():
        errors = [(list(error.path), error.message) for error in validator.iter_errors(file.value)]
        assert not errors, file.name


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


def test_every_setting_has_a_description(generated):
    model = generated["runs"]["$defs"]["Model"]["properties"]
    assert all(setting.get("description") for setting in model.values())


def test_equal_schemas_have_equal_text(generated, own_project):
    assert {k: text(v) for k, v in generated.items()} == {
        k: text(v) for k, v in schemas(own_project).items()
    }

"""JSON Schemas for editors: the project's own files are valid by them."""

import jsonschema
import pytest

from fathom.config.files import ConfigFiles
from fathom.config.schemas import schemas, text
from tests.support.specs import ROOT


@pytest.fixture(scope="module")
def generated(own_project):
    return schemas(own_project)


def test_every_kind_of_file_has_a_schema(own_project, generated):
    assert set(generated) == set(own_project.files)


@pytest.mark.parametrize("kind", ConfigFiles(ROOT))
def test_the_projects_own_files_are_valid(own_project, generated, kind):
    validator = jsonschema.Draft202012Validator(generated[kind])
    validator.check_schema(generated[kind])
    for file in own_project.files[kind].values():
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


def test_a_claim_has_known_keys_and_answers(generated):
    validator = jsonschema.Draft202012Validator(generated["claims"])
    claim = {"sentence": "A is.", "section": "§1", "claim": "table1[1, 2] > 0", "supports": "holds"}
    assert not list(validator.iter_errors({"a": claim}))
    for wrong in ({"supports": "hold"}, {"clame": "1 > 0"}, {"sentence": ""}):
        assert list(validator.iter_errors({"a": claim | wrong}))


def test_every_setting_has_a_description(generated):
    model = generated["runs"]["$defs"]["Model"]["properties"]
    assert all(setting.get("description") for setting in model.values())


def test_equal_schemas_have_equal_text(generated, own_project):
    assert {k: text(v) for k, v in generated.items()} == {
        k: text(v) for k, v in schemas(own_project).items()
    }

"""A project that grows: nothing that is finished is trained again.

A setting, a setting of a method, a scale and a paper are added to a copy of the project's config;
every identity stays. An edited default moves the identities that it concerns.
"""

from typing import Annotated

import pytest
from pydantic import create_model

from fathom.config.load import load
from fathom.config.schema import run as settings
from fathom.config.schema.section import Doc, UnhashedValue

pytestmark = pytest.mark.slow

CARD = "config/methods/latent_layers.yaml"
SETTING = """\
settings:
  skip_first:
    description: Whether the first layer has no gate.
    type: boolean
    default: {default}
    source: "a test"
    absent: false
"""


def identities(project, scale=None):
    return {name: project.spec(name, scale).identity for name in project.entries}


@pytest.fixture(scope="module")
def before(own_project):
    return identities(own_project)


@pytest.mark.parametrize(
    ("key", "part"),
    [
        ("model", settings.Model),
        ("training", settings.TrainingSettings),
        ("data", settings.DataSettings),
    ],
)
def test_a_new_setting_at_its_absent_value_moves_no_identity(own_project, key, part):
    field = (Annotated[bool, Doc("New."), UnhashedValue(False)], False)
    grown = create_model("Grown", __base__=part, added=field)
    for name in own_project.entries:
        old = getattr(own_project.run(name), key)
        new = grown.model_validate({k: getattr(old, k) for k in part.model_fields})
        assert new.identity() == old.identity()
        assert new.model_copy(update={"added": True}).identity() != old.identity()


def test_a_new_setting_of_a_card_at_its_absent_value_moves_no_identity(project, edit, before):
    edit(CARD, "settings:\n", SETTING.format(default="false"))
    assert identities(load(project)) == before


def test_a_new_setting_of_a_card_with_another_default_moves_the_runs_that_have_it(
    project, edit, before
):
    edit(CARD, "settings:\n", SETTING.format(default="true"))
    after = load(project)
    for name, identity in identities(after).items():
        latent = after.run(name).method.name == "latent_layers"
        assert (identity != before[name]) is latent, name


@pytest.mark.slow
def test_an_edited_default_of_a_card_moves_the_runs_that_take_it(project, edit, before):
    edit("config/methods/layerdrop.yaml", "default: 0.5", "default: 0.4")
    edit(CARD, "    default: 0.1\n", "    default: 0.2\n")
    after = load(project)
    moved = {name for name, identity in identities(after).items() if identity != before[name]}
    latent = {name for name in before if after.run(name).method.name == "latent_layers"}
    assert moved == latent, "runs with layer drop give p themselves"


def test_a_scale_of_other_seeds_shares_every_run_and_is_comparable(project, before):
    scale = project / "config" / "scales" / "three_seeds.yaml"
    scale.write_text("title: three seeds\nseeds: 3\n")
    after = load(project)
    assert identities(after, "three_seeds") == before
    assert all(after.comparable(name, "three_seeds") for name in after.entries)
    assert after.seeds("latent_depth/en_de_12_12", "three_seeds") == (1, 2, 3)
    assert not any(after.comparable(name, "tiny") for name in after.entries)


def test_a_row_may_name_another_papers_run(project, edit, before):
    edit(
        "config/papers/latent_depth/tables.yaml",
        "I = 10: inner_10}\n  ours: {",
        "I = 10: inner_10}\n  ours: {rows: {Base: lamgd/m2o_diverse_transformer}, ",
    )
    after = load(project)
    cells = after.cells(after.papers["latent_depth"].tables["table10"])
    assert {cell.source for cell in cells if cell.row == "Base"} == {
        "lamgd/m2o_diverse_transformer"
    }
    assert identities(after) == before

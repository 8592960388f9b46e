"""The page of all settings."""

import pytest

from docs.settings import page


@pytest.fixture(scope="module")
def lines(own_project):
    return page(own_project).split("\n")


def test_a_setting_has_its_meaning_its_default_and_its_unit(lines):
    assert (
        "- `model.width` (required; scaled by width): Width of embeddings and hidden states."
        in lines
    )
    precision = next(line for line in lines if line.startswith("- `training.precision`"))
    assert "(default fp32, half precision makes divergences of its own; " in precision


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("model.norm", "one of pre, post, lingvo, none"),
        ("model.residuals", "any of encoder, decoder"),
        ("data.direction", "one of many_to_one, one_to_many"),
        ("training.shares", "one of equal, proportional, a mapping"),
    ],
)
def test_a_choice_has_all_values_that_are_allowed(lines, path, allowed):
    line = next(line for line in lines if line.startswith(f"- `{path}` "))
    assert f"; {allowed})" in line


def test_what_papers_give_is_listed_with_its_source(lines):
    start = lines.index(next(line for line in lines if line.startswith("- `model.width`")))
    given = lines[start + 1 : start + 6]
    assert any(
        line.startswith("    - 512: ") and "latent_depth (App. C.2)" in line for line in given
    )


def test_a_schedule_lists_its_own_values_alone(lines):
    start = lines.index("## training.schedule (noam)")
    end = lines.index("## training.schedule (polynomial)")
    assert not any("latent_depth" in line for line in lines[start:end])


def test_every_setting_of_every_card_is_there(own_project, lines):
    for name, card in own_project.methods.items():
        start = lines.index(f"## method {name}")
        for key in card.about.settings:
            assert any(line.startswith(f"- `method.{key}` (default ") for line in lines[start:])

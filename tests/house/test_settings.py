"""The page of all settings."""

import pytest

from docs.settings import page


@pytest.fixture(scope="module")
def lines(own_project):
    return page(own_project).split("\n")


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("model.width", "(required; scaled by width): Width of embeddings and hidden states."),
        ("training.precision", "(default `fp32`, half precision makes divergences of its own; "),
        ("model.norm", "; one of `pre`, `post`, `lingvo`, `none`)"),
        (
            "model.residuals",
            "(default `[encoder, decoder]`, Vaswani et al. 2017; any of ",
        ),
        ("data.direction", "; one of `many_to_one`, `one_to_many`)"),
        ("training.shares", "; one of `equal`, `proportional`, a mapping)"),
    ],
)
def test_a_setting_has_its_meaning_its_default_its_unit_and_all_values_that_are_allowed(
    lines, path, part
):
    assert part in next(line for line in lines if line.startswith(f"- `{path}` "))


def test_what_papers_give_is_listed_with_its_source_below_its_own_setting_alone(lines):
    start = lines.index(next(line for line in lines if line.startswith("- `model.width`")))
    given = lines[start + 1 : start + 6]
    assert any(
        line.startswith("    - `512`: ") and "latent_depth (App. C.2)" in line for line in given
    )
    noam, polynomial = map(
        lines.index, ("## training.schedule (noam)", "## training.schedule (polynomial)")
    )
    assert not any("latent_depth" in line for line in lines[noam:polynomial])


@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("seeds", "`5`: latent_depth"),
        ("model.ffn", "`1024`: lamgd (§3.1.2); latent_depth (App. C.2)"),
        ("method.draw", "`update`: latent_depth (draw silent)"),
        ("decoding.beam", "`8`: transparent_attention (silent: the library's defaults)"),
    ],
)
def test_of_a_comment_on_several_settings_each_has_what_is_about_it(lines, path, given):
    start = next(at for at, line in enumerate(lines) if line.startswith(f"- `{path}` "))
    assert f"    - {given}" in lines[start + 1 : start + 9]


def test_every_setting_of_every_card_is_there_and_so_are_keys_that_are_no_settings(
    own_project, lines
):
    for name, card in own_project.methods.items():
        start = lines.index(f"## method {name}")
        for key in card.about.settings:
            assert any(line.startswith(f"- `method.{key}` (default ") for line in lines[start:])
    head = "\n".join(lines[: lines.index("## run")])
    assert all(f"`{key}" in head for key in ("like", "for", "layers", "method"))

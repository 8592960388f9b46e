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
        ("model.residuals", "(default `[encoder, decoder]`, Vaswani et al. 2017; any of "),
        ("training.shares", "; one of `equal`, `proportional`, a mapping)"),
    ],
)
def test_a_setting_has_its_meaning_its_default_its_unit_and_all_values_that_are_allowed(
    lines, path, part
):
    assert part in next(line for line in lines if line.startswith(f"- `{path}` "))


@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("model.ffn", "`1024`: lamgd (§3.1.2); latent_depth (App. C.2)"),
        ("method.draw", "`update`: latent_depth (draw silent)"),
        ("decoding.beam", "`8`: transparent_attention (silent: the library's defaults)"),
    ],
)
def test_below_a_setting_is_what_papers_give_with_its_place(lines, path, given):
    start = next(at for at, line in enumerate(lines) if line.startswith(f"- `{path}` "))
    assert f"    - {given}" in lines[start + 1 : start + 9]


def test_every_setting_of_every_card_is_there(own_project, lines):
    for name, card in own_project.methods.items():
        start = lines.index(f"## method {name}")
        for key in card.about.settings:
            assert any(line.startswith(f"- `method.{key}` (default ") for line in lines[start:])

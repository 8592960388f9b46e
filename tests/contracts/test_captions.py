"""Captions of the report render as Snakemake renders them, and are sound reStructuredText."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils.core import publish_parts
from jinja2 import Environment

FOLDER = Path(__file__).parents[2] / "workflow" / "report"
NAMES = sorted(path.name for path in FOLDER.glob("*.rst"))


def rendered(name, scale, caption=None):
    """Return a caption as HTML; docutils stops at the first warning."""
    params = SimpleNamespace(scale=scale)
    if caption:
        params.caption = caption
    snakemake = SimpleNamespace(
        config={"scale": scale},
        params=params,
        wildcards=SimpleNamespace(paper="a_paper", artefact="main"),
    )
    template = Environment(trim_blocks=True, lstrip_blocks=True).from_string(
        (FOLDER / name).read_text(encoding="utf-8")
    )
    settings = {"halt_level": 2, "report_level": 5}
    text = template.render(snakemake=snakemake, categories={}, files=[])
    return publish_parts(text, writer="html", settings_overrides=settings)["html_body"]


def test_every_kind_of_output_has_a_caption():
    assert NAMES == ["compare.rst", "figure.rst", "table.rst", "workflow.rst"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", ["tiny", "paper"])
def test_a_caption_names_its_scale(name, scale):
    assert f"<strong>{scale}</strong>" in rendered(name, scale)


@pytest.mark.parametrize("name", NAMES)
def test_only_a_small_scale_is_said_to_prove_nothing(name):
    assert rendered(name, "tiny") != rendered(name, "paper").replace(
        "paper</strong>", "tiny</strong>"
    )


@pytest.mark.parametrize("name", ["figure.rst", "table.rst"])
def test_the_artefacts_own_caption_stands_in_it(name):
    assert "BLEU of three models." in rendered(name, "tiny", caption="BLEU of three models.")

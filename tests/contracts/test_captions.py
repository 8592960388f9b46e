"""Captions of the report render as Snakemake renders them, and are sound reStructuredText."""

import html
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils.core import publish_parts
from jinja2 import Environment

from fathom.workflow.targets import plain_text

FOLDER = Path(__file__).parents[2] / "workflow" / "report"
NAMES = sorted(path.name for path in FOLDER.glob("*.rst"))


def rendered(name, scale, caption="", reduced=""):
    """Return a caption as HTML; docutils stops at the first warning."""
    texts = {"paper": "A Paper", "caption": caption, "reduced": reduced}
    snakemake = SimpleNamespace(
        config={"scale": scale},
        params=SimpleNamespace(
            scale=scale, **{key: plain_text(text) for key, text in texts.items()}
        ),
        wildcards=SimpleNamespace(paper="a_paper", artefact="main"),
    )
    template = Environment(trim_blocks=True, lstrip_blocks=True).from_string(
        (FOLDER / name).read_text(encoding="utf-8")
    )
    settings = {"halt_level": 2, "report_level": 5}
    text = template.render(snakemake=snakemake, categories={}, files=[])
    return publish_parts(text, writer="html", settings_overrides=settings)["html_body"]


def test_every_kind_of_output_has_a_caption():
    assert NAMES == ["claims.rst", "compare.rst", "figure.rst", "table.rst", "workflow.rst"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", ["tiny", "paper"])
def test_a_caption_names_its_scale(name, scale):
    assert f"<strong>{scale}</strong>" in rendered(name, scale)


@pytest.mark.parametrize("name", ["figure.rst", "table.rst"])
def test_the_artefacts_own_caption_is_in_it(name):
    text = "BLEU of three models."
    assert text in rendered(name, "tiny", caption=text)
    assert text in rendered(name, "tiny", reduced=text)


SIGNS = [
    ".. raw:: html\n\n   <b>x</b>",
    ".. include:: /etc/hostname",
    ".. |x| replace:: y",
    "*a* and **b** and *",
    "`a` ``b`` `",
    "|a| and |",
    "name_ and name__ and `name`_",
    "`text <javascript:alert()>`_",
    ":raw-html:`x` :math:`x`",
    "Heading\n=======",
    "text::\n\n   literal",
    "[1]_ .. _a: b",
    "{{ 7 * 7 }} {% raw %}",
    "- a\n- b",
]


@pytest.mark.parametrize("name", ["figure.rst", "table.rst"])
@pytest.mark.parametrize("text", SIGNS)
def test_every_sign_of_a_caption_is_shown(name, text):
    shown = " ".join(text.split())
    bare = rendered(name, "tiny", caption="CAPTION")
    expected = bare.replace("CAPTION", html.escape(shown, quote=False))
    assert html.unescape(rendered(name, "tiny", caption=text)) == html.unescape(expected)

"""A figure has keys of its own and those of its kind, and each finding has its line."""

import pytest

from fathom.config import figures
from fathom.config.schema.figures import KindSettings
from fathom.config.yaml_values import read
from fathom.io.errors import Findings
from tests.support.refused import prose, says


class Curves(KindSettings):
    """A kind with two keys."""

    series: str
    smooth: int = 1


TEXT = """\
figure1:
  kind: curves
  title: Gradients
  section: Analysis
  series: gradient_norm
figure2: {like: figure1, title: Smoothed gradients, smooth: 21}
"""


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    """A function that reads a figures.yaml with the kind `curves`."""
    monkeypatch.setattr(figures, "KINDS", {"curves": Curves})

    def load(text):
        (tmp_path / "figures.yaml").write_text(text, encoding="utf-8")
        file = read(tmp_path / "figures.yaml", tmp_path)
        return figures.load(file, "paper")

    return load


def test_a_figure_hands_other_keys_to_its_kind(loaded):
    second = loaded(TEXT)["figure2"]
    assert (second.kind, second.title, second.section) == (
        "curves",
        "Smoothed gradients",
        "Analysis",
    )
    assert (second.settings.series, second.settings.smooth) == ("gradient_norm", 21)
    assert second.caption == ""
    assert second.settings.drawn() == ()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "kind: curves",
            "kind: curve",
            says(
                "unknown", "kind of figure", "curve", where="yaml:2: figure1.kind", nearest="curves"
            ),
        ),
        (
            "smooth: 21",
            "smoth: 21",
            says("unknown key", "smoth", where="yaml:6: figure2.smoth", nearest="smooth"),
        ),
        (
            "smooth: 21",
            "captoin: x",
            says("unknown key", "captoin", where="yaml:6: figure2.captoin", nearest="caption"),
        ),
        (
            "smooth: 21",
            "smooth: x",
            says(
                "wrong type",
                "'x'",
                "a whole number",
                where="yaml:6: figure2.smooth",
                remedy="a whole number",
            ),
        ),
        (
            "  title: Gradients\n",
            "",
            says("no value", where="yaml:1: figure1.title", remedy=prose("add the key")),
        ),
        (
            "{like: figure1,",
            "{like: figure3,",
            says("unknown", "entry", "figure3", where="yaml:6: figure2.like", nearest="figure2"),
        ),
    ],
)
def test_a_fault_is_found_with_its_line(loaded, old, new, message):
    with pytest.raises(Findings) as raised:
        loaded(TEXT.replace(old, new, 1))
    message.check(raised.value)


def test_every_figure_of_the_papers_has_title_and_section(papers):
    drawn = [figure for paper in papers.values() for figure in paper.figures.values()]
    assert len(drawn) == 15
    assert all(figure.title and figure.section for figure in drawn)

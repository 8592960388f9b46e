"""A sheet as LaTeX: no compiler is at hand, so braces, columns and escapes are counted."""

import re

import pytest

from fathom.tables.latex import escape, page
from fathom.tables.layout import Grid, Sheet, Shown

SHEET = Sheet(
    title="Scores & sizes",
    caption="50 % of #1_a {b} ~ ^ \\ $",
    grids=(
        Grid(
            heading="",
            header=("Model", "Avg.", "bos", "Params"),
            body=(
                (Shown("6/6"), Shown("20.70†", "±0.38"), Shown("20.7"), Shown("66.3")),
                (Shown("24/24"), Shown("diverged", span=2), Shown("–", span=0), Shown("66.3")),
            ),
            footer=(Shown("test sentences"), Shown(""), Shown("438"), Shown("")),
        ),
        Grid("Gates", ("Model", "E[L]"), ((Shown("6/6"), Shown("5.88")),), note="|alpha| < 0.1"),
    ),
    notes=("nrefs:1|tok:13a",),
)


@pytest.fixture
def text():
    return page(SHEET, "tab:main")


def test_braces_and_environments_are_closed(text):
    bare = re.sub(r"\\[\\{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert re.findall(r"\\begin\{(\w+)\}", text) == ["table", "tabular", "tabular"]
    assert re.findall(r"\\end\{(\w+)\}", text) == ["tabular", "tabular", "table"]


def test_every_row_has_as_many_fields_as_the_header(text):
    for tabular in text.split(r"\toprule")[1:]:
        rows = [
            line for line in tabular.split(r"\bottomrule")[0].split("\n") if line.endswith(r"\\")
        ]
        fields = [
            line.count(" & ")
            + 1
            + sum(int(span) - 1 for span in re.findall(r"multicolumn\{(\d+)\}", line))
            for line in rows
        ]
        assert len(set(fields)) == 1


def test_an_outcome_spans_the_cells_that_it_stands_for(text):
    assert r"24/24 & \multicolumn{2}{c}{diverged} & 66.3 \\" in text


def test_no_character_of_the_text_is_a_command(text):
    assert r"50 \% of \#1\_a \{b\} \textasciitilde{} \textasciicircum{} \textbackslash{} \$" in text
    assert r"\label{tab:main}" in text
    assert r"nrefs:1\textbar{}tok:13a\par" in text


@pytest.mark.parametrize(
    ("plain", "escaped"),
    [
        ("20.7† ±1.2", r"20.7$^{\dagger}$ $\pm$1.2"),
        ("Σp, E[L]", r"$\Sigma$p, E{[}L{]}"),
        ("§4.4 – ½ ≥ 0", r"\S{}4.4 -- $\frac{1}{2}$ $\geq$ 0"),
    ],
)
def test_signs_become_commands(plain, escaped):
    assert escape(plain) == escaped

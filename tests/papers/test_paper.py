"""A paper's files fit together, and a target names one of its tables or figures."""

import pytest

from fathom.errors import FathomError
from fathom.papers.paper import find
from tests.support.papers import findings_of

PAPERS = ("latent_depth", "transparent_attention", "lamgd")


@pytest.mark.parametrize("name", PAPERS)
def test_nothing_is_wrong_with_the_projects_papers(project, known, name):
    assert findings_of(project, name, known) == []


def test_a_paper_without_tables_and_figures_is_refused_in_one_line(project, known):
    folder = project / "config/papers/lamgd"
    (folder / "tables.yaml").unlink()
    (folder / "figures.yaml").unlink()
    assert findings_of(project, "lamgd", known) == [
        "config/papers/lamgd/paper.yaml: a paper without tables and figures; "
        "add tables.yaml or figures.yaml"
    ]


def test_faults_of_several_files_are_found_at_once(project, edit, known):
    edit("config/papers/lamgd/tables.yaml", "title: Active groups", "titel: Active groups")
    edit("config/papers/lamgd/figures.yaml", "kind: heat_map", "kind: heatmap")
    found = findings_of(project, "lamgd", known)
    assert any("tables.yaml" in line and "'titel'" in line for line in found)
    assert any("figures.yaml" in line and "'heat_map'" in line for line in found)


def test_a_target_names_a_table_or_a_figure(papers):
    paper, table = find(papers, "latent_depth_table5", "table")
    assert (paper.name, table.name) == ("latent_depth", "table5")
    _, figure = find(papers, "lamgd_figure2", "figure")
    assert figure.kind == "heat_map"


@pytest.mark.parametrize(
    ("target", "verb", "message"),
    [
        ("latent_depth_tabel5", "table", "target: no table 'latent_depth_tabel5'; nearest valid"),
        ("latent_depth_figure4", "table", "latent_depth_figure4: a figure, not a table; draw it"),
    ],
)
def test_an_unknown_target_is_refused_with_the_nearest(papers, target, verb, message):
    with pytest.raises(FathomError) as raised:
        find(papers, target, verb)
    assert message in str(raised.value)

"""A paper's files fit together, and a target names one of its tables or figures."""

import re

import pytest

from fathom.config.paper import find
from fathom.io.errors import FathomError
from tests.support.papers import findings_of
from tests.support.refused import prose, says

PAPERS = ("latent_depth", "transparent_attention", "lamgd")


@pytest.mark.parametrize("name", PAPERS)
def test_nothing_is_wrong_with_the_projects_papers(project, known, name):
    assert findings_of(project, name, known) == []


def test_faults_of_several_files_are_found_at_once(project, edit, known):
    edit("config/papers/lamgd/tables.yaml", "title: Active groups", "titel: Active groups")
    edit("config/papers/lamgd/figures.yaml", "kind: heat_map", "kind: heatmap")
    found = findings_of(project, "lamgd", known)
    says("unknown key", "titel", where=re.compile(r"tables\.yaml.*")).check(found)
    says(where=re.compile(r"figures\.yaml.*"), nearest="heat_map").check(found)


def test_a_target_names_a_table_or_a_figure(papers):
    paper, table = find(papers, "latent_depth_table5", "table")
    assert (paper.name, table.name) == ("latent_depth", "table5")
    _, figure = find(papers, "lamgd_figure2", "figure")
    assert figure.kind == "heat_map"


@pytest.mark.parametrize(
    ("target", "verb", "message"),
    [
        (
            "latent_depth_tabel5",
            "table",
            says(
                "unknown",
                "table",
                "latent_depth_tabel5",
                where="target",
                nearest="latent_depth_table5",
            ),
        ),
        (
            "latent_depth_figure4",
            "table",
            says(
                "other kind",
                "figure",
                "table",
                where="latent_depth_figure4",
                remedy=prose("draw it", "figure"),
            ),
        ),
    ],
)
def test_an_unknown_target_is_refused_with_the_nearest(papers, target, verb, message):
    with pytest.raises(FathomError) as raised:
        find(papers, target, verb)
    message.check(raised.value)

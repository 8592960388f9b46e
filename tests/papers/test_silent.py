"""Every value on which a paper is silent is explained."""

import pytest
from fathom.config.families import read_runs

from fathom.config import silent
from fathom.config.yaml_values import read
from tests.support.refused import prose, says


def test_every_silent_value_of_all_papers_is_explained(papers):
    for paper in papers.values():
        artefacts = {*paper.tables, *paper.figures}
        shown = {name: artefacts for name in read_runs(paper.files["runs"])}
        assert not list(silent.findings(paper.deviations, paper.files, shown))


def test_without_entries_every_value_whose_source_says_silent_is_found(papers):
    found = list(silent.findings((), papers["latent_depth"].files, {}))
    assert len(found) > 40
    key = "training.clip"
    says("silent", where=f"families.ted.{key}", remedy=prose("name in settings", key)).check(found)


RUNS = """
families:
  base:
    model: {width: 8, heads: 2, dropout: 0.1}  # SOURCE
runs: {}
"""


@pytest.mark.parametrize(
    ("source", "open_values"),
    [
        ("§3", []),
        ("silent; as elsewhere", ["width", "heads", "dropout"]),
        ("§3; dropout silent", ["dropout"]),
        ("heads and dropout silent; §3", ["heads", "dropout"]),
        ("width: §3; silent: a library's defaults", ["heads", "dropout"]),
        ("§3; places of it silent", ["width", "heads", "dropout"]),
    ],
)
def test_a_source_says_which_values_of_its_line_are_silent(tmp_path, source, open_values):
    (tmp_path / "runs.yaml").write_text(RUNS.replace("SOURCE", source), encoding="utf-8")
    runs = read(tmp_path / "runs.yaml", tmp_path)
    found = list(silent.findings((), {"runs": runs}, {}))
    assert [finding.where.rpartition(".")[2] for finding in found] == open_values


def test_how_a_paper_scores_is_explained_as_well(papers):
    file = {"paper": papers["lamgd"].files["paper"]}
    others = [entry for entry in papers["lamgd"].deviations if entry.name != "significance"]
    found = list(silent.findings(others, file, {}))
    assert [finding.where.rpartition(" ")[2] for finding in found] == [
        "marks.bold.draws",
        "marks.bold.share",
    ]

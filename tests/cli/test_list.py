"""`fathom list`: the names that other verbs take, and what is not built."""

import json

import pytest

from tests.support.own_project import own_project
from tests.support.planned import NOT_BUILT, REASON, planned
from tests.support.refused import says
from tests.support.specs import ROOT


def test_without_a_kind_artefacts_are_listed(project, call):
    answer = call("list")
    assert answer.code == 0
    assert answer.out == call("list", "artefacts").out
    assert [line.split()[0] for line in answer.lines] == ["sample_table1", "sample_figure1"]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("papers", "sample"),
        ("runs", "sample/gated_2_2"),
        ("artefacts", "sample_table1"),
        ("tables", "sample_table1"),
        ("figures", "sample_figure1"),
        ("methods", "layerdrop"),
        ("datasets", "small"),
        ("sources", "django"),
        ("scales", "small"),
    ],
)
def test_each_kind_has_its_names_also_as_json(project, call, kind, name):
    names = [line.split()[0] for line in call("list", kind).lines]
    assert name in names
    assert list(json.loads(call("list", kind, "--json").out)) == names


def test_tables_and_figures_are_the_artefacts(project, call):
    both = [*call("list", "tables").lines, *call("list", "figures").lines]
    assert [line.split()[0] for line in both] == ["sample_table1", "sample_figure1"]


def test_an_unknown_kind_is_refused_with_the_nearest(project, call):
    line = call("list", "tabels").one_line
    says("unknown", "kind", "tabels", nearest="tables").check(line)


@pytest.mark.slow
def test_what_is_trained_and_drawn_is_said(own, summarised, call):
    folder = own(summarised)
    runs = json.loads(call("list", "runs", "--json").out)
    assert runs == {name: {"states": {"1": "finished"}, "not_built": None} for name in runs}
    assert call("list", "runs").out.count("seeds 1  [finished]\n") == len(runs)
    assert "[2 of 2 trainings]" in call("list", "tables").out
    assert call("table", "sample_table1").code == 0
    assert "[drawn]" in call("list", "tables").out
    assert json.loads(call("list", "tables", "--json").out)["sample_table1"] == {
        "title": "A sample table",
        "drawn": True,
        "trainings": 2,
        "ended": 2,
        "not_built": None,
    }
    assert "[" not in call("list", "tables", "--results", str(folder / "elsewhere")).out


@pytest.mark.slow
def test_what_is_not_built_has_its_reason(monkeypatch, call):
    monkeypatch.setattr("fathom.cli.list.open_project", lambda: planned(own_project()))
    monkeypatch.chdir(ROOT)
    paper = ("--json", "--scale", "paper")
    runs = json.loads(call("list", "runs", *paper).out)
    assert REASON in runs["latent_depth/en_de_dlcl_36_36"]["not_built"]
    assert runs["latent_depth/o2m_diverse_12_12"]["not_built"] is None
    artefacts = json.loads(call("list", "artefacts", *paper).out)
    assert REASON in artefacts[NOT_BUILT]["not_built"]
    assert artefacts["latent_depth_table4"]["not_built"] is None
    line = next(line for line in call("list", *paper[1:]).lines if line.startswith(f"{NOT_BUILT} "))
    assert f"[not built: {artefacts[NOT_BUILT]['not_built']}]" in line

"""`fathom list`: the names that other verbs take."""

import json

import pytest

from fathom.project.load import load
from tests.cli.small_project import ROOT


def test_without_a_kind_runs_are_listed(project, call):
    answer = call("list")
    assert answer.code == 0
    assert answer.out == call("list", "runs").out
    assert answer.out.removesuffix("\n").split("\n") == [*load(ROOT).paper_of]


@pytest.mark.parametrize(
    ("kind", "one"),
    [
        ("papers", "latent_depth"),
        ("runs", "ll_both_24_24"),
        ("artefacts", "latent_depth_table5"),
        ("methods", "layerdrop"),
        ("datasets", "ted8_diverse"),
        ("sources", "django"),
        ("scales", "tiny"),
    ],
)
def test_each_kind_has_its_names_also_as_json(project, call, kind, one):
    names = call("list", kind).out.removesuffix("\n").split("\n")
    assert one in names
    assert json.loads(call("list", kind, "--json").out) == names


def test_every_artefact_is_one_that_a_verb_draws(project, call):
    drawn = 0
    for name in call("list", "artefacts").out.split():
        answers = [call(verb, name) for verb in ("table", "figure")]
        drawn += sum("--partial" in answer.one_line for answer in answers)
    assert drawn == len(call("list", "artefacts").out.split())

"""`fathom where`: the function and the test of an equation."""

import json

import pytest

from tests.support.papers import PAPERS
from tests.support.specs import ROOT


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_an_equation_is_found_by_its_number(call):
    answer = call("where", "latent_depth", "5")
    assert answer.code == 0
    (line,) = answer.out.removesuffix("\n").split("\n")
    assert line.startswith("[latent_depth Eq. 5] Gumbel-softmax sample of a layer's gate: lib/")
    assert "lib/fathom/methods/latent_layers/" in line
    assert "tested at tests/methods/test_latent_" in line


def test_an_algorithm_is_found_as_well(call):
    assert call("where", "latent_depth", "Alg. 2").out.startswith("[latent_depth Alg. 2] ")


def test_what_is_not_computed_says_why(call):
    assert "not computed: intractable for many layers" in call("where", "latent_depth", "3").out


@pytest.mark.slow
def test_without_a_paper_all_are_listed(call):
    lines = call("where").out.removesuffix("\n").split("\n")
    assert set(call("where", "latent_depth").out.removesuffix("\n").split("\n")) <= set(lines)
    assert {line.split()[0][1:] for line in lines} == {*PAPERS}


def test_json_has_files_and_lines(call):
    (entry,) = json.loads(call("where", "latent_depth", "5", "--json").out)
    (function,) = entry["functions"]
    text = (ROOT / function["file"]).read_text(encoding="utf-8").split("\n")
    assert text[function["line"] - 1].startswith(f"def {function['name']}(")
    assert entry["tests"]

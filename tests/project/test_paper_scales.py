"""What scales say of one paper alone: keys of the scale's file, with the place in the paper's."""

import pytest
from fathom.config.paper_scales import with_papers

from fathom.config.yaml_values import read
from fathom.io.errors import FathomError
from tests.support.refused import says

SCALES = {
    "small": "title: small\nrules:\n  - set: {model.dropout: 0.1}\n",
    "long": "title: long\nlike: small\nrules:\n  - set: {model.dropout: 0.2}\n",
    "full": "title: full\n",
}
PAPER = """\
small:
  updates: {main: 3}  # measured
  rules:
    - set: {training.clip: 1.0}
    - when: {run: [one, two], method.name: static}
      set: {training.clip: 2.0}
long:
  updates: {main: 9}
"""


@pytest.fixture
def merged(tmp_path):
    def files(paper=PAPER, scales=SCALES):
        for name, text in scales.items():
            (tmp_path / f"{name}.yaml").write_text(text)
        (tmp_path / "scales.yaml").write_text(paper)
        of_scales = {name: read(tmp_path / f"{name}.yaml", tmp_path) for name in scales}
        return with_papers(of_scales, {"mine": read(tmp_path / "scales.yaml", tmp_path)})

    return files


def test_a_papers_rules_come_after_the_scales_and_ask_for_the_paper(merged):
    files, findings = merged()
    assert findings == []
    assert files["small"].value["rules"] == [
        {"set": {"model.dropout": 0.1}},
        {"when": {"paper": "mine"}, "set": {"training.clip": 1.0}},
        {
            "when": {"paper": "mine", "run": ["mine/one", "mine/two"], "method.name": "static"},
            "set": {"training.clip": 2.0},
        },
    ]


def test_a_scale_on_top_of_another_has_the_papers_rules_for_both(merged):
    value = merged()[0]["long"].value
    assert value["updates"] == {"mine": {"main": 9}}
    assert [*value["rules"][-1]["set"]] == ["model.dropout"]
    assert len(value["rules"]) == 4


def test_places_and_sources_are_those_of_the_papers_file(merged):
    files, _ = merged()
    assert files["small"].where(("updates", "mine", "main")) == (
        "scales.yaml:2: small.updates.main"
    )
    assert files["small"].source(("updates", "mine", "main")) == "measured"
    assert files["long"].where(("rules", 2, "set", "training.clip")) == (
        "scales.yaml:6: small.rules.1.set.training.clip"
    )
    assert files["small"].where(("seeds",)) == "small.yaml:1: seeds"


def test_a_scale_of_which_no_paper_says_anything_is_its_own_file(merged):
    assert merged()[0]["full"].value == {"title": "full"}


@pytest.mark.parametrize(
    ("paper", "message"),
    [
        ("smal: {}\n", says("unknown", "scale", "smal", where="scales.yaml:1: smal")),
        ("small: {seeds: 3}\n", says("unknown key", "seeds", where="scales.yaml:1: small.seeds")),
        ("small: 3\n", says("wrong type", "3", where="scales.yaml:1: small")),
        ("small: {rules: [{when: {run: a}}]}\n", says("no value", where="small.rules.0.set")),
    ],
)
def test_a_mistake_is_one_finding_and_the_scale_stays(merged, paper, message):
    files, findings = merged(paper)
    message.check([str(finding) for finding in findings])
    assert len(findings) == 1
    assert files["small"].value == {"title": "small", "rules": [{"set": {"model.dropout": 0.1}}]}


def test_a_scale_like_one_that_does_not_exist_is_left_out(merged):
    files, findings = merged(scales=SCALES | {"long": "title: long\nlike: smal\n"})
    assert [*files] == ["small", "full"]
    assert all(isinstance(finding, FathomError) for finding in findings)

"""A scale's file against the runs: what is wrong is one finding."""

import pytest

from fathom.project.load import load
from tests.support.refused import prose, refused, says
from tests.support.small_project import write_config

SCALE = "config/scales/small.yaml"


def add(folder, text):
    with (folder / SCALE).open("a") as scale:
        scale.write(text)


def test_a_run_without_a_group_adds_no_valid_name(tmp_path):
    runs = write_config(tmp_path) / "config/papers/sample/runs.yaml"
    runs.write_text(runs.read_text().replace("group: main", "seeds: 1"))
    add(tmp_path, "updates: {sample: {main: 3}}\n")
    with refused("unknown", "group", "main", remedy=prose("valid names", "none")):
        load(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "rules:\n  - {when: {like: bsae}, set: {training.clip: 2.0}}\n",
            says("no run has", "like", "bsae", where="rules.0.when.like", nearest="base"),
        ),
        (
            "rules:\n  - {when: {run: sample/static_2_2, method.name: latent_layers},"
            " set: {training.clip: 2.0}}\n",
            says("unused rule", where="rules.0.when"),
        ),
        (
            "datasets: {smal: small}\n",
            says("unknown", "data set", "smal", where="datasets.smal", nearest="small"),
        ),
    ],
)
def test_a_name_that_does_not_exist_is_one_finding(tmp_path, text, message):
    add(write_config(tmp_path), text)
    with refused() as caught:
        load(tmp_path)
    (finding,) = caught.value.findings
    message.check(finding)

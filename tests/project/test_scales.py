"""A scale's file against the runs: what is wrong is one finding."""

import pytest

from fathom.config.load import load
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


def test_a_rebuilt_text_makes_other_runs_of_those_on_it_alone(own_project):
    """Its cells are not judged; all other runs share the results of the paper's scale."""
    for run, judged in (("en_de_12_12", False), ("m2o_diverse_12_12", True)):
        name = f"latent_depth/{run}"
        assert own_project.comparable(name, "paper_rebuilt") == judged
        specs = [own_project.spec(name, scale) for scale in ("paper", "paper_rebuilt")]
        assert (specs[0].identity == specs[1].identity) == judged
        assert specs[0].data.tasks == specs[1].data.tasks


def test_a_scale_that_is_like_another_one_changes_only_what_it_gives(own_project):
    """tiny_long trains one group longer; all other runs share the results of tiny."""
    for run, updates in (("m2o_diverse_12_12", 1200), ("en_de_12_12", 200)):
        name = f"latent_depth/{run}"
        short, long = (own_project.spec(name, scale) for scale in ("tiny", "tiny_long"))
        assert long.training.updates == updates
        assert long.model == short.model
        assert long.data == short.data
        assert (short.identity == long.identity) == (run == "en_de_12_12")


def test_a_wrong_rule_of_a_scale_is_one_finding_also_where_others_are_like_it(tmp_path):
    write_config(tmp_path)
    (tmp_path / "config/scales/larger.yaml").write_text("title: larger\nlike: small\n")
    add(tmp_path, "datasets: {smal: small}\n")
    with refused() as caught:
        load(tmp_path)
    (finding,) = caught.value.findings
    says("unknown", "data set", "smal", where="datasets.smal", nearest="small").check(finding)


def test_a_scale_like_one_that_does_not_exist_is_one_finding(tmp_path):
    write_config(tmp_path)
    (tmp_path / "config/scales/larger.yaml").write_text("title: larger\nlike: smal\n")
    with refused("unknown", "file", "smal", where="larger.yaml:2: like", nearest="small"):
        load(tmp_path)

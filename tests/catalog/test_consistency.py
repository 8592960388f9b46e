import pytest

from fathom.catalog.load import load
from fathom.records.errors import Findings

RUNS = "config/papers/latent_depth/runs.yaml"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (
            RUNS,
            "dataset: ted8_diverse",
            "dataset: ted8_divers",
            "data.dataset: no data set 'ted8_divers'; nearest valid name: 'ted8_diverse'",
        ),
        (
            RUNS,
            "name: layerdrop",
            "name: layerdrp",
            "no method 'layerdrp'; nearest valid name: 'layerdrop'",
        ),
        (
            RUNS,
            "settings: {target_depth: 12,",
            "settings: {target_dept: 12,",
            "no setting 'target_dept'; nearest valid name: 'target_depth'",
        ),
        (
            RUNS,
            "like: static_24_24",
            "like: static_24_42",
            "'static_24_42' cannot be taken as a model",
        ),
        (
            RUNS,
            "  model.width: ",
            "  model.widht: ",
            "no default 'model.widht'; nearest valid name: 'model.width'",
        ),
        (
            "config/scales/tiny.yaml",
            "phi_learning_rate_multiplier",
            "phi_rate_multiplier",
            "no card has a setting 'phi_rate_multiplier'",
        ),
        (
            "config/scales/tiny.yaml",
            "ted8_diverse: po_wheels_diverse",
            "ted8_diverse: po_wheel_diverse",
            "datasets.ted8_diverse: no data set 'po_wheel_diverse'",
        ),
        (
            "config/scales/tiny.yaml",
            "    warmup: 100",
            "    warm_up: 100",
            "unknown key 'warm_up'; nearest valid name: 'warmup'",
        ),
        (
            "config/scales/tiny.yaml",
            "run: static_12_12",
            "run: static_21_12",
            "anchor.run: no run 'static_21_12'",
        ),
        ("config/config.yaml", "scale: tiny", "scale: tony", "no scale 'tony'"),
    ],
)
def test_a_name_that_exists_nowhere_is_told_with_its_file_and_the_nearest(
    project, edit, file, old, new, message
):
    edit(file, old, new)
    with pytest.raises(Findings) as caught:
        load(project)
    lines = [line for line in str(caught.value).split("\n") if message in line]
    assert lines, str(caught.value)
    assert lines[0].startswith("config/")


def test_a_run_name_may_stand_in_one_paper_only(project):
    papers = project / "config" / "papers"
    other = papers / "other"
    other.mkdir()
    text = (papers / "latent_depth" / "runs.yaml").read_text()
    (other / "runs.yaml").write_text(text)
    with pytest.raises(Findings, match="the run's name is taken by paper"):
        load(project)

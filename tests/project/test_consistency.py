import shutil

import pytest

from fathom.errors import Findings
from fathom.project.load import load

RUN = "  static_12_12: "
PLAIN = RUN + "{}"
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
            "warmup: 100",
            "warm_up: 100",
            "unknown key 'warm_up'; nearest valid name: 'warmup'",
        ),
        (
            "config/scales/tiny.yaml",
            "run: static_12_12",
            "run: static_21_12",
            "anchor.run: no run 'static_21_12'",
        ),
        ("config/config.yaml", "scale: tiny", "scale: tony", "no scale 'tony'"),
        (
            "config/methods/latent_layers.yaml",
            "paper: latent_depth",
            "paper: latent_dept",
            "paper: no paper 'latent_dept'; nearest valid name: 'latent_depth'",
        ),
        (
            "config/methods/latent_layers.yaml",
            "equations: [Eq. 2,",
            "equations: [Eq. 22,",
            "equations: no equation 'Eq. 22'; nearest valid name: 'Eq. 2'",
        ),
        (
            "config/papers/latent_depth/paper.yaml",
            "value: scores.bos",
            "value: scores.boss",
            "columns.bos.value: no task 'boss'; nearest valid name: 'bos'",
        ),
        (
            "config/papers/latent_depth/paper.yaml",
            "mean(scores.hard.*)",
            "mean(scores.hart.*)",
            "columns.avg_hard.value: no gates 'hart'; nearest valid name: 'hard'",
        ),
        (
            "config/papers/latent_depth/paper.yaml",
            "parameters.total",
            "parameters.totl",
            "columns.params.value: no manifest has 'totl'; nearest valid name: 'total'",
        ),
        (
            "config/papers/latent_depth/paper.yaml",
            "depth.encoder.sum_p",
            "depth.encoder.sum_q",
            "no manifest has 'sum_q'; nearest valid name: 'sum_p'",
        ),
        (
            "config/papers/latent_depth/paper.yaml",
            "reported: table5.csv",
            "reported: tabel5.csv",
            "reported: no file 'tabel5.csv'; nearest valid name: 'table5.csv'",
        ),
        (
            RUNS,
            ", warmup: 8000",
            "",
            "defaults.training.schedule.warmup: no value is given",
        ),
        (
            RUNS,
            PLAIN,
            RUN + "{training: {start: {run: static_6_7, freeze: true}}}",
            "start.run: 'static_6_7' cannot be started from; nearest valid name: 'static_6_6'",
        ),
        (RUNS, "name: layerdrop,", "name: layerdrop, preset: x,", "'layerdrop' has no preset 'x'"),
        (RUNS, "norm: pre\n", "norm: lingo\n", "defaults.model.norm: 'lingo'"),
        (
            RUNS,
            "warmup: 8000",
            "warmup: 8000, power: 1.0",
            "schedule.power: 'inverse_sqrt' has no 'power'",
        ),
        (
            RUNS,
            "name: inverse_sqrt",
            "name: polynomial",
            "defaults.training.schedule.end: no value is given",
        ),
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
    shutil.copytree(papers / "latent_depth", other)
    with pytest.raises(Findings, match="the run's name is taken by paper"):
        load(project)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (RUNS, "dataset: ted8_diverse", "dataset: ted8_divers"),
        (RUNS, ", warmup: 8000", ""),
        ("config/scales/tiny.yaml", "po_wheels_diverse", "po_wheel_diverse"),
        ("config/methods/latent_layers.yaml", "default: per_task", "default: pertask"),
    ],
)
def test_a_mistake_behind_many_runs_is_told_once(project, edit, file, old, new):
    edit(file, old, new)
    with pytest.raises(Findings) as caught:
        load(project)
    lines = str(caught.value).split("\n")
    assert len(lines) == len(set(lines))


def test_a_source_that_is_gone_is_told_at_the_data_sets_that_need_it(project):
    """It ended in a KeyError and its traceback."""
    (project / "config" / "sources" / "django.yaml").unlink()
    with pytest.raises(Findings) as caught:
        load(project)
    lines = str(caught.value).split("\n")
    assert any("po_wheels_diverse.yaml" in line and "no source 'django'" in line for line in lines)
    assert all("no source 'django'" in line for line in lines)


def test_a_width_that_a_scale_cuts_to_no_multiple_of_the_heads_is_told_there(project, edit):
    edit("config/scales/tiny.yaml", "width: 0.125", "width: 0.01")
    with pytest.raises(Findings, match=r"config/scales/tiny\.yaml:5: width: 6 is no multiple of 4"):
        load(project)

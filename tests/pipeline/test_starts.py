"""What a user types, and what is said to a mistake: no training is needed for it."""

import re

import pytest

from tests.pipeline.conftest import copy_of_the_project

pytestmark = pytest.mark.pipeline

TABLE = "latent_depth_table5"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """The project as cloned."""
    return copy_of_the_project(tmp_path_factory.mktemp("fresh"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("latent_depth_tabel5",), f"nearest valid name: '{TABLE}'"),
        (("all", "--config", "scale=papr"), "no scale 'papr'; nearest valid name: 'paper'"),
        (("all", "--config", "scal=paper"), "unknown key 'scal'; nearest valid name: 'scale'"),
        ((f"{TABLE}_row", "--config", "row=12/13"), "no row '12/13'; nearest valid name: '12/12'"),
        ((f"{TABLE}_row",), "add --config row="),
    ],
)
def test_a_mistake_ends_in_one_message_with_the_nearest_name(fresh, words, message):
    said = fresh.run("snakemake", "-n", *words, code=1)
    assert message in said
    assert "Traceback" not in said


def test_a_broken_config_file_is_told_with_file_line_and_key(fresh):
    scale = fresh.folder / "config/scales/tiny.yaml"
    text = scale.read_text(encoding="utf-8")
    scale.write_text(text.replace("5.0e-3", "5e-3"), encoding="utf-8")
    said = fresh.run("snakemake", "-n", code=1)
    scale.write_text(text, encoding="utf-8")
    assert "config/scales/tiny.yaml:" in said
    assert "YAML reads 5e-3 as text; write 5.0e-3" in said
    assert "Traceback" not in said


def test_a_bare_start_trains_at_tiny_scale(fresh):
    said = fresh.run("snakemake", "-n")
    assert "fathom: scale tiny" in said
    assert re.search(r"train_run +10\n", said)


@pytest.mark.parametrize("words", [("all",), (TABLE,), ("compare",), ("latent_depth",)])
def test_every_target_can_be_planned_on_a_cluster_without_one(fresh, words):
    said = fresh.run("snakemake", "--profile", "slurm", "-n", *words)
    assert "fathom: scale tiny" in said


def test_a_table_at_paper_scale_is_planned_offline_with_its_ten_trainings(fresh):
    said = fresh.run("snakemake", "-n", TABLE, "--config", "scale=paper")
    assert "0 of 10 trainings found, 10 to train" in said
    assert "fathom: scale paper" in said


def test_one_table_trains_nothing_else_and_one_row_one_run(fresh):
    said = fresh.run("snakemake", "-n", f"{TABLE}_row", "--config", "row=12/12")
    assert "0 of 1 trainings found, 1 to train" in said


def test_targets_are_listed(fresh):
    said = fresh.run("snakemake", "--list-target-rules")
    for name in ("all", "compare", "latent_depth", TABLE, "latent_depth_figure4"):
        assert name in said.split()

"""A sweep: a study with a run for each combination of values, which grows by its file."""

import csv
import re

import pytest
from PIL import Image

from fathom.artefacts.check import findings
from fathom.config.load import load
from fathom.config.paths import Paths
from fathom.config.tables import setting_numbers
from fathom.config.yaml_values import from_plain
from fathom.io.errors import refuse
from fathom.io.records import write_record
from fathom.results.recipe import RECIPE
from fathom.workflow.start import found
from fathom.workflow.targets import Targets
from tests.config.conftest import PROJECT
from tests.support.small_project import RUN
from tests.support.specs import ROOT

SWEEP = """\
title: Sweep
seeds: {seeds}
runs:
  unchanged: {{like: {like}}}
  x_<x>_dropout_<p>: {{for: {{x: {values}, p: {dropout}}}, like: unchanged, {key}, model: {{dropout: <p>}}}}
tables:
  table1: {{against: unchanged, columns: [params, avg, tasks], rows: {{unchanged: unchanged, "x <x>, dropout <p>": x_<x>_dropout_<p>}}}}
figures:
  figure1: {{kind: heat_map, table: table1, value: avg, rows: x, columns: dropout, numbers: true, cells: {{"<x>, <p>": x_<x>_dropout_<p>}}}}
"""  # noqa: E501


@pytest.fixture
def made(tmp_path):
    """A function that writes a study and returns its targets, after all checks."""

    def write(text, root=PROJECT, scale="small", **switches):
        (tmp_path / "sweep").mkdir(exist_ok=True)
        (tmp_path / "sweep" / "study.yaml").write_text(text, encoding="utf-8")
        layer = from_plain({"papers": [str(tmp_path / "sweep")], **switches}, "--config")
        project = load(root, layers=[layer])
        refuse(findings(project))
        return Targets(project, scale, Paths(tmp_path / "results", scale))

    return write


def test_the_six_lines_of_the_page_train_each_combination_beside_the_unchanged_run(made):
    page = (ROOT / "docs" / "study.md").read_text(encoding="utf-8")
    section = page.partition("\n## A sweep\n")[2]
    text = re.findall(r"^```yaml\n(.+?)^```$", section, re.MULTILINE | re.DOTALL)[0]
    assert text.count("\n") == 6
    targets, like = made(text, ROOT, "tiny", seeds="1-2"), "latent_depth/m2o_diverse_ll_d_12_24"
    project = targets.project
    values = {
        f"sweep/depth_weight_{weight}_dropout_0_{tenth}".replace(".", "_"): (weight, tenth / 10)
        for weight in (0.1, 0.3, 1)
        for tenth in (1, 3)
    }
    assert set(project.runs_of("sweep")) == {"sweep/unchanged", *values}
    # One of the values is the run's own at this scale.
    assert "0 of 12 trainings found, 12 to train" in found(targets, "sweep")[0]
    assert project.spec("sweep/unchanged", "tiny").name == like
    base = setting_numbers(project.run(like, "tiny"))
    for name, (weight, dropout) in values.items():
        changed = {"method.depth_weight": weight, "model.dropout": dropout}
        assert setting_numbers(project.run(name, "tiny")) == base | changed
    table = project.papers["sweep"].tables["table1"]
    rows = {cell.row: cell.source for cell in project.cells(table)}
    assert table.settings.against == "unchanged"
    assert rows == {"unchanged": "sweep/unchanged"} | {
        f"λ = {weight}, dropout {dropout}": name for name, (weight, dropout) in values.items()
    }


def test_a_value_that_is_added_to_the_file_trains_its_own_runs_alone(made):
    key = "method: {kl_weight: <x>}"
    text = SWEEP.format(like="deep/uneven", seeds=2, values=[0.1, 3], dropout=[0.2, 0.4], key=key)
    targets = made(text)
    for name in targets.names_of("sweep"):
        for seed in targets.seeds(name):
            path = targets.paths.training(targets.spec(name), seed)
            write_record(path, {"recipe": RECIPE["training"]})
    assert "10 of 10 trainings found" in found(targets, "sweep")[0]
    targets = made(text.replace("[0.1, 3]", "[0.1, 3, 5]"))
    assert "10 of 14 trainings found, 4 to train" in found(targets, "sweep")[0]
    names = targets.names_of("sweep")
    paths = {name: targets.paths.training(targets.spec(name), 1) for name in names}
    missing = [name for name in names if not paths[name].exists()]
    assert [name.partition("_dropout")[0] for name in missing] == 2 * ["sweep/x_5"]


def rows_of(name):
    """Return the lines of a csv in the folder of the sweep, by what places them."""
    with open(f"results/small/sweep/{name}.csv", encoding="utf-8", newline="") as stream:
        return {(line["row"], line["column"]): line for line in csv.DictReader(stream)}


@pytest.mark.slow
def test_two_settings_are_trained_and_drawn_as_a_map_and_the_runs_own_values_once(
    encoded, own, call
):
    folder = own(encoded)
    key = "training: {updates: <x>}"
    text = SWEEP.format(like=f"sample/{RUN}", seeds=1, values=[4, 40], dropout=[0.1, 0.3], key=key)
    (folder / "sweep").mkdir()
    (folder / "sweep" / "study.yaml").write_text(text, encoding="utf-8")
    with open("config/config.yaml", "a", encoding="utf-8") as stream:
        stream.write("papers: [sweep]\n")
    swept = {(n, p): f"sweep/x_{n}_dropout_0_{p}" for p in (1, 3) for n in (4, 40)}
    for run in (f"sample/{RUN}", *swept.values()):
        for verb in ("train", "translate", "score"):
            assert call(verb, run).code == 0
    # Its values are those of dropout 0.3 and 4 updates.
    assert len([*folder.glob("results/runs/*/*/1/training.json")]) == 4
    for verb, name in (("table", "table1"), ("figure", "figure1")):
        assert call(verb, f"sweep_{name}").code == 0
    table, fields = rows_of("table1"), rows_of("figure1")
    values = {}
    for (n, p), run in swept.items():
        cell, field = table[f"x {n}, dropout 0.{p}", "avg"], fields[str(n), f"0.{p}"]
        assert field["run"] == run
        assert float(field["value"]) == float(cell["value"])
        values[n, p] = float(field["value"])
    same = table["x 4, dropout 0.3", "avg"]
    assert float(same["value"]) == float(table["unchanged", "avg"]["value"]) == values[4, 3]
    # It is no comparison: Holm's correction is for the three others.
    assert (same["difference"], same["p_holm"]) == ("", "")
    others = [table[f"x {n}, dropout 0.{p}", "avg"] for n, p in ((4, 1), (40, 1), (40, 3))]
    least = min(float(line["p"]) for line in others)
    assert min(float(line["p_holm"]) for line in others) == pytest.approx(min(3 * least, 1))
    assert len({*values.values()}) > 1
    with Image.open("results/small/sweep/figure1.png") as picture:
        assert len(picture.getcolors(1 << 20)) > 10

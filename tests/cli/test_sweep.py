"""`fathom sweep`: a study of a run with other values of some settings, which grows by its file."""

import csv

import pytest
from PIL import Image

from fathom.artefacts.check import findings
from fathom.cli.verbs import PROJECT_VARIABLE
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
from tests.support.refused import says
from tests.support.small_project import RUN

SET = ("--set", "method.kl_weight=0.1,3", "--set", "model.dropout=0.2,0.4")


@pytest.fixture
def sweep(call, tmp_path, monkeypatch):
    """A function that writes a sweep of a run in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(PROJECT_VARIABLE, str(PROJECT))
    return lambda *words, run="deep/uneven": call("sweep", run, *words)


@pytest.fixture
def made(tmp_path):
    """A function that returns the targets of the study that is here, after all checks."""

    def read(seeds="1-2"):
        layer = from_plain({"papers": [str(tmp_path / "sweep")], "seeds": seeds}, "--config")
        project = load(PROJECT, layers=[layer])
        refuse(findings(project))
        return Targets(project, "small", Paths(tmp_path / "results", "small"))

    return read


def test_a_run_for_each_combination_is_compared_with_the_unchanged_run(sweep, made):
    answer = sweep(*SET, "--seeds", "2")
    assert answer.code == 0, answer
    assert "sweep: sweep/study.yaml, config/config.yaml\n" in answer.err
    assert "next: snakemake sweep --config papers=sweep seeds=2\n" in answer.err
    targets = made()
    assert "0 of 10 trainings found, 10 to train" in found(targets, "sweep")[0]
    table = targets.project.papers["sweep"].tables["table1"]
    assert table.settings.against == "unchanged"
    # Trained as the run itself, with the seeds of the study.
    assert targets.spec("sweep/unchanged").name == "deep/uneven"
    assert made(None).seeds("sweep/unchanged") == (1, 2)
    rows = {cell.row: cell.source for cell in targets.project.cells(table)}
    assert rows == {"unchanged": "sweep/unchanged"} | {
        f"kl_weight {weight}, dropout {dropout}": f"sweep/kl_weight_{name}_dropout_0_{tenth}"
        for weight, name in ((0.1, "0_1"), (3, "3"))
        for dropout, tenth in ((0.2, 2), (0.4, 4))
    }
    figures = targets.project.papers["sweep"].figures
    assert set(figures["figure1"].settings.lines) == set(rows)
    assert figures["figure2"].settings.cells == {
        f"{weight}, {dropout}": rows[f"kl_weight {weight}, dropout {dropout}"].partition("/")[2]
        for weight in (0.1, 3)
        for dropout in (0.2, 0.4)
    }
    run = targets.project.run("sweep/kl_weight_0_1_dropout_0_4", "small")
    assert (run.method.kl_weight, run.model.dropout) == (0.1, 0.4)
    assert run.training.updates == targets.project.run("deep/uneven", "small").training.updates


@pytest.mark.parametrize(
    ("key", "values"), [("training.updates", (150, 600)), ("model.width", (64, 128))]
)
def test_a_swept_value_is_the_one_that_was_asked_for_and_the_rest_is_the_scales(
    sweep, made, key, values
):
    assert sweep("--set", f"{key}={values[0]},{values[1]}").code == 0
    project = made().project
    runs = [f"sweep/{key.rpartition('.')[2]}_{value}" for value in values]
    base, *swept = (setting_numbers(project.run(run, "small")) for run in ("deep/uneven", *runs))
    assert swept == [base | {key: value, "seeds": 3} for value in values]


def test_a_value_that_is_added_to_the_file_trains_its_own_runs_alone(sweep, made, tmp_path):
    assert sweep(*SET).code == 0
    targets = made()
    for name in targets.names_of("sweep"):
        for seed in targets.seeds(name):
            path = targets.paths.training(targets.spec(name), seed)
            write_record(path, {"recipe": RECIPE["training"]})
    assert "10 of 10 trainings found" in found(targets, "sweep")[0]
    file = tmp_path / "sweep" / "study.yaml"
    file.write_text(file.read_text().replace("[0.1,3]", "[0.1,3,5]"))
    targets = made()
    assert "10 of 14 trainings found, 4 to train" in found(targets, "sweep")[0]
    names = targets.names_of("sweep")
    paths = {name: targets.paths.training(targets.spec(name), 1) for name in names}
    missing = [name for name in names if not paths[name].exists()]
    assert [name.partition("_dropout")[0] for name in missing] == 2 * ["sweep/kl_weight_5"]


def rows_of(name):
    """Return the lines of a csv in the folder of the sweep, by what places them."""
    with open(f"results/small/sweep/{name}.csv", encoding="utf-8", newline="") as stream:
        return {(line["row"], line["column"]): line for line in csv.DictReader(stream)}


@pytest.mark.slow
def test_two_settings_are_trained_and_drawn_as_a_map_and_the_runs_own_values_once(
    encoded, own, call
):
    folder = own(encoded)
    keys = ("--set", "model.dropout=0.1,0.3", "--set", "training.updates=4,40")
    assert f"is sample/{RUN} at scale small" in call("sweep", RUN, *keys, "--seeds", "1").err
    with open("config/config.yaml", "a", encoding="utf-8") as stream:
        stream.write("papers: [sweep]\n")
    swept = {(p, n): f"sweep/dropout_0_{p}_updates_{n}" for p in (1, 3) for n in (4, 40)}
    for run in (f"sample/{RUN}", *swept.values()):
        for verb in ("train", "translate", "score"):
            assert call(verb, run).code == 0
    # Its values are those of dropout 0.3 and 4 updates.
    assert len([*folder.glob("results/runs/*/*/1/training.json")]) == 4
    for verb, name in (("table", "table1"), ("figure", "figure2")):
        assert call(verb, f"sweep_{name}").code == 0
    table, fields = rows_of("table1"), rows_of("figure2")
    values = {}
    for (p, n), run in swept.items():
        cell, field = table[f"dropout 0.{p}, updates {n}", "avg"], fields[f"0.{p}", str(n)]
        assert field["run"] == run
        assert float(field["value"]) == float(cell["value"])
        values[p, n] = float(field["value"])
    same = table["dropout 0.3, updates 4", "avg"]
    assert float(same["value"]) == float(table["unchanged", "avg"]["value"]) == values[3, 4]
    # It is no comparison: Holm's correction is for the three others.
    assert (same["difference"], same["p_holm"]) == ("", "")
    others = [table[f"dropout 0.{p}, updates {n}", "avg"] for p, n in ((1, 4), (1, 40), (3, 40))]
    least = min(float(line["p"]) for line in others)
    assert min(float(line["p_holm"]) for line in others) == pytest.approx(min(3 * least, 1))
    assert len({*values.values()}) > 1
    with Image.open("results/small/sweep/figure2.png") as picture:
        assert len(picture.getcolors(1 << 20)) > 10


def test_the_value_that_the_run_has_at_this_scale_may_be_one_of_them(sweep, made):
    weight = load(PROJECT, check=False).run("deep/uneven", "small").method.kl_weight
    answer = sweep("--set", f"method.kl_weight={weight:g},1e-1")
    assert (
        f"sweep/kl_weight_{weight:g} is deep/uneven at scale small, and trained once" in answer.err
    )
    targets = made()
    assert "sweep/kl_weight_0_1" in targets.names_of("sweep")
    assert "0 of 4 trainings found, 4 to train" in found(targets, "sweep")[0]
    assert targets.spec(f"sweep/kl_weight_{weight:g}").name == "deep/uneven"


def test_on_another_text_the_unchanged_run_is_trained_on_it_too(sweep, made):
    assert sweep("--set", "layers=8/8,4/12", "--data", "pair").code == 0
    project = made().project
    runs = {run: project.run(run).data.dataset for run in project.runs_of("sweep")}
    assert runs == dict.fromkeys(
        ("sweep/unchanged", "sweep/layers_8_8", "sweep/layers_4_12"), "pair"
    )


def test_a_run_of_a_study_is_swept_on_its_text_and_both_studies_are_named(sweep, call, tmp_path):
    assert call("new", "mine", "--like", "deep/uneven", "--data", "pair").code == 0
    (tmp_path / "config").mkdir(exist_ok=True)
    (tmp_path / "config" / "config.yaml").write_text("papers: [mine]\n", encoding="utf-8")
    answer = sweep("--set", "model.dropout=0.2", run="mine/uneven")
    assert "\nname it in config/config.yaml: papers: [mine, sweep]\n" in answer.err
    assert "next: snakemake sweep --config 'papers=[mine,sweep]' seeds=3\n" in answer.err
    line = call("table", "sweep_table1").one_line
    assert line.endswith("'sweep_table1'; name its folder under `papers` in config/config.yaml")
    (tmp_path / "config" / "config.yaml").write_text("papers: [mine, sweep]\n", encoding="utf-8")
    assert '"pair"' in call("show", "sweep/dropout_0_2", "--json").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--set", "model.droput=0.1"),
         says("unknown key 'droput'", where="--set model.droput", nearest="dropout")),
        (("--set", "dropout=0.1"), says("unknown key 'dropout'", where="--set dropout")),
        (("--set", "method.bottleneck=8"),
         says("unknown key 'bottleneck'", where="--set method.bottleneck")),
        (("--set", "model.dropout=0.1,x"), says("'x' is not a number", where="model.dropout")),
        (("--set", "model.norm=PRE"),
         says("'PRE' is not possible here", where="--set model.norm", nearest="pre")),
        (("--set", "model.width=nan"), says("'nan' is not a whole number", where="model.width")),
        (("--set", "model.dropout=0.1,2"), says("2 is too large")),
        (("--set", "model.dropout"), says("no values", where="--set model.dropout",
                                            remedy="write model.dropout=0.1,0.3")),
        (("--set", "training.schedule.warmup=20,400"),
         says("a warm-up of 400 updates, and the run has 300", where="schedule.warmup")),
        (("--set", "model.dropout=0.1,0.10"), says("`for` gives the name 'dropout_0_1' twice")),
        (("--set", "model.heads=3"), says("64 is not a multiple of 3 heads")),
        (("--set", "model.dropout=[1,{"), says("not YAML")),
        ((*SET, "--data", "piar"), says("no data set 'piar'", where="--data", nearest="pair")),
        ((*SET, "--name", "deep"), says("the name 'deep' is taken by config/papers/deep")),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line_and_leaves_no_study(sweep, tmp_path, words, message):
    message.check(sweep(*words).one_line)
    assert not [*tmp_path.iterdir()]


def test_a_mistyped_run_gets_the_nearest_name(sweep):
    says("no run 'deep/unevn'", nearest="deep/uneven").check(sweep(*SET, run="deep/unevn").one_line)

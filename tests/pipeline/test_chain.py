"""The chain from text to table and figure: what it leaves, and what a second start does."""

import csv
import re

import pytest
from PIL import Image

from fathom.config.load import load
from fathom.config.paths import Paths
from fathom.results.tree import read_run, run_folders
from tests.pipeline.conftest import PAPER, TARGETS, UPDATES
from tests.support.refused import says

pytestmark = pytest.mark.pipeline

TABLE, FIGURE = TARGETS
TASKS = ("bos", "mar", "hin", "mkd", "ell", "bul", "fra", "kor")
SENTENCES = dict(zip(TASKS, (68, 233, 261, 96, 214, 192, 684, 642), strict=True))
GATES = {
    "latent_depth/m2o_diverse_6_6": {"plain"},
    "latent_depth/m2o_diverse_12_12": {"plain"},
    "latent_depth/m2o_diverse_ll_d_12_24": {"soft", "hard"},
}


@pytest.fixture(scope="session")
def trained(finished):
    """The results of each row by run."""
    runs = map(read_run, run_folders(finished.folder / "results"))
    return {run.name: run for run in runs}


def rows(path):
    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_each_row_has_trained_and_learnt(trained):
    assert set(trained) == set(GATES)
    for name, run in trained.items():
        ended = run.training.outcome
        assert (ended.kind, ended.update) == ("finished", UPDATES), name


def test_status_says_that_the_runs_learned_and_names_a_place_of_the_page(finished):
    finished.run("fathom", "page", PAPER.name)
    lines = finished.run("fathom", "status", PAPER.name).split("\n")
    learned = r"3 of 3 trainings learned: \d\.\d( to \d\.\d)? nats per token .*"
    assert any(re.fullmatch(learned, line) for line in lines)
    assert any(line.startswith("time: 3 trainings took ") for line in lines)
    (page,) = (line for line in lines if line.startswith("page: "))
    file, _, place = page.removeprefix("page: ").partition("#")
    assert f'<section id="{place}" ' in (finished.folder / file).read_text(encoding="utf-8")


def test_each_task_is_scored_on_all_of_its_sentences_with_the_gates_of_the_run(trained):
    for run, gates in GATES.items():
        scores = {
            key.split(".")[2]: record.tasks
            for key, record in trained[run].measurements.items()
            if key.startswith("bleu.test.") and key.endswith(".13a")
        }
        assert set(scores) == gates, run
        for tasks in scores.values():
            assert {task: number.n for task, number in tasks.items()} == SENTENCES


def test_the_latent_row_says_how_deep_it_is(trained):
    for name, run in trained.items():
        assert ("depth.decoder" in run.measurements) == ("_ll_" in name)
    depth = trained["latent_depth/m2o_diverse_ll_d_12_24"].measurements["depth.decoder"]
    assert set(depth.tasks) == set(TASKS)


def test_the_comparison_has_a_verdict_for_every_reported_cell(finished):
    judged = rows(finished.folder / "results/tiny/compare.csv")
    judged = [cell for cell in judged if cell["paper"] == PAPER.name]
    reported = rows(PAPER / "reported" / "table1.csv")
    cells = [(cell["row"], cell["column"]) for cell in reported]
    assert [(cell["row"], cell["column"]) for cell in judged] == cells
    assert {cell["verdict"] for cell in judged} == {"not comparable (tiny)"}
    assert all(cell["reproduced"] for cell in judged)


def test_table_and_figure_are_there_in_every_form(finished):
    folder = finished.folder / "results" / "tiny" / PAPER.name
    names = {"table1.csv", "table1_seeds.csv", "table1.md", "table1.tex"}
    names |= {"table1.html"}
    names |= {"figure1.csv", "figure1.pdf", "figure1.png"}
    assert names <= {path.name for path in folder.iterdir()}
    assert "Scale: tiny" in (folder / "table1.md").read_text(encoding="utf-8")
    with Image.open(folder / "figure1.png") as picture:
        assert picture.width > 600
        assert len(picture.getcolors(1 << 20)) > 10


def test_snakemake_writes_its_report_of_a_finished_target(finished):
    finished.run("snakemake", *TARGETS, "--report", "report.html")
    text = (finished.folder / "report.html").read_text(encoding="utf-8")
    assert "train_run" in text


def test_markup_in_a_title_or_caption_is_text_in_the_page_of_a_table(finished):
    page = finished.folder / "results" / "tiny" / PAPER.name / "table1.html"
    assert "<script>document.title" not in page.read_text(encoding="utf-8")


def test_a_second_start_does_nothing(finished):
    before = finished.training_files()
    printed = finished.run("snakemake", "--cores", "2", *TARGETS)
    assert "Nothing to be done" in printed
    says("3 of 3 trainings found, 0 to train").check(printed)
    assert finished.training_files() == before


def test_all_of_snakemakes_triggers_retrain_nothing_after_a_comment(finished):
    loop = finished.folder / "lib/fathom/train/train.py"
    loop.write_text(loop.read_text(encoding="utf-8") + "\n# A comment.\n", encoding="utf-8")
    triggers = ("code", "input", "mtime", "params", "software-env")
    printed = finished.run("snakemake", "-n", TABLE, "--rerun-triggers", *triggers)
    assert "train_run" not in printed


def test_a_changed_setting_is_another_folder_and_leaves_the_old_one_alone(finished):
    before = finished.training_files()
    scale = finished.folder / "config/scales/tiny.yaml"
    text = scale.read_text(encoding="utf-8")
    scale.write_text(text.replace("warmup: 20", "warmup: 19"), encoding="utf-8")
    printed = finished.run("snakemake", "-n", TABLE)
    scale.write_text(text, encoding="utf-8")
    says("0 of 3 trainings found, 3 to train").check(printed)
    assert finished.training_files() == before


def test_compare_reads_what_exists_and_trains_nothing(finished):
    (folder,) = finished.folder.glob("results/runs/latent_depth/m2o_diverse_6_6-*")
    path = finished.folder / "results/tiny/compare.csv"
    aside, before = folder.with_name(f"aside-{folder.name}"), path.read_bytes()
    folder.rename(aside)
    printed = finished.run("snakemake", "compare", "--cores", "2")
    judged = rows(path)
    aside.rename(folder)
    path.write_bytes(before)
    says("nothing will be trained").check(printed)
    verdicts = {
        cell["verdict"] for cell in judged if (cell["paper"], cell["row"]) == (PAPER.name, "6/6")
    }
    assert verdicts == {"not run"}


def test_a_users_own_text_is_translated_as_the_test_sentences_are(finished):
    """Two test sentences and their hypotheses, from the encoder to the text."""
    project = load(finished.folder, check=False)
    spec, paths = (
        project.spec("latent_depth/m2o_diverse_12_12", "tiny"),
        Paths(finished.folder / "results", "tiny"),
    )
    numbers, task = (3, 1), "fra"
    corpus = paths.corpus(spec.data)
    source = (corpus / task / f"test.{task}").read_text(encoding="utf-8").split("\n")
    made = paths.decoding(spec, 1, "test", "plain") / f"{task}.txt"
    expected = made.read_text(encoding="utf-8").split("\n")
    lines = "".join(f"{source[number]}\n" for number in numbers)
    command = ("fathom", "translate", "m2o_diverse_12_12", "--scale", "tiny", "--task", task)
    printed = finished.run(*command, text=lines)
    assert printed.split("\n")[-3:-1] == [expected[number] for number in numbers]

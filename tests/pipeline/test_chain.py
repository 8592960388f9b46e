"""The full chain at tiny scale: what it leaves, and what a second start does."""

import csv

import pytest
from PIL import Image

from fathom.provenance.manifest import read
from tests.pipeline import freeze

pytestmark = pytest.mark.pipeline

TABLE, FIGURE = "latent_depth_table5", "latent_depth_figure4"
TASKS = ("bos", "mar", "hin", "mkd", "ell", "bul", "fra", "kor")
SENTENCES = dict(zip(TASKS, (68, 233, 261, 96, 214, 192, 684, 642), strict=True))


def manifests(project):
    """Return the manifests of the frozen runs by name."""
    paths = sorted(project.folder.glob("results/runs/*/*/1/manifest.json"))
    found = {manifest.run: manifest for manifest in map(read, paths)}
    return {run: found[run] for run in freeze.reference()["runs"]}


def rows(path):
    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_every_row_has_eight_scores_or_an_outcome_that_says_why(finished):
    for run, manifest in manifests(finished).items():
        if not manifest.outcome.finished:
            assert manifest.outcome.reason, run
            continue
        keys = ("bleu.test.plain.13a", "bleu.test.soft.13a")
        record = next(manifest.measurements[key] for key in keys if key in manifest.measurements)
        assert {task: number.n for task, number in record.tasks.items()} == SENTENCES, run


def test_the_run_that_shows_whether_the_scale_works_has_learnt(finished):
    assert "required): OK" in finished.run("fathom", "check-learning")


def test_losses_and_scores_are_the_frozen_ones_or_their_recipe_was_raised(finished):
    reference = freeze.reference()
    assert freeze.raised(reference) == []
    assert freeze.moved(reference, manifests(finished).values()) == []


def test_runs_with_gates_are_scored_soft_and_hard_and_have_a_depth(finished):
    for run, manifest in manifests(finished).items():
        gated = "_ll_" in run
        found = manifest.measurements
        assert ("bleu.test.hard.13a" in found) == ("bleu.test.soft.13a" in found) == gated
        assert any(key.startswith("depth.") for key in found) == gated
        # The likeliest layer stays where hard gates would keep none.
        assert not gated or set(found["bleu.test.hard.13a"].tasks) == set(TASKS)


def test_the_comparison_has_a_verdict_for_every_reported_cell(finished):
    judged = rows(finished.folder / "results/tiny/compare.csv")
    reported = rows(finished.folder / "config/papers/latent_depth/table5.csv")
    assert [(each["row"], each["column"]) for each in judged] == [
        (each["row"], each["column"]) for each in reported
    ]
    assert {each["verdict"] for each in judged} == {"not comparable (tiny)"}
    assert all(each["reproduced"] or each["cause"] for each in judged)


def test_table_and_figure_stand_in_every_form(finished):
    folder = finished.folder / "results/tiny/latent_depth"
    names = {"table5.csv", "table5.md", "table5.tex", "table5.html"}
    names |= {"figure4.csv", "figure4.pdf", "figure4.png"}
    assert names <= {path.name for path in folder.iterdir()}
    assert "Scale: tiny" in (folder / "table5.md").read_text(encoding="utf-8")
    with Image.open(folder / "figure4.png") as picture:
        assert picture.width > 600
        assert len(picture.getcolors(1 << 20)) > 10


def test_the_report_is_one_file_with_table_figure_and_comparison(finished):
    text = (finished.folder / "results/tiny/report.html").read_text(encoding="utf-8")
    for name in ("table5.html", "figure4.png", "compare.html"):
        assert name in text


def test_a_second_start_does_nothing(finished):
    before = finished.training_files()
    said = finished.run("snakemake", "--cores", "2")
    assert "Nothing to be done" in said
    assert "10 of 10 trainings found, 0 to train" in said
    assert finished.training_files() == before


def test_touched_edited_and_reformatted_sources_retrain_nothing(finished):
    for path in [*finished.folder.rglob("*.py"), *finished.folder.rglob("*.yaml")]:
        if "results" not in path.relative_to(finished.folder).parts:
            path.touch()
    loop = finished.folder / "lib/fathom/training/train.py"
    loop.write_text(loop.read_text(encoding="utf-8") + "\n# A comment.\n", encoding="utf-8")
    rule = finished.folder / "workflow/rules/runs.smk"
    text = rule.read_text(encoding="utf-8")
    changed = text.replace('"fathom train', '" fathom  train').replace("    log:", "\n    log:")
    assert changed != text
    rule.write_text(changed, encoding="utf-8")
    said = finished.run("snakemake", "-n")
    assert "train_run" not in said
    assert "translate_run" not in said
    rule.write_text(text, encoding="utf-8")


def test_all_of_snakemakes_triggers_retrain_nothing_after_a_comment(finished):
    triggers = ("code", "input", "mtime", "params", "software-env")
    said = finished.run("snakemake", "-n", "--rerun-triggers", *triggers)
    assert "train_run" not in said


def test_a_changed_setting_is_another_folder_and_leaves_the_old_one_alone(finished):
    before = finished.training_files()
    scale = finished.folder / "config/scales/tiny.yaml"
    text = scale.read_text(encoding="utf-8")
    scale.write_text(text.replace("warmup: 100", "warmup: 90"), encoding="utf-8")
    said = finished.run("snakemake", "-n", TABLE)
    scale.write_text(text, encoding="utf-8")
    assert "0 of 10 trainings found, 10 to train" in said
    assert finished.training_files() == before


def test_compare_alone_reads_what_exists_and_trains_nothing(finished):
    one = next(finished.folder.glob("results/tiny/runs/static_6_6-*"))
    aside = one.with_name(f"aside-{one.name}")
    one.rename(aside)
    said = finished.run("snakemake", "compare", "--cores", "2")
    judged = rows(finished.folder / "results/tiny/compare.csv")
    aside.rename(one)
    assert "nothing will be trained" in said
    assert {each["verdict"] for each in judged if each["row"] == "6/6"} == {"not run"}
    finished.run("snakemake", "compare", "--cores", "2")
    judged = rows(finished.folder / "results/tiny/compare.csv")
    assert all(each["verdict"] != "not run" for each in judged)


def test_a_users_own_text_is_translated(finished):
    help_ = finished.run("fathom", "translate", "--help")
    assert "--task" in help_

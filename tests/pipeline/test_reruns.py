"""What makes Snakemake run a job again, with a stand-in for the commands: nothing is trained."""

import os
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pytest

from fathom.results.recipe import RECIPE
from tests.pipeline.conftest import copy_of_the_project
from tests.support import stand_in
from tests.support.own_project import TABLE, targets
from tests.support.refused import says

pytestmark = pytest.mark.pipeline

NOW = RECIPE["training"]
ROW = ("--config", "row=12/12")
GATED = ("--config", "row=LL-D, 24/24")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project in which one static and one gated row have been made."""
    project = copy_of_the_project(tmp_path_factory.mktemp("reruns"))
    files = stand_in.outputs(targets(Path("results")), TABLE)
    stand_in.install(project.folder, sys.executable, files)
    for row in (ROW, GATED):
        project.run("snakemake", "--cores", "2", f"{TABLE}_row", *row)
    return project


@pytest.fixture
def calls(project):
    """A function that runs Snakemake and counts the verbs that it called."""

    def run(*words):
        log = project.folder / "made.txt"
        log.write_text("", encoding="utf-8")
        project.run("snakemake", "--cores", "2", *words)
        return Counter(line.split()[0] for line in log.read_text(encoding="utf-8").splitlines())

    return run


@pytest.fixture
def edited(project):
    """A function that replaces text in a file until the test ends."""
    originals = {}

    def edit(name, old, new):
        path = project.folder / name
        text = originals.setdefault(path, path.read_text(encoding="utf-8"))
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    yield edit
    for path, text in originals.items():
        path.write_text(text, encoding="utf-8")


def one(project, pattern):
    """Return the file of the static row that matches a pattern."""
    [path] = project.folder.glob(f"results/runs/latent_depth/m2o_diverse_12_12-*/1/{pattern}")
    return path


def row(*words):
    return (f"{TABLE}_row", *ROW, *words)


def test_a_gated_run_is_translated_by_one_command(project):
    logs = project.folder / "results" / "logs"
    assert len([*(logs / "translate_run").rglob("*.log")]) == 2
    assert len([*(logs / "measure_gates").rglob("*.log")]) == 1


def test_touched_text_code_and_config_and_lost_tensors_run_nothing(project, calls, edited):
    made = ("results/sources/*/*.json", "results/corpora/*/*.json", "lib/**/*.py", "config/**/*.*")
    for pattern in made:
        for path in project.folder.glob(pattern):
            path.touch()
    edited("workflow/rules/runs.smk", "fathom train", "fathom  train")
    [tensors] = project.folder.glob("results/tensors/*/tensors.json")
    tensors.unlink()
    assert calls(*row()) == {}
    tensors.write_text("{}", encoding="utf-8")


def test_lost_scores_are_computed_from_the_translations_and_gathered_again(project, calls):
    one(project, "measurements/scores.test.plain-*.json").unlink()
    assert calls(*row()) == {"score": 1}


def test_a_metric_that_a_table_comes_to_show_is_computed_alone(project, calls, edited):
    shown = "      - params\n      - avg_hard"
    edited("config/papers/latent_depth/tables.yaml", shown, f"      - ter\n{shown}")
    log = project.folder / "made.txt"
    assert calls(*row()) == {"score": 1}
    assert log.read_text(encoding="utf-8").rstrip().endswith("--metric ter")
    assert calls(*row()) == {}


def test_an_older_recipe_is_kept_until_stale_runs_are_asked_for(project, calls, edited):
    before = one(project, "training.json").stat().st_mtime_ns
    edited("lib/fathom/results/recipe.py", f'"training": {NOW}', f'"training": {NOW + 1}')
    assert calls(*row()) == {}
    assert one(project, "training.json").stat().st_mtime_ns == before
    again = {"train": 1, "likelihood": 1, "translate": 1, "score": 1}
    assert calls(*row("retrain=stale")) == again
    # Checkpoints are no output of the rule: Snakemake has deleted none.
    assert one(project, "checkpoints/last.pt").exists()
    assert calls(*row("retrain=stale")) == {}


def test_stale_runs_are_trained_again_where_snakemake_has_no_metadata(project, calls, edited):
    shutil.rmtree(project.folder / ".snakemake" / "metadata")
    edited("lib/fathom/results/recipe.py", f'"training": {NOW}', f'"training": {NOW + 2}')
    assert calls(*row()) == {}
    assert calls(*row("retrain=stale"))["train"] == 1
    assert calls(*row("retrain=stale")) == {}


def test_another_recipe_of_decoding_translates_again_and_trains_nothing(calls, edited):
    edited("lib/fathom/results/recipe.py", '"decoding": 1', '"decoding": 2')
    assert calls(*row()) == {"translate": 1, "score": 1}


def test_another_beam_translates_again_although_snakemake_has_no_record(project, edited):
    """Results that were copied have the translations of one beam, and config asks for another."""
    shutil.rmtree(project.folder / ".snakemake" / "metadata")
    edited("config/scales/tiny.yaml", "decoding.beam: 5", "decoding.beam: 2")
    printed = project.run("snakemake", "--quiet", "host", "-n", *row())
    assert set(re.findall(r"^rule (\w+):", printed, re.MULTILINE)) >= {
        "translate_run",
        "score_decoding",
    }
    assert "rule train_run:" not in printed


def test_a_start_that_was_killed_locks_nobody_out(project, edited):
    """Snakemake's lock outlives its process; the next start removes it without --unlock."""
    gate, waits = project.folder / "gate", project.folder / "waits"
    waiting = '[ "$1" = train ] && touch waits && until [ -e gate ]; do sleep 0.1; done\nexec '
    edited(".venv/bin/fathom", "exec ", waiting)
    words = ["snakemake", "--cores", "2", f"{TABLE}_row", "--config", "row=6/6"]
    head = project.start(*words)
    deadline = time.monotonic() + 300
    while not waits.exists() and head.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)
    heads = [*project.folder.glob("results/cluster/starts/*.json")]
    assert len(heads) == 1
    head.kill()
    head.wait()
    gate.touch()
    assert any((project.folder / ".snakemake" / "locks").iterdir())
    printed = project.run(*words)
    says("the lock of an earlier start, which is gone, is removed").check(printed)
    assert not [*project.folder.glob(".snakemake/locks/*")]
    assert not [*project.folder.glob("results/cluster/starts/*")]


def test_a_language_that_failed_is_prepared_again_alone_and_then_all_are_joined(project, calls):
    made = targets(Path("results"), "paper")
    data = made.project.datasets["wikipedia25"]
    folder = data.corpus_folder(made.project.sources)
    corpus = made.paths.corpus_named(folder) / "corpus.json"
    files = {f"fetch {path.parent.name}": [str(path)] for path in made.sources(folder)}
    for path in made.prepared_alone(folder):
        files[f"prepare {folder} --task {path.parent.name}"] = [str(path)]
    files[f"prepare {folder}"] = [str(corpus)]
    words = (str(corpus), "--config", "scale=paper")
    planned = project.run("snakemake", "--quiet", "host", "-n", *words)
    assert planned.count("rule prepare_task:") == len(data.tasks) == 25
    assert planned.count("rule prepare_corpus:") == 1
    # The stand-in fails at a command whose files it does not know.
    failing = {call: made for call, made in files.items() if not call.endswith("--task fr")}
    stand_in.install(project.folder, sys.executable, failing)
    project.run("snakemake", "--cores", "2", *words, code=1)
    assert not (project.folder / corpus).exists()
    stand_in.install(project.folder, sys.executable, files)
    assert calls(*words) == {"prepare": 2}
    called = (project.folder / "made.txt").read_text(encoding="utf-8").splitlines()
    assert called == [f"prepare {folder} --task fr", f"prepare {folder}"]
    # A corpus of one job, and one that was unpacked, has no record of its tasks.
    for path in made.prepared_alone(folder):
        (project.folder / path).unlink()
    assert calls(*words) == {}


@pytest.fixture
def far_folder(tmp_path):
    """A folder on another file system where there is one, with a name that must be quoted."""
    memory = Path("/dev/shm")
    writable = memory.is_dir() and os.access(memory, os.W_OK)
    with tempfile.TemporaryDirectory(dir=memory if writable else tmp_path) as folder:
        yield Path(folder) / "Ergebnisse für $alle, 'π' & (1)"


def test_results_may_be_far_away_under_any_name_and_for_one_user_alone(project, far_folder):
    files = stand_in.outputs(targets(far_folder), TABLE)
    stand_in.install(project.folder, sys.executable, files)
    words = ["snakemake", "--cores", "2", f"{TABLE}_row", *ROW, f"results={far_folder}"]
    before = os.umask(0o077)
    try:
        project.run(*words)
        again = project.run(*words)
    finally:
        os.umask(before)
    assert "train_run" not in again
    [record] = far_folder.glob("runs/latent_depth/m2o_diverse_12_12-*/1/training.json")
    assert record.stat().st_mode & 0o077 == 0
    assert far_folder.stat().st_mode & 0o077 == 0


def test_a_run_that_came_from_another_tree_by_tar_is_not_trained(project):
    """docs/output.md prints these two lines of tar."""
    run = one(project, "training.json").parent.relative_to(project.folder / "results")
    other = "--config", "row=12/12", "results=other"
    for kind in ("sources", "corpora", "subwords", "tensors"):
        shutil.copytree(project.folder / "results" / kind, project.folder / "other" / kind)
    assert "1 to train" in project.run("snakemake", "-n", f"{TABLE}_row", *other)
    project.shell(f"tar czf run.tar.gz -C results {run} && tar xzkf run.tar.gz -C other")
    printed = project.run("snakemake", "-n", f"{TABLE}_row", *other)
    assert "1 of 1 trainings found, 0 to train" in printed
    assert "Nothing to be done" in printed

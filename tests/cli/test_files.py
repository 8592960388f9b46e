"""`fathom diff`, `verify`, `clean`, and a run in a file of tar."""

import shutil
import subprocess
from pathlib import Path

import pytest

from fathom.io.records import read_record, write_record
from fathom.results.clean import KINDS
from fathom.results.recipe import RECIPE
from fathom.workflow import starts
from tests.support.damage import flip
from tests.support.small_project import RUN
from tests.support.small_trees import edit as edit_tree
from tests.support.small_trees import write_tree

CLEAN = "clean", "unused", "--yes"


def test_equal_trees_end_with_0_and_others_with_1(tmp_path, call):
    first, second = (str(write_tree(tmp_path / name)) for name in "ab")
    answer = call("diff", first, second)
    assert (answer.code, answer.out) == (0, "equal\n")
    edit_tree(tmp_path / "b/small/sample/table1.csv", "20.5", "20.75")
    answer = call("diff", first, second)
    assert answer.code == 1
    line = "  “6/6” avg: value 20.5 in A, 20.75 in B"
    assert answer.lines == ["small/sample/table1 (1)", line, "differences: 1"]
    assert call("diff", first, second, "--tolerance", "0.5").code == 0
    assert call("diff", first, second, "--table", "sample_figure1").code == 0


@pytest.fixture
def place(own, summarised):
    """The results of a project with two runs."""
    return own(summarised) / "results"


def test_results_that_fit_are_counted_and_each_change_is_a_line_with_its_command(place, call):
    answer = call("verify")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.endswith(" files compared, 0 do not fit\n")
    assert call("verify", RUN).code == 0
    (tensors,) = place.glob("tensors/*/kor/train.target.bin")
    (scores,) = place.glob(f"runs/sample/{RUN}-*/1/decodings/*/scores.tsv")
    for path in (tensors, scores):
        flip(path)
    answer = call("verify")
    assert answer.code == 1
    *lines, last = answer.lines
    assert len(lines) == 2
    assert last.endswith(" files compared, 2 do not fit")
    for path in (tensors, scores):
        assert any(str(path.relative_to(place.parent)) in line for line in lines)
    # One run alone, and its text.
    assert len(call("verify", RUN).lines) == 3


def test_results_without_a_record_are_refused(project, call):
    (project / "results").mkdir()
    assert "results: no records; name a folder with runs by --results" in call("verify").one_line


def tar(*words):
    """Run tar as docs/output.md prints it; return its exit code."""
    return subprocess.run(["tar", *words], check=False, stderr=subprocess.DEVNULL).returncode


@pytest.fixture
def in_a_file(own, trained):
    """A project that has the text of a run, and run.tar.gz with the run in the place of it."""
    folder = own(trained)
    (run,) = folder.glob(f"results/runs/sample/{RUN}-*/1")
    name = str(run.relative_to(folder / "results"))
    assert tar("czf", "run.tar.gz", "-C", "results", name) == 0
    shutil.rmtree(folder / "results/runs")
    return folder


@pytest.mark.slow
def test_a_run_of_another_tree_counts_as_finished_and_can_be_translated(in_a_file, call):
    assert tar("xzkf", "run.tar.gz", "-C", "results") == 0
    assert call("verify", RUN).code == 0
    assert call("status", "--runs").lines[0] == f"sample/{RUN}  finished"
    # Nothing is trained, and weights are there.
    assert "already finished" in call("train", RUN).err
    assert call("translate", RUN).code == 0
    # Nothing is overwritten.
    (series,) = in_a_file.glob("results/runs/sample/*/1/metrics.tsv")
    series.write_text("mine", encoding="utf-8")
    assert tar("xzkf", "run.tar.gz", "-C", "results") != 0
    assert series.read_text(encoding="utf-8") == "mine"


@pytest.mark.slow
def test_a_file_without_what_docs_leave_out_names_no_host_and_is_whole(own, trained, call):
    """training.json had the host, the job and the process."""
    folder = own(trained)
    names = ("before_last.pt", "attempts.json", "state.json", "train.log")
    left_out = [f"--exclude={name}" for name in names]
    assert tar("czf", "run.tar.gz", *left_out, "-C", "results", "runs") == 0
    shutil.rmtree("results/runs")
    assert tar("xzkf", "run.tar.gz", "-C", "results") == 0
    assert call("verify", RUN).code == 0
    (run,) = folder.glob(f"results/runs/sample/{RUN}-*/1")
    trained = read_record(run / "training.json")
    assert {"start", "end", "ended_as"} < {*trained["attempts"][0]}
    for path in filter(Path.is_file, run.rglob("*")):
        for private in (b'"host"', b'"pid"', b'"job"', bytes(folder)):
            assert private not in path.read_bytes(), (path, private)


@pytest.mark.slow
def test_a_run_of_other_settings_text_or_recipe_is_named(in_a_file, call, edit, monkeypatch):
    assert tar("xzkf", "run.tar.gz", "-C", "results") == 0
    (folder,) = in_a_file.glob("results/runs/sample/*")
    with monkeypatch.context() as patch:
        patch.setitem(RECIPE, "training", RECIPE["training"] + 1)
        line, last = call("verify", RUN).lines
    older = f"recipe {RECIPE['training']} is older than {RECIPE['training'] + 1}"
    assert f"training.json: {older}; use the version of fathom that" in line
    assert last.endswith("1 do not fit")
    (text,) = in_a_file.glob("results/tensors/*/tensors.json")
    write_record(text, read_record(text) | {"unigram_nll": 1.0})
    answer = call("verify", RUN)
    assert answer.code == 1
    assert "the run was trained on other encoded text than that in results/tensors/" in answer.out
    edit("papers/sample/runs.yaml", "updates: 4 ", "updates: 5 ")
    assert (
        f"{folder.name} has other settings than the run at scale small"
        in call("verify", RUN).one_line
    )


@pytest.mark.slow
def test_it_lists_first_and_deletes_what_is_named(own, trained, call):
    folder = own(trained)
    (last,) = folder.glob("results/runs/sample/*/1/checkpoints/last.pt")
    state = shutil.copy(last, last.with_name("before_last.pt"))
    counted = call("clean").err.splitlines()
    assert [line.partition(":")[0] for line in counted] == [*KINDS, "next"]
    (line,) = call("clean", "states").lines
    assert state.name in line
    assert not line.endswith("\t0.0 MB")
    # The command that is named deletes in the same tree.
    folder.joinpath("results").rename(folder / "other")
    said = call("clean", "states", "--results", "other").err
    assert "next: fathom clean states --yes --results other" in said
    folder.joinpath("other").rename(folder / "results")
    assert state.exists()
    assert call("clean", "states", "--yes").code == 0
    assert not state.exists()
    # Nothing that counts has gone.
    assert call("verify").code == 0
    assert call("translate", RUN).code == 0


def test_a_mistake_in_config_is_refused_since_it_hides_runs(project, edit, call):
    edit("papers/sample/runs.yaml", "label_smoothing", "label_smothing")
    answer = call(*CLEAN)
    assert answer.code == 1
    assert "label_smothing" in answer.err


@pytest.mark.slow
def test_runs_of_a_study_that_is_not_in_use_or_that_train_are_not_unused(own, trained, call):
    """They were deleted, the folder of a training with them."""
    folder = own(trained)
    (folder / "mine").mkdir()
    (folder / "mine" / "study.yaml").write_text("title: Mine\n", encoding="utf-8")
    assert "mine: not in use, so its runs would be deleted" in call(*CLEAN).one_line
    shutil.rmtree(folder / "mine")
    starts.add_trainings(folder / "results" / "cluster", {folder / "training.json": ("wide", 60)})
    assert "a start makes 1 trainings here" in call(*CLEAN).one_line
    shutil.rmtree(folder / "results" / "cluster")
    assert call(*CLEAN).code == 0


@pytest.mark.slow
def test_the_page_of_a_clone_in_its_results_is_nobodys_file(own, trained, call):
    folder = own(trained)
    shutil.copytree(folder / "results", folder / "copy")
    page = folder / "results" / "README.md"
    page.write_text("# Results\n", encoding="utf-8")
    assert call("diff", "results", "copy").code == 0
    assert call("verify").code == 0
    assert "README" not in call("clean", "unused", "--yes").out
    assert page.exists()

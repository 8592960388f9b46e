"""`fathom diff`, `verify`, `pack`, `unpack`, `clean`."""

import json
import shutil
import tarfile
from pathlib import Path

import pytest

from fathom.results.clean import KINDS
from fathom.workflow import starts
from tests.support.damage import flip
from tests.support.small_project import GATED, RUN
from tests.support.small_trees import edit as edit_tree
from tests.support.small_trees import write_tree

CLEAN = "clean", "unused", "--yes"


def test_equal_trees_end_with_0_and_others_with_1(tmp_path, call):
    first, second = (str(write_tree(tmp_path / name)) for name in "ab")
    answer = call("diff", first, second)
    assert (answer.code, len(answer.lines)) == (0, 1)
    edit_tree(tmp_path / "b/small/sample/table1.csv", "20.5", "20.75")
    answer = call("diff", first, second)
    assert answer.code == 1
    assert "sample/table1 “6/6” avg: value 20.5 in A, 20.75 in B" in answer.out
    assert call("diff", first, second, "--tolerance", "0.5").code == 0
    assert call("diff", first, second, "--table", "sample_figure1").code == 0
    answer = call("diff", first, second, "--json")
    assert (answer.code, json.loads(answer.out)["equal"]) == (1, False)


@pytest.fixture
def place(own, summarised):
    """The results of a project with two runs."""
    return own(summarised) / "results"


def test_what_is_packed_names_no_host_no_process_and_no_folder_of_the_packer(place, call, tmp_path):
    """attempts.json, state.json and training.json had the host, the job and the process."""
    results = ("--results", str(place.resolve()))
    for words in (("table", "sample_table1"), ("compare",), ("claims",)):
        assert call(*words, *results).code == 0
    trained = json.loads(next(place.glob("runs/sample/static*/1/training.json")).read_bytes())
    assert {"start", "end", "ended_as"} < {*trained["attempts"][0]}
    for words in ((RUN,), ()):
        archive = tmp_path / f"{len(words)}.tar.gz"
        assert call("pack", *words, "--out", str(archive), *results).code == 0
        with tarfile.open(archive) as tar:
            files = {entry.name: tar.extractfile(entry).read() for entry in tar}
        assert not {"attempts.json", "state.json", "train.log"} & {
            Path(name).name for name in files
        }
        for name, content in files.items():
            for private in (b'"host"', b'"pid"', b'"job"', bytes(tmp_path)):
                assert private not in content, (name, private)


def test_results_that_fit_are_counted(place, call):
    answer = call("verify")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.endswith(" files compared, 0 do not fit\n")
    assert call("verify", RUN).code == 0


def test_each_change_is_a_line_with_its_command(place, call):
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
    found = json.loads(call("verify", "--json").out)
    assert [set(finding) for finding in found["unfit"]] == [{"path", "what", "remedy"}] * 2


def test_results_without_a_record_are_refused(project, call):
    (project / "results").mkdir()
    assert "results: no records; name a folder with runs by --results" in call("verify").one_line


@pytest.mark.slow
def test_all_results_are_read_from_one_file(own, summarised, call):
    folder = own(summarised)
    assert call("table", "sample_table1", "--partial").code == 0
    (gated,) = folder.glob(f"results/runs/sample/{GATED}-*/1")
    (gated / "training.json").rename(gated / "moved")
    place = gated.relative_to(folder / "results")
    assert f"left out, not ended: {place}" in call("pack", "--out", "one.tar.gz").err
    (gated / "moved").rename(gated / "training.json")
    answer = call("pack")
    assert (answer.code, "results-small.tar.gz" in answer.err) == (0, True)
    assert "left out" not in answer.err
    assert "results-small.tar.gz: there is such a file" in call("pack").one_line
    (folder / "results").rename(folder / "own")
    assert call("unpack", "results-small.tar.gz").code == 0
    read = folder / "results-small"
    assert not [*read.rglob("*.pt"), *read.glob("tensors"), *read.glob("corpora/*/*/")]
    for name in ("table1.csv", "table1.md"):
        (read / f"small/sample/{name}").unlink()
    assert call("table", "sample_table1", "--partial", "--results", "results-small").code == 0
    assert call("diff", "own", "results-small").code == 0
    line, last = call("verify", "--results", "results-small").lines
    assert "files of text or weights are missing here and in " in line
    assert last.endswith("1 do not fit")
    assert "results-small: there is such" in call("unpack", "results-small.tar.gz").one_line


@pytest.mark.slow
def test_a_run_of_another_tree_counts_as_finished_and_can_be_translated(own, trained, call):
    folder = own(trained)
    answer = call("pack", RUN)
    (archive,) = folder.glob(f"{RUN}-*.1.tar.gz")
    assert (answer.code, archive.name in answer.err) == (0, True)
    assert f"{archive.name}: there is such a file" in call("pack", RUN).one_line
    assert call("pack", RUN, "--out", "run.tar.gz").code == 0
    shutil.rmtree(folder / "results/runs")
    assert call("unpack", "run.tar.gz").code == 0
    assert call("status", "--runs").lines[0] == f"sample/{RUN}  finished"
    # Nothing is trained, and weights are there.
    assert call("train", RUN).code == 0
    assert call("translate", RUN).code == 0
    assert "the run is here already" in call("unpack", "run.tar.gz").one_line


@pytest.mark.slow
def test_several_archives_are_unpacked_all_or_none(own, trained, call):
    """Runs were written before the place of all results was refused."""
    folder = own(trained)
    assert call("pack", RUN, "--out", "run.tar.gz").code == 0
    assert call("pack", "--out", "all.tar.gz").code == 0
    content = (folder / "run.tar.gz").read_bytes()
    (folder / "cut.tar.gz").write_bytes(content[: len(content) // 2])
    for archives in (("run", "all"), ("all", "run"), ("run", "run"), ("all", "cut")):
        words = [f"{name}.tar.gz" for name in archives]
        assert call("unpack", *words, "--results", "new").code == 1
        assert not (folder / "new").exists()
    assert not [*folder.glob(".*.part")]


@pytest.mark.slow
def test_it_lists_first_and_deletes_what_is_named(own, trained, call):
    folder = own(trained)
    (last,) = folder.glob("results/runs/sample/*/1/checkpoints/last.pt")
    state = shutil.copy(last, last.with_name("before_last.pt"))
    kinds = json.loads(call("clean", "--json").out)
    assert [*kinds] == [*KINDS]
    assert all(item["bytes"] > 0 for items in kinds.values() for item in items)
    (line,) = call("clean", "states").lines
    assert state.name in line
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
    assert "README" not in call("clean", "unused", "parts", "--yes").out
    assert call("pack").code == 0
    assert call("unpack", "results-small.tar.gz").code == 0
    assert not (folder / "results-small" / "README.md").exists()
    assert page.exists()

"""`fathom pack`: one file with a finished run."""

import pytest

from tests.support.refused import prose, says
from tests.support.small_project import GATED, RUN


@pytest.mark.slow
def test_a_run_is_packed_once(own, trained, call):
    folder = own(trained)
    answer = call("pack", RUN)
    assert answer.code == 0
    (archive,) = folder.glob(f"{RUN}-*.1.zip")
    assert archive.name in answer.err
    says("file exists", where=archive.name).check(call("pack", RUN).one_line)
    assert call("pack", RUN, "--out", "another.zip").code == 0


def test_a_run_that_was_not_trained_is_refused(project, call):
    says("no such file").check(call("pack", RUN).one_line)


@pytest.mark.slow
def test_all_results_are_read_from_one_file(own, summarised, call):
    folder = own(summarised)
    assert call("table", "sample_table1", "--partial").code == 0
    (gated,) = folder.glob(f"results/runs/sample/{GATED}-*/1")
    (gated / "training.json").rename(gated / "moved")
    place = gated.relative_to(folder / "results")
    says("left out", place).check(call("pack", "--out", "one.zip").err)
    (gated / "moved").rename(gated / "training.json")
    answer = call("pack")
    assert (answer.code, "results-small.zip" in answer.err) == (0, True)
    assert prose("left out") not in answer.err
    says("file exists", where="results-small.zip").check(call("pack").one_line)
    assert call("diff", "results-small.zip", "results").code == 0
    (folder / "results").rename(folder / "own")
    assert call("unpack", "results-small.zip").code == 0
    read = folder / "results-small"
    assert not [*read.rglob("*.pt"), *read.glob("tensors"), *read.glob("corpora/*/*/")]
    for name in ("table1.csv", "table1.md"):
        (read / f"small/sample/{name}").unlink()
    assert call("table", "sample_table1", "--partial", "--results", "results-small").code == 0
    assert call("diff", "own", "results-small").code == 0
    says("folder exists", where="results-small").check(call("unpack", "results-small.zip").one_line)


def test_no_results_are_refused(project, call):
    says("no results of scale", "small").check(call("pack").one_line)

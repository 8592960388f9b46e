"""`fathom unpack`: finished runs of another tree."""

import shutil

import pytest

from tests.support.refused import says
from tests.support.small_project import RUN


@pytest.mark.slow
def test_a_run_of_another_tree_counts_as_finished_and_can_be_translated(own, trained, call):
    folder = own(trained)
    assert call("pack", RUN, "--out", "run.zip").code == 0
    shutil.rmtree(folder / "results/runs")
    assert call("unpack", "run.zip").code == 0
    assert call("status", "--runs").lines[0] == f"sample/{RUN}  finished"
    # Nothing is trained, and weights are there.
    assert call("train", RUN).code == 0
    assert call("translate", RUN).code == 0
    says("run is here").check(call("unpack", "run.zip").one_line)


def test_a_missing_archive_is_refused(project, call):
    says("no such file", where="run.zip").check(call("unpack", "run.zip").one_line)

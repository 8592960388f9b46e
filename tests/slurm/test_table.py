"""A small table from text to cells on a real Slurm, with the real trainer."""

import os

import pytest

from tests.pipeline.conftest import PAPER, UPDATES, copy_of_the_project, shorten
from tests.slurm.cluster import wait
from tests.slurm.conftest import Case

pytestmark = pytest.mark.slurm
TABLE = f"{PAPER.name}_table1"


def test_a_table_is_made_though_its_first_process_is_killed(cluster, tmp_path):
    project = copy_of_the_project(tmp_path)
    shorten(project)
    case = Case(project.folder, cluster, {"OMP_NUM_THREADS": "1", "FATHOM_CLUSTER_MARGIN": "60"})
    runs = project.folder / "results" / "runs"
    head = case.start(TABLE, "--config", "log_every=5", limit=600)
    wait(lambda: list(runs.glob("*/*/1/metrics.tsv")), "a training has begun", 400)
    case.kill(head)
    case.end(case.start(TABLE, "--config", "log_every=5", limit=600))
    assert (project.folder / "results" / "tiny" / PAPER.name / "table1.csv").is_file()
    attempts = [path.read_text().count('"start"') for path in runs.glob("*/*/1/attempts.json")]
    assert attempts == [1, 1, 1]
    listed = project.run("fathom", "status", PAPER.name, "--runs")
    assert listed.count("finished") >= len(attempts)
    assert f"{UPDATES}" in (next(runs.glob("*/*/1/metrics.tsv"))).read_text()
    assert os.listdir(project.folder / "results" / "cluster")

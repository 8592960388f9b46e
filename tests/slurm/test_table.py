"""A small table from text to cells on a real Slurm, with the real trainer."""

import pytest

from tests.pipeline.conftest import PAPER, UPDATES, copy_of_the_project, shorten
from tests.slurm.conftest import Case

pytestmark = pytest.mark.slurm
TABLE = f"{PAPER.name}_table1"


def test_a_table_is_made_though_its_first_process_is_killed(cluster, tmp_path):
    project = copy_of_the_project(tmp_path)
    shorten(project)
    case = Case(project.folder, cluster, {"OMP_NUM_THREADS": "1"})
    runs = project.folder / "results" / "runs"
    # Torch sees none of this Slurm's GPUs, so a job that asked for one would be refused.
    words = (TABLE, "--config", "log_every=5", "scale=tiny", "device=cpu")
    head = case.start(*words, limit=1500)
    case.wait(lambda: list(runs.glob("*/*/1/metrics.tsv")), "a training has begun", 400)
    case.kill(head)
    case.end(case.start(*words, limit=1500))
    assert (project.folder / "results" / "tiny" / PAPER.name / "table1.csv").is_file()
    attempts = [path.read_text().count('"start"') for path in runs.glob("*/*/1/attempts.json")]
    assert attempts == [1, 1, 1]
    last = [path.read_text().split("\n")[-2] for path in runs.glob("*/*/1/metrics.tsv")]
    assert [row.split("\t")[0] for row in last] == [str(UPDATES)] * 3
    assert "1 of 1 tables" in project.run("fathom", "status", PAPER.name)

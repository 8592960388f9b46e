import sys

from fathom.cluster import cancel
from fathom.cluster.jobs import Folder, read


def test_a_job_is_cancelled_under_the_number_of_its_successor(
    above, answers, calls, script, monkeypatch
):
    job = read(script())
    folder = Folder(above / job.name)
    folder.path.mkdir()
    folder.remember(job, "7", "9", [])
    answers("scancel")
    monkeypatch.setattr(sys, "argv", ["cancel", "slurm", "7", "8"])
    cancel.main()
    assert calls() == ["scancel 9 8"]

import os

import pytest

from fathom.cluster.jobs import Folder, read
from fathom.cluster.preflight import check
from fathom.cluster.slurm import Slurm
from fathom.io.errors import Findings
from tests.support.refused import refused, says

ASKED = {"train_run": {"gres": "gpu:1", "runtime": 90}, "prepare_corpus": {"runtime": 90}}


@pytest.fixture(autouse=True)
def slurm(answers):
    """A Slurm with one partition of a day, and an empty queue."""
    for name in Slurm.commands:
        answers(name)
    answers("sinfo", "main*|1-00:00:00|8000|gpu:h200:4|2|idle")


def test_where_all_is_well_nothing_is_printed(above):
    assert check(Slurm(), ASKED, above) == []


def test_without_slurm_one_message_names_what_is_missing(above, monkeypatch):
    """Field fault 19."""
    monkeypatch.setenv("PATH", "/nowhere")
    with refused("no program", "sbatch", where="--profile slurm", remedy="login node"):
        check(Slurm(), ASKED, above)


def test_a_slurm_that_is_away_is_one_message(above, answers):
    answers("squeue", code=1, message="Unable to contact slurm controller")
    with refused("scheduler silent", "Slurm"):
        check(Slurm(), ASKED, above)


def test_each_set_of_resources_is_refused_once_with_its_rules(above):
    asked = {name: {"runtime": 2000} for name in ("train_run", "translate_run")}
    with refused("more than given", ..., "main", where="train_run, translate_run") as caught:
        check(Slurm(), asked | {"other": {"runtime": 10}}, above)
    assert isinstance(caught.value, Findings)
    assert len(caught.value.findings) == 1


def test_a_resource_that_no_scheduler_gets_is_refused_with_the_nearest_name(above):
    """`slurm_partition` is the plugin's; unread, the job went to the default partition."""
    asked = {"train_run": {"slurm_partition": "long"}}
    with refused("unknown", "resource", "slurm_partition", nearest="partition", error=Findings):
        check(Slurm(), asked, above)


def test_live_jobs_of_an_earlier_start_are_named(above, answers, script):
    job = read(script())
    folder = Folder(above / job.name)
    os.makedirs(folder.path)
    folder.remember(job, "7", "7", [])
    answers("squeue", "7|PENDING|JobHeldUser\n8|RUNNING|None")
    first, second = check(Slurm(), ASKED, above)
    says("an earlier start", 1).check(first)
    assert job.label in first
    says("not by itself", "7", "JobHeldUser", "scontrol release 7").check(second)


def test_nodes_that_are_down_are_a_remark(above, answers):
    answers("sinfo", "main*|1-00:00:00|8000|gpu:h200:4|1|idle\nmain*|1-00:00:00|8000|gpu:4|1|down*")
    [line] = check(Slurm(), ASKED, above)
    says("nodes up", "main", 1, 2).check(line)

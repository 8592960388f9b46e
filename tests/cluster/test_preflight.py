"""What is refused before anything is submitted, and what Slurm's partitions allow."""

import math
import os

import pytest

from fathom.cluster.jobs import Folder, read
from fathom.cluster.preflight import check, minutes, partitions, refusals, remarks
from fathom.cluster.slurm import COMMANDS, Slurm, options
from fathom.io.errors import FathomError, Findings

REQUESTED = {"train_run": {"gres": "gpu:1", "runtime": 90}, "prepare_corpus": {"runtime": 90}}
LIST = "main*|1-00:00:00|8000|gpu:h200:4(S:0-1)|2|idle\nmain*|1-00:00:00|4000+|(null)|1|mixed"
LIST += "\nlong|infinite|8000|gpu:h200:4|2|idle~"
NO_NODES = (
    "sbatch: error: Batch job submission failed: Requested node configuration is not available"
)


@pytest.fixture(autouse=True)
def slurm(answers):
    """Two partitions, an empty queue, and a Slurm that accepts everything."""
    for name in COMMANDS:
        answers(name)
    answers("sinfo", LIST)


def test_where_all_is_well_nothing_is_printed(above):
    assert check(Slurm(), REQUESTED, above) == []


def test_without_slurm_one_message_names_what_is_missing(above, monkeypatch):
    """Field fault 19."""
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(FathomError, match=r"--profile slurm: no `sbatch` .* login node"):
        check(Slurm(), REQUESTED, above)


def test_a_slurm_that_is_away_is_one_message(above, answers):
    answers("squeue", code=1, message="Unable to contact slurm controller")
    with pytest.raises(FathomError, match="Slurm does not answer"):
        check(Slurm(), REQUESTED, above)


def test_each_set_of_resources_is_refused_once_with_its_rules(above):
    asked = {"gres": "gpu:1", "runtime": 2000}
    requested = {name: asked for name in ("train_run", "translate_run")}
    rules = "resources of rules train_run, translate_run"
    with pytest.raises(Findings, match=f"{rules}: 2000 minutes is more") as caught:
        check(Slurm(), requested | {"other": {"runtime": 10}}, above)
    assert len(caught.value.findings) == 1


def test_an_unknown_resource_is_refused_with_the_nearest_name(above):
    """`slurm_partition` is a plugin's; unread, the job went to the default partition."""
    requested = {"train_run": {"slurm_partition": "long"}}
    with pytest.raises(Findings, match=r"no resource 'slurm_partition'; .* 'partition'"):
        check(Slurm(), requested, above)


def test_a_training_without_a_gpu_is_refused_unless_the_user_computes_on_the_cpu(
    above, monkeypatch
):
    """An option that dropped the profile's `gres` had trainings run on one core for days."""
    requested = {"train_run": {"runtime": 90}}
    where = "resources of rule train_run"
    with pytest.raises(Findings, match=f"{where}: a training asks for no GPU.*device=cpu"):
        check(Slurm(), requested, above)
    monkeypatch.setenv("FATHOM_CONFIG", '{"device": "cpu"}')
    assert check(Slurm(), requested, above) == []


def test_live_jobs_of_an_earlier_start_are_named(above, answers, script):
    job = read(script())
    folder = Folder(above / job.name)
    os.makedirs(folder.path)
    folder.remember(job, "7", "7", [])
    answers("squeue", "7|PENDING|JobHeldUser\n8|RUNNING|None")
    first, second = check(Slurm(), REQUESTED, above)
    assert first == f"jobs of an earlier start are taken over (1): train_run {job.label}"
    assert second.endswith("will not start by itself (JobHeldUser): scontrol release 7")


@pytest.mark.parametrize(
    ("limit", "number"),
    [
        ("1-00:00:00", 1440),
        ("2:30:00", 150),
        ("30:00", 30),
        ("1-12:00:30", 2160.5),
        ("infinite", math.inf),
        ("n/a", math.inf),
    ],
)
def test_a_time_limit_is_minutes(limit, number):
    assert minutes(limit) == number


def test_partitions_have_their_limit_and_their_nodes():
    listed, default = partitions()
    assert default == "main"
    assert listed["main"].minutes == 1440
    assert listed["main"].nodes == [(8000, 4, True), (8000, 4, True), (4000, 0, True)]
    assert listed["long"].minutes == math.inf


def test_what_fits_is_accepted_and_what_slurm_is_asked_is_what_is_submitted(calls):
    requested = {
        "runtime": 1440,
        "mem_mb": 8000,
        "gres": "gpu:h200:4",
        "nodes": 3,
        "tmpdir": "/tmp",
    }
    assert refusals(requested) == []
    [line] = calls("sbatch")
    assert line.startswith("sbatch --test-only ")
    assert " ".join(options(requested)) in line


@pytest.mark.parametrize(
    ("requested", "key", "numbers"),
    [
        ({"runtime": 1441}, "runtime", ("1441", "1440")),
        ({"mem_mb": 8001}, "mem_mb", ("8001", "8000")),
        ({"gres": "gpu:8"}, "gres", ("8", "4")),
        ({"gpu": 8}, "gres", ("8", "4")),
        ({"nodes": 4}, "nodes", ("4", "3")),
    ],
)
def test_what_a_partition_does_not_have_is_refused_with_both_numbers(requested, key, numbers):
    [(what, remedy)] = refusals(requested)
    assert f"`{key}`" in remedy
    assert all(number in what.replace(")", " ").replace("(", " ").split() for number in numbers)


def test_an_unknown_partition_is_refused_with_the_nearest_name():
    [(what, remedy)] = refusals({"partition": "maim"})
    assert "'maim'" in what
    assert "'main'" in remedy


def test_a_refused_account_is_in_slurms_words_also_with_nodes_down(answers):
    answers(
        "sbatch", code=1, message="sbatch: error: Invalid account or account/partition combination"
    )
    for nodes in (LIST, LIST.replace("mixed", "down*")):
        answers("sinfo", nodes)
        [(what, _)] = refusals({"account": "nosuch"})
        assert "--account=nosuch" in what
        assert "Invalid account" in what


def test_a_configuration_is_refused_only_where_all_nodes_are_up(answers):
    """With drained nodes --test-only refuses what sbatch accepts: the job waits."""
    answers("sbatch", code=1, message=NO_NODES)
    assert len(refusals({"gres": "gpu:4"})) == 1
    answers("sinfo", LIST.replace("mixed", "drained*"))
    assert refusals({"gres": "gpu:4"}) == []
    [line] = remarks({"gres": "gpu:4"})
    assert line.startswith("partition main has 2 of 3 nodes up")


@pytest.mark.parametrize("text", ["", "<html>502</html>", "main|x"])
def test_no_list_of_partitions_is_a_slurm_that_does_not_answer(answers, text):
    answers("sinfo", text)
    with pytest.raises(FathomError, match="Slurm does not answer"):
        partitions()

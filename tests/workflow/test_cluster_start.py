import os
import platform
from types import SimpleNamespace

import pytest

from fathom.cluster import jobs, starts
from fathom.cluster.slurm import COMMANDS
from fathom.io.files import write_json
from fathom.workflow import cluster_start
from fathom.workflow.targets import READING
from tests.cluster.conftest import answers  # noqa: F401
from tests.support.refused import refused, says
from tests.support.targets import TABLE, targets

TARGET = f"{TABLE}_row"


class Resource:
    """A resource of Snakemake: a number, or a function of a job's wildcards."""

    def __init__(self, value):
        self.value = value

    def evaluate(self, wildcards, **_):
        return Resource(self.value(wildcards) if callable(self.value) else self.value)


def rule(name, wildcards=("run",), **resources):
    made = {key: Resource(value) for key, value in resources.items()}
    return SimpleNamespace(name=name, resources=made, wildcard_names=set(wildcards))


@pytest.fixture
def made(tmp_path):
    """The targets of one row."""
    return targets(tmp_path / "results", row="6/6")


@pytest.fixture
def workflow(tmp_path, monkeypatch, answers, made):  # noqa: F811
    """A start with our profile in a working folder, and a Slurm with a partition of a day."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(jobs.VARIABLE, str(made.paths.cluster))
    cluster_start._enter.cache_clear()
    for name in COMMANDS:
        answers(name)
    answers("sinfo", "main*|1-00:00:00|8000|gpu:h200:4|2|idle")
    (tmp_path / "slurm").mkdir()
    (tmp_path / "slurm" / "submit").touch()
    train = rule(
        "train_run", gres="gpu:1", runtime=1440, mem_mb=lambda wc: made.runs.memory(wc.run)
    )
    prepare = rule(
        "prepare_corpus", ("data",), mem_mb=lambda wc: made.corpora.preparing_memory(wc.data, [])
    )
    learn = rule(
        "train_subwords", ("data",), mem_mb=lambda wc: made.corpora.learning_memory(wc.data, [])
    )
    local = rule("draw_table", (), runtime=10**6)
    yield SimpleNamespace(
        executor_plugin=object(),
        executor_settings=SimpleNamespace(submit_cmd="slurm/submit"),
        dryrun=False,
        touch=False,
        rules=[train, local, prepare, learn],
        is_local=lambda rule: rule is local,
    )
    cluster_start._enter.cache_clear()


def test_a_start_prints_how_to_stop_it_once(workflow, made):
    lines = cluster_start.lines(workflow, made, TARGET)
    says("Ctrl-C").check("\n".join(lines))
    assert cluster_start.lines(workflow, made, TARGET) == []
    assert len(list(starts.HEADS.iterdir())) == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"dryrun": True},
        {"touch": True},
        {"executor_plugin": None, "executor_settings": None},
    ],
)
def test_a_dry_run_prints_and_records_nothing(workflow, made, changed):
    vars(workflow).update(changed)
    assert cluster_start.lines(workflow, made, TARGET) == []
    assert not starts.HEADS.exists()
    assert not made.paths.cluster.exists()


@pytest.mark.parametrize(
    "settings",
    [None, SimpleNamespace(submit_cmd="sbatch"), SimpleNamespace(submit_cmd="mine/submit")],
)
def test_a_start_that_does_not_submit_by_our_profile_is_not_checked(workflow, made, settings):
    """It records itself too: its lock would else be taken for the one of a start that is gone."""
    workflow.executor_settings = settings
    workflow.rules[0].resources["runtime"] = Resource(1441)
    says("Ctrl-C here").check("\n".join(cluster_start.lines(workflow, made, TARGET)))
    assert cluster_start.lines(workflow, made, TARGET) == []
    assert len(list(starts.HEADS.iterdir())) == 1


def test_a_start_records_what_it_trains(workflow, made):
    cluster_start.lines(workflow, made, TARGET)
    [name] = made.names_of(TARGET)
    assert starts.trainings_of_all(made.paths.cluster) == {
        made.paths.training(made.runs.spec(name), 1).absolute()
    }


@pytest.mark.parametrize("target", READING)
def test_what_reads_submits_and_trains_nothing(workflow, tmp_path, target):
    made = targets(tmp_path / "results")
    assert cluster_start.lines(workflow, made, target) == []
    assert not made.paths.cluster.exists()


def test_a_start_on_this_machine_removes_the_lock_of_one_that_is_gone(workflow, made):
    workflow.executor_settings = None
    starts.LOCKS.mkdir(parents=True)
    lock = starts.LOCKS / "0.input.lock"
    lock.touch()
    version = [lock.name, lock.stat().st_ino, lock.stat().st_mtime_ns]
    gone = {"host": platform.node(), "pid": os.getpid(), "start": 1, "locks": [version]}
    write_json(starts.HEADS / "gone.json", gone)
    says("lock removed").check("\n".join(cluster_start.lines(workflow, made, TARGET)))
    assert not any(starts.LOCKS.iterdir())


def test_a_profile_that_is_not_found_from_the_working_folder_is_refused(workflow, made):
    workflow.executor_settings.submit_cmd = "elsewhere/slurm/submit"
    with refused("no such file in", where="elsewhere/slurm/submit", remedy="--profile"):
        cluster_start.lines(workflow, made, TARGET)


def test_what_a_rule_asks_for_is_checked_and_local_rules_are_not(workflow, made):
    workflow.rules[0].resources["runtime"] = Resource(1441)
    with refused("more than given", where="train_run"):
        cluster_start.lines(workflow, made, TARGET)


def test_more_gpu_hours_than_the_user_allows_are_refused(workflow, tmp_path):
    made = targets(tmp_path / "results", row="6/6", gpu_hours=23)
    with refused("GPU-hours", 1, 24, 23):
        cluster_start.lines(workflow, made, TARGET)
    path = made.paths.training(made.runs.spec("latent_depth/m2o_diverse_6_6"), 1)
    path.parent.mkdir(parents=True)
    path.touch()
    assert cluster_start.lines(workflow, made, TARGET) != []


def test_gpu_hours_are_those_of_all_targets_of_a_start(workflow, tmp_path):
    rows = [targets(tmp_path / "results", row=row, gpu_hours=24) for row in ("6/6", "12/12")]
    assert cluster_start.lines(workflow, rows[0], TARGET) != []
    with refused("GPU-hours", 2, 48, 24):
        cluster_start.lines(workflow, rows[1], TARGET)


@pytest.mark.parametrize(
    ("asked", "processes"), [({"gres": "gpu:3"}, 3), ({"gres": "gpu:1", "nodes": 2}, 2)]
)
def test_devices_that_cannot_share_an_update_are_refused_before_their_jobs_wait(
    workflow, tmp_path, asked, processes
):
    """Field fault 19: a number of GPUs that does not divide."""
    made = targets(tmp_path / "results", row="6/6", micro_batches=5)
    workflow.rules[0].resources |= {key: Resource(value) for key, value in asked.items()}
    with refused("no even shares", 5, processes, where="micro_batches"):
        cluster_start.lines(workflow, made, TARGET)

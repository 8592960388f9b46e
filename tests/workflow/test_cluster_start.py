from types import SimpleNamespace

import pytest

from fathom.cluster import heads, jobs
from fathom.cluster.slurm import Slurm
from fathom.workflow import cluster_start
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
    for name in Slurm.commands:
        answers(name)
    answers("sinfo", "main*|1-00:00:00|8000|gpu:h200:4|2|idle")
    (tmp_path / "slurm").mkdir()
    (tmp_path / "slurm" / "submit").touch()
    train = rule(
        "train_run", gres="gpu:1", runtime=1440, mem_mb=lambda wc: made.runs.memory(wc.run)
    )
    local = rule("draw_table", (), runtime=10**6)
    yield SimpleNamespace(
        executor_plugin=object(),
        executor_settings=SimpleNamespace(submit_cmd="slurm/submit"),
        dryrun=False,
        touch=False,
        rules=[train, local, rule("prepare_corpus", ("data",), runtime=60)],
        is_local=lambda rule: rule is local,
    )
    cluster_start._enter.cache_clear()


def test_a_start_prints_how_to_stop_it_once(workflow, made):
    lines = cluster_start.lines(workflow, made, TARGET)
    says("Ctrl-C").check("\n".join(lines))
    assert cluster_start.lines(workflow, made, TARGET) == []
    assert len(list(heads.HEADS.iterdir())) == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"dryrun": True},
        {"touch": True},
        {"executor_plugin": None, "executor_settings": None},
        {"executor_settings": None},
        {"executor_settings": SimpleNamespace(submit_cmd="sbatch")},
        {"executor_settings": SimpleNamespace(submit_cmd="mine/submit")},
    ],
)
def test_only_a_start_that_submits_by_our_profile_is_checked(workflow, made, changed):
    vars(workflow).update(changed)
    assert cluster_start.lines(workflow, made, TARGET) == []


def test_a_start_on_this_machine_records_itself_too(workflow, made):
    """Its lock would else be taken for the one of a start that is gone."""
    workflow.executor_settings = None
    assert cluster_start.lines(workflow, made, TARGET) == []
    assert len(list(heads.HEADS.iterdir())) == 1


@pytest.mark.parametrize("target", ["compare", "claims"])
def test_what_judges_submits_nothing(workflow, made, target):
    assert cluster_start.lines(workflow, made, target) == []


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

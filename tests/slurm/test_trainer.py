"""The real trainer on a real Slurm: whatever stops it, it ends with the bits of an unbroken run."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from fathom.io.files import read_json
from fathom.io.records import read_record
from fathom.results.run_state import read_state
from tests.pipeline.conftest import PAPER, UPDATES, copy_of_the_project, shorten
from tests.slurm.cluster import python
from tests.slurm.conftest import LONGEST, ROW, RUN, TARGET, Case, copied
from tests.support.refused import says
from tests.support.states import require_equal, state

pytestmark = pytest.mark.slurm
# Training takes longer than the time limit of a job, a minute: on a fast core too.
MANY = 1500


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """A copy of the project with all that the training reads."""
    project = copy_of_the_project(tmp_path_factory.mktemp("text"))
    change(project.folder / "config" / "config.yaml", "log_every: 25", "log_every: 5")
    project.run("snakemake", "--cores", "2", TARGET, "--until", "encode_text", *ROW)
    return project.folder


@pytest.fixture
def trained(text, cluster, tmp_path):
    """A case with the real trainer, on nodes whose GPUs are stand-ins that torch does not see."""
    with copied(text, tmp_path / "broken", cluster) as made:
        wrap(made, "FATHOM_GPUS=0")
        yield made


def wrap(case: Case, variable: str = "") -> None:
    """Let jobs call the real command by a script, whose torch a start does not see."""
    command = case.folder / ".venv" / "bin" / "fathom"
    command.parent.mkdir(parents=True, exist_ok=True)
    begin = f'{python()} -c "from fathom.cli.main import main; main()"'
    command.write_text(f'#!/bin/sh\n{variable} exec {begin} "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    case.cluster.give(case.folder)


def test_a_job_whose_gpu_torch_does_not_see_is_refused_before_it_trains(text, cluster, tmp_path):
    """It trained on one core for days without a word."""
    with copied(text, tmp_path / "refused", cluster) as case:
        wrap(case)
        printed = case.end(case.train(), 1)
        says("it asked for 1 GPU, and torch sees none").check(printed)
        assert not case.run.exists()


def change(path: Path, old: str, new: str) -> None:
    """Change a text in a file."""
    content = path.read_text(encoding="utf-8")
    assert content.count(old) == 1
    path.write_text(content.replace(old, new), encoding="utf-8")


def train_longer(folder: Path) -> None:
    """Let the run train for more updates."""
    scales = folder / "config/papers/latent_depth/scales.yaml"
    change(scales, "m2o_diverse: 300, beta", f"m2o_diverse: {MANY}, beta")


@contextmanager
def unbroken(case: Case, folder: Path, processes: int = 1):
    """Train the run of a case without Slurm and without a stop, at the same time."""
    with copied(case.folder, folder, case.cluster) as whole:
        given = {"FATHOM_DEVICES": str(processes), "FATHOM_PYTHON": sys.executable}
        programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        training = subprocess.Popen(
            ["workflow/bin/fathom-ranks", "fathom", "train", RUN],
            cwd=folder,
            env=os.environ | given | {"PATH": programs, "PYTHONPATH": f"{folder}/lib"},
        )
        try:
            yield whole.run
            assert training.wait(LONGEST) == 0
        finally:
            training.kill()


def same(one: Path, other: Path) -> None:
    """Compare weights, optimisers, random numbers, series and what was measured at the end."""
    require_equal(state(one), state(other))
    series = ("metrics.tsv", *(f"diagnostics/{path.name}" for path in one.glob("diagnostics/*")))
    for name in series:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    ends = [read_record(folder / "training.json") for folder in (one, other)]
    assert all(ends[0][key] == ends[1][key] for key in ("outcome", "validation", "parameters"))


def trains_on(case: Case) -> None:
    """Wait until two more rows of metrics are there."""

    def rows() -> int:
        path = case.run / "metrics.tsv"
        return path.read_text().count("\n") if path.exists() else 1

    before = rows()
    case.wait(lambda: rows() >= before + 2, "two more rows")


def saved(case: Case) -> str:
    """Return why the training was stopped, once it has saved."""
    case.wait(lambda: read_state(case.run).state == "saved", "saved")
    return read_state(case.run).reason


def ends(case: Case) -> list[str]:
    """Return what ended each attempt."""
    return [one["ended_as"] for one in read_json(case.run / "attempts.json")["attempts"]]


def test_a_training_that_is_stopped_in_four_ways_ends_as_an_unbroken_one(trained, tmp_path):
    """Every attempt records what ended it."""
    cluster = trained.cluster
    with unbroken(trained, tmp_path / "whole") as whole:
        head = trained.train()
        trains_on(trained)
        cluster.call("scancel", trained.job())
        says("failed").check(trained.end(head, 1))
        assert saved(trained) == "stopped"
        head = trained.train()
        trains_on(trained)
        number = trained.job()
        cluster.warn(number)
        assert saved(trained) == "limit"
        cluster.hurry(number)
        trains_on(trained)
        cluster.call("scontrol", "requeue", number)
        assert saved(trained) == "stopped"
        cluster.hurry(number, 2)
        trains_on(trained)
        os.kill(read_state(trained.run).pid, signal.SIGKILL)
        trained.end(head, 1)
        trained.end(trained.train())
    assert ends(trained)[:-1] == ["cancelled", "limit", "preempted", "killed"]
    same(whole, trained.run)


@pytest.mark.slow
def test_a_time_limit_and_a_preemption_by_slurm_itself_change_no_bit(trained, tmp_path):
    """The training knows the end of its job; preemption says nothing."""
    train_longer(trained.folder)
    cluster = trained.cluster
    with unbroken(trained, tmp_path / "whole") as whole:
        given = ("--slurm-attach-margin", "5", "--set-resources", "train_run:runtime=1")
        head = trained.train(*given)
        trains_on(trained)
        number = trained.job()
        assert saved(trained) == "limit"
        # A signal in the last minutes of a job is taken for the warning of its limit.
        cluster.call("scontrol", "update", f"jobid={number}", "timelimit=60")
        cluster.hurry(number)
        trains_on(trained)
        given = ("--partition=high", "--gres=gpu:4", "--nodes=2", "--exclusive", "--wrap=sleep 5")
        higher = cluster.call("sbatch", "--parsable", "--output=/dev/null", *given)
        assert saved(trained) == "stopped"
        trained.wait(lambda: not cluster.jobs("-j", higher), "the other job has ended")
        cluster.hurry(number, 2)
        trained.end(head)
    assert ends(trained)[:-1] == ["limit", "preempted"]
    same(whole, trained.run)


@pytest.mark.slow
def test_a_training_on_two_nodes_is_stopped_and_resumed_to_the_bit(trained, tmp_path):
    """The stop file alone stops several processes."""
    with unbroken(trained, tmp_path / "whole", 2) as whole:
        given = ("--set-resources", "train_run:nodes=2", "train_run:gres=gpu:1")
        head = trained.train(*given)
        trains_on(trained)
        number = trained.job()
        trained.cluster.warn(number)
        assert saved(trained) == "limit"
        trained.cluster.hurry(number)
        trained.end(head)
    assert ends(trained)[:-1] == ["limit"]
    same(whole, trained.run)


def test_a_table_is_made_though_its_first_process_is_killed(cluster, tmp_path):
    """From text to cells."""
    project = copy_of_the_project(tmp_path)
    shorten(project)
    case = Case(project.folder, cluster, {"OMP_NUM_THREADS": "1"})
    wrap(case)
    runs = project.folder / "results" / "runs"
    # Torch sees none of this Slurm's GPUs, so a job that asked for one would be refused.
    words = (f"{PAPER.name}_table1", "--config", "log_every=5", "scale=tiny", "device=cpu")
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

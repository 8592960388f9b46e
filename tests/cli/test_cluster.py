"""`fathom cluster`, with small scripts in the place of Slurm's commands."""

import os
import shutil
from getpass import getuser
from pathlib import Path

import pytest
import yaml

from fathom.cli.cluster import PROFILE
from fathom.cli.verbs import PROJECT_VARIABLE
from fathom.workflow.cluster_setup import edited
from tests.support.own_project import ROOT
from tests.support.refused import says

SINFO = """cpu*|2-00:00:00|64|(null)|10|(null)
gpu|12:00:00|32|gpu:h200:4(S:0-1)|8|ib,fast
gpu|12:00:00|32|gpu:a100:8|2|ib
free|infinite|8|gpu:2|1|old"""
ASSOC = """lab|normal,long|50|
course|normal|40|gres/gpu=6"""
QOS = """normal|30|gres/gpu=8
long||
other|2|gres/gpu=1"""
NO_OPTIONS = dict.fromkeys(
    ("partition", "gpu-partition", "account", "qos", "constraint", "gpu"), None
)


@pytest.fixture
def answers(tmp_path, monkeypatch):
    """A function that writes a command of Slurm, which prints a text or is a script."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    # What the machine has of Slurm, answers nothing.
    for name in ("sinfo", "sbatch", "scontrol", "sacctmgr"):
        (folder / name).write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        (folder / name).chmod(0o755)

    def write(name, text="", script=""):
        lines = script or f"cat <<'END'\n{text}\nEND"
        (folder / name).write_text(f"#!/bin/sh\n{lines}\n", encoding="utf-8")

    return write


@pytest.fixture
def cluster(answers, monkeypatch):
    """A cluster with a partition without GPUs, two with them, accounting, and a node of each."""
    answers("sinfo", SINFO)
    answers("scontrol", "SLURM_VERSION           = 23.11.4")
    # Where the environment names no user, the accounts of all users were shown.
    monkeypatch.delenv("USER", raising=False)
    monkeypatch.delenv("LOGNAME", raising=False)
    mine = f'*"user={getuser()} "*) echo "{ASSOC}";; *assoc*) ;;'
    answers("sacctmgr", script=f'case "$*" in {mine} *) echo "{QOS}";; esac')
    answers("sbatch", script='echo "$*" >> "$(dirname "$0")/asked"')
    return answers


@pytest.fixture
def profile(tmp_path, monkeypatch):
    """The profile of a copy of the project."""
    shutil.copytree(ROOT / PROFILE, tmp_path / PROFILE)
    (tmp_path / "config").symlink_to(ROOT / "config")
    monkeypatch.setenv(PROJECT_VARIABLE, str(tmp_path))
    return tmp_path / PROFILE


def read(profile):
    """Return the site, and the options of the executor and of Snakemake that setup writes."""
    site, options = (
        yaml.safe_load((profile / name).read_text(encoding="utf-8"))
        for name in ("site.yaml", "config.yaml")
    )
    ours = {key: value for key, value in options.items() if key.startswith("slurm-attach-")}
    written = {key: ours.get(f"slurm-attach-{key}") for key in NO_OPTIONS}
    return site["site"], written, options["jobs"]


def test_setup_writes_what_slurm_answers_and_asks_nothing_with_yes(
    call, cluster, profile, tmp_path
):
    before = (profile / "site.yaml").read_text(encoding="utf-8")
    answer = call("cluster", "--yes", typed=None)
    assert answer.code == 0, answer
    assert "  partition gpu: 10 nodes, 4 h200 on each of 8, 8 a100 on each of 2" in answer.out
    assert "  your account course: 6 GPUs, 40 jobs in the queue\n" in answer.out
    assert "  your qos long: no limit\n" in answer.out
    site, options, jobs = read(profile)
    assert site == {
        "gpu": "h200",
        "gpus_per_node": 4,
        "max_gpus": 4,  # 6 that the user may have at one time
        "cores_per_gpu": 4,
        "training_hours": 24,
        "longest_minutes": 720,
    }
    assert options == NO_OPTIONS | {"gpu-partition": "gpu", "gpu": "h200"}
    assert jobs == 30
    # Comments and what setup does not know stay.
    after = (profile / "site.yaml").read_text(encoding="utf-8")
    assert [line for line in before.split("\n") if line.startswith("#")] == [
        line for line in after.split("\n") if line.startswith("#")
    ]
    assert yaml.safe_load(after)["scale"] == "paper"
    asked = (tmp_path / "bin" / "asked").read_text(encoding="utf-8").strip().split("\n")
    assert len(asked) == 4
    assert "--partition=cpu" in asked[0]
    for number, line in zip((1, 2, 4), asked[1:], strict=True):
        assert f"--test-only --gres=gpu:h200:{number} --nodes=1" in line
        assert f"--cpus-per-task={4 * number} " in line
    # A second time there is nothing to write.
    assert "has all of it already" in call("cluster", "--yes").out


def test_setup_asks_what_slurm_does_not_tell_with_its_proposals(call, cluster, profile, tmp_path):
    typed = b"\nfree\nnope\nlab\nlong\nold\n"
    answer = call("cluster", typed=typed)
    assert answer.code == 0, answer
    assert "no account 'nope'" in answer.out
    site, options, jobs = read(profile)
    chosen = {"gpu-partition": "free", "account": "lab", "qos": "long", "constraint": "old"}
    assert options == NO_OPTIONS | chosen
    assert jobs == 50  # of the account; those of another QOS do not count
    asked = (tmp_path / "bin" / "asked").read_text(encoding="utf-8").strip().split("\n")
    assert all("--account=lab --qos=long --constraint=old" in line for line in asked)
    assert (site["gpus_per_node"], site["max_gpus"], site["longest_minutes"]) == (2, 2, 1440)
    assert "has no data sheet here" in answer.out


def test_without_accounting_and_with_one_partition_nothing_is_asked(call, answers, profile):
    answers("sinfo", "all*|infinite|16|gpu:2|3|(null)")
    answers("sbatch", script="exit 0")
    answer = call("cluster", typed=None)
    assert answer.code == 0, answer
    site, options, jobs = read(profile)
    assert set(options.values()) == {None}
    assert (site["gpus_per_node"], site["max_gpus"], jobs) == (2, 4, 100)


def test_a_size_that_sbatch_refuses_is_not_asked_for(call, cluster, profile):
    refusal = 'echo "sbatch: error: allocation failure: Invalid qos" >&2; exit 1'
    cluster("sbatch", script=f'case "$*" in *gpu:h200:4*) {refusal};; esac')
    answer = call("cluster", "--yes")
    assert "  sbatch refuses 4 GPUs (Invalid qos)" in answer.out
    assert read(profile)[0]["max_gpus"] == 2


@pytest.mark.parametrize(
    ("command", "script", "message"),
    [
        (
            "sinfo",
            "echo 'sinfo: fatal: Could not establish a configuration source' >&2; exit 1",
            says("Slurm lists no partitions (Could not establish a configuration source)"),
        ),
        ("sinfo", "echo '<html>|'", says("Slurm lists no partitions", where="sinfo")),
        (
            "sbatch",
            "echo 'sbatch: error: Batch job submission failed: Invalid account' >&2; exit 1",
            says("refuses a job without a GPU (Invalid account)", where="sbatch"),
        ),
        (
            "sbatch",
            'case "$*" in *gres*) echo "error: Invalid generic resource" >&2; exit 1;; esac',
            says("refuses 1 GPU (Invalid generic resource)", where="sbatch"),
        ),
    ],
)
def test_a_cluster_that_refuses_or_is_silent_is_one_message_and_writes_nothing(
    call, cluster, profile, command, script, message
):
    before = [path.read_bytes() for path in sorted(profile.glob("*.yaml"))]
    cluster(command, script=script)
    answer = call("cluster", "--yes")
    assert answer.code == 1
    message.check(answer.err)
    assert [path.read_bytes() for path in sorted(profile.glob("*.yaml"))] == before


def test_a_question_that_nobody_answers_is_one_message(call, cluster, profile):
    """It ended in a traceback, and called itself a bug."""
    answer = call("cluster", typed=b"")
    assert (answer.code, answer.err.count("\n")) == (1, 1)
    says("no answer", remedy="--yes").check(answer.err)


def test_without_slurm_setup_says_so(call, profile, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    says("no `sinfo` on the search path", where="cluster").check(call("cluster").one_line)


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("# slurm-attach-gpu: h200   # kind\n", "slurm-attach-gpu: a100   # kind\n"),
        ("#slurm-attach-gpu: <kind>\n", "slurm-attach-gpu: a100\n"),
        ("slurm-attach-gpu: v100\nx: 1\n", "slurm-attach-gpu: a100\nx: 1\n"),
        (
            "executor: slurm-attach\nx: 1\n",
            "executor: slurm-attach\nslurm-attach-gpu: a100\nx: 1\n",
        ),
        # Another key that begins like it.
        ("slurm-attach-gpu-extra: --x\n", "slurm-attach-gpu-extra: --x\nslurm-attach-gpu: a100\n"),
        ("  slurm-attach-gpu: 1  # c\n", "  slurm-attach-gpu: a100  # c\n"),
    ],
)
def test_a_line_of_yaml_gets_another_value_and_keeps_its_comment(text, new):
    assert edited(text, {"slurm-attach-gpu": "a100"}) == new


def test_the_profile_has_a_line_for_each_key_that_setup_writes():
    text = (Path(ROOT) / PROFILE / "site.yaml").read_text(encoding="utf-8")
    keys = ("gpu", "gpus_per_node", "max_gpus", "cores_per_gpu", "longest_minutes")
    values = dict.fromkeys(keys, 7)
    assert yaml.safe_load(edited(text, values))["site"] == values | {"training_hours": 24}

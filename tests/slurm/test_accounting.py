"""A Slurm with accounting: accounts that are refused, and accounting that is away."""

import json
import re
from pathlib import Path

import pytest

from tests.slurm import accounting
from tests.slurm.accounting import ACCOUNT, QOS, Accounting
from tests.slurm.cluster import USER
from tests.slurm.conftest import ROW, TARGET
from tests.slurm.test_others import stand_in
from tests.support.refused import says

pytestmark = [pytest.mark.slurm, pytest.mark.slow]
OURS = ("--slurm-attach-account", ACCOUNT, "--slurm-attach-qos", QOS)


@pytest.fixture(scope="module")
def accounts(cluster):
    """The daemons of accounting."""
    if reason := accounting.missing():
        pytest.skip(reason)
    made = Accounting(cluster)
    try:
        made.start()
        yield made
    finally:
        made.stop()


def test_an_account_that_slurm_refuses_is_one_message(accounts, case):
    printed = case.end(case.start(TARGET, "--default-resources", "account=bad", *ROW), 1)
    lines = printed.strip().split("\n")
    says("Slurm refuses").check(lines[-1])
    assert "--account=bad" in lines[-1]
    assert case.cluster.jobs() == []


def test_accounting_that_is_away_while_a_job_runs_fails_nothing(accounts, case):
    """Nothing asks for accounting."""
    account = ("--default-resources", f"account={ACCOUNT}")
    head = case.train(*account)
    case.wait_for_update(5)
    accounts.end_accounting()
    try:
        case.end(head)
    finally:
        accounts.start_accounting()
    assert case.attempts()[-1] == "to 60 finished"


def test_the_limits_of_a_user_are_waited_for_and_called_nothing_else(accounts, case):
    """10 of 11 trainings failed at the first limit, and the second was reported as stuck."""
    given = (f"--account={ACCOUNT}", f"--qos={QOS}", "--output=/dev/null", "--wrap=sleep 600")
    jobs = [accounts.cluster.call("sbatch", "--parsable", *given, user=USER) for _ in range(3)]
    try:
        head = case.train(*OURS)
        case.wait(lambda: "the cluster takes no more jobs now" in case.printed(), "a limit")
        accounts.cluster.call("scancel", jobs[2])
        case.wait(lambda: "submitted as job" in case.printed(), "submitted")
        reason = "QOSMaxJobsPerUserLimit"
        case.wait(lambda: reason in str(case.cluster.jobs("-j", case.job())), "waits")
        heads = case.folder / "results" / "cluster" / "heads"
        case.wait(lambda: any(reason in path.read_text() for path in heads.glob("*.json")), "seen")
    finally:
        accounts.cluster.call("scancel", *jobs)
    printed = case.end(head)
    assert "waits for you" not in printed
    assert printed.count("the cluster takes no more jobs now") == 1
    assert case.starts() == 1


def test_a_time_above_the_limit_of_a_qos_is_accepted_by_slurm_and_then_reported(accounts, case):
    """Without DenyOnLimit the job waits for ever."""
    head = case.start(TARGET, "--set-resources", "train_run:runtime=61", *OURS, *ROW)
    line = "waits for you (QOSMaxWallDurationPerJobLimit): scancel"
    case.wait(lambda: line in case.printed(), line)
    case.kill(head)


# A workflow of somebody else: jobs with and without a GPU, of which those that train can resume.
WORKFLOW = """
rule all:
    input: expand("{at}.table", at=range(5))
    localrule: True
    output: "all.txt"
    shell: "cat {input} > {output}"
rule text:
    output: "{at}.text"
    resources: mem_mb=100, runtime=5
    shell: "sleep 3; echo text > {output}"
rule train:
    input: "{at}.text"
    output: "{at}.table"
    resources: mem_mb=100, runtime=5, gpu=1, resumes=lambda w: f"{w.at}.save"
    shell: "touch {wildcards.at}.save; sleep 3; echo trained > {output}"
"""


def test_a_workflow_of_somebody_else_ends_well_on_a_nasty_site(accounts, case, tmp_path):
    """Partitions that refuse, limits of all kinds, other jobs of the user, and a banner."""
    for command in ("squeue", "sbatch", "scontrol", "scancel", "sinfo"):
        stand_in(case, tmp_path, command)
    (case.folder / "theirs.smk").write_text(WORKFLOW)
    given = ("sbatch", "--parsable", "--output=/dev/null", "--mem=10", f"--account={ACCOUNT}")
    others = [
        case.cluster.call(*given, "--wrap=sleep 600", ":", "-n1", user=USER),
        case.cluster.call(*given, "--array=1-3%1", "--wrap=sleep 600", user=USER),
    ]
    words = ("-s", "theirs.smk", *OURS, "--slurm-attach-partition", "cpu", "all")
    try:
        case.end(case.start(*words, log="refused.log"), 1)
        refused = case.printed("refused.log")
        printed = case.end(case.start(*words, "--slurm-attach-gpu-partition", "gpu"))
    finally:
        case.cluster.call("scancel", *others)
    says("train: Slurm refuses a job: the partition cpu is for other jobs").check(refused)
    assert "--partition=cpu (`slurm-attach-partition` of the command line)" in refused
    assert (case.folder / "all.txt").read_text() == "trained\n" * 5
    assert printed.count("submitted as job") == 10
    assert "the cluster takes no more jobs now (QOSMaxSubmitJobPerUserLimit); " in printed
    assert not re.search("waits for you|failed|does not answer", printed)
    folders = (case.folder / ".snakemake" / "slurm-attach").glob("sa-train-*/request.json")
    saves = {Path(json.loads(path.read_text())["resumes"]).name for path in folders}
    assert saves == {f"{at}.save" for at in range(5)}

"""A Slurm with accounting: accounts that are refused, and accounting that is away."""

import pytest

from tests.slurm import accounting
from tests.slurm.accounting import ACCOUNT, QOS, Accounting
from tests.slurm.cluster import wait
from tests.slurm.conftest import ROW, TARGET
from tests.support.refused import says

pytestmark = [pytest.mark.slurm, pytest.mark.slow]


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
    """Field fault 19."""
    printed = case.end(case.start(TARGET, "--default-resources", "account=bad", *ROW), 1)
    lines = printed.strip().split("\n")
    says("Slurm refuses").check(lines[-1])
    assert "--account=bad" in lines[-1]
    assert case.cluster.jobs() == []


def test_accounting_that_is_away_while_a_job_runs_fails_nothing(accounts, case):
    """Field fault 8: nothing asks for accounting."""
    account = ("--default-resources", f"account={ACCOUNT}")
    head = case.start(TARGET, "--until", "train_run", *account, *ROW)
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
    runs, waits = (accounts.cluster.call("sbatch", "--parsable", *given) for _ in range(2))
    ours = ("--slurm-attach-account", ACCOUNT, "--slurm-attach-qos", QOS)
    try:
        head = case.start(TARGET, "--until", "train_run", *ours, *ROW)
        wait(lambda: "the cluster takes no more jobs now" in case.printed(), "a limit")
        accounts.cluster.call("scancel", waits)
        wait(lambda: "submitted as job" in case.printed(), "submitted")
        reason = "QOSMaxJobsPerUserLimit"
        wait(lambda: reason in str(case.cluster.jobs("-j", case.job())), "waits")
        heads = case.folder / "results" / "cluster" / "heads"
        wait(lambda: any(reason in path.read_text() for path in heads.glob("*.json")), "seen")
    finally:
        accounts.cluster.call("scancel", runs, waits)
    printed = case.end(head)
    assert "will not start by itself" not in printed
    assert printed.count("the cluster takes no more jobs now") == 1
    assert case.starts() == 1

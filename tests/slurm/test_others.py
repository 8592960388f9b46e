"""Other jobs, other starts, other partitions and nodes: real Slurm, stand-in trainer."""

import pytest

from tests.slurm.cluster import USER
from tests.support.refused import says

pytestmark = pytest.mark.slurm
BANNER = '#!/bin/sh\necho "Welcome; maintenance on Monday" >&2\n'


def stand_in(case, folder, command, body=""):
    """Put a command before Slurm's, which it calls at its end."""
    path = folder / "bin" / command
    path.parent.mkdir(mode=0o755, exist_ok=True)
    path.write_text(f'{BANNER}{body}exec /usr/bin/{command} "$@"\n')
    path.chmod(0o755)
    case.variables["PATH"] = f"{path.parent}:{case.cluster.environment['PATH']}"


def test_a_killed_heads_job_is_taken_over_beside_other_jobs_and_banners(case, tmp_path):
    """It was submitted again; and a heterogeneous job silenced Slurm for all jobs of its user."""
    for command in ("squeue", "sbatch", "scontrol", "scancel", "sinfo"):
        stand_in(case, tmp_path, command)
    given = ("sbatch", "--parsable", "--output=/dev/null", "--mem=10")
    others = [
        case.cluster.call(*given, "--wrap=sleep 600", ":", "-n1", user=USER),
        case.cluster.call(*given, "--array=1-3%1", "--wrap=sleep 600", user=USER),
    ]
    gate = case.folder / "gate"
    case.variables["TRIAL_GATE"] = str(gate)
    try:
        head = case.train()
        case.wait_for_update(10)
        number = case.job()
        taken_over = f"taken over, still job {number}"
        case.kill(head)
        head = case.train()
        case.wait(lambda: taken_over in case.printed(), "taken over")
        gate.touch()
        printed = case.end(head)
    finally:
        case.cluster.call("scancel", *others)
    says(taken_over).check(printed)
    says("the lock of an earlier start, which is gone, is removed").check(printed)
    assert "does not answer" not in printed
    assert case.attempts() == [f"from 0 job {number}", "to 60 finished"]


def test_two_starts_that_both_looked_before_either_submitted_train_once(case, tmp_path):
    """Slurm holds the second job back, and the starts agree on the first."""
    blind = tmp_path / "blind"
    blind.touch()
    body = f'[ -e "{blind}" ] && {{ echo "JOBID|NAME|STATE|REASON|COMMENT"; exit 0; }}\n'
    stand_in(case, tmp_path, "squeue", body)
    case.variables["TRIAL_UPDATES"] = "200"
    heads = []
    for at in range(2):
        # Nothing is shared but the results, so that no start finds the number of the other.
        given = ("--nolock", "--slurm-attach-folder", str(tmp_path / f"known{at}"))
        heads.append(case.train(*given, log=f"{at}.log"))

    def submitted():
        return ["submitted as job" in case.printed(f"{at}.log") for at in range(2)]

    case.wait(lambda: all(submitted()), "two jobs")
    blind.unlink()
    codes = [head.wait() for head in heads]
    printed = case.printed("0.log") + case.printed("1.log")
    assert codes == [0, 0], printed
    assert "its double is cancelled" in printed
    assert case.starts() == 1


def test_preemption_that_cancels_is_continued_by_the_same_start(case):
    """The start took PREEMPTED for a job that runs, and lost it."""
    case.variables |= {"TRIAL_UPDATES": "120"}
    head = case.train("--set-resources", "train_run:partition=scavenge")
    case.wait_for_update(12)
    number = case.job()
    words = ("--partition=high", "--gres=gpu:4", "--nodes=2", "--exclusive", "--wrap", "sleep 5")
    case.cluster.call("sbatch", "--parsable", "--output=/dev/null", *words)
    says(f"job {number} ended by PREEMPTED; it is continued").check(case.end(head))
    update = case.attempts()[1].split()[1]
    assert case.attempts()[2].startswith(f"from {update} job ")
    assert f"job {number}" not in case.attempts()[2]
    assert case.attempts()[-1] == "to 120 finished"


@pytest.mark.slow
def test_a_job_whose_node_goes_down_runs_again_from_its_last_save(case):
    case.variables |= {"TRIAL_UPDATES": "120"}
    head = case.train()
    case.wait_for_update(12)
    number = case.job()
    node = case.cluster.call("squeue", "-h", "-j", number, "-o", "%N")
    case.cluster.call("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
    try:
        case.cluster.hurry(number)
    finally:
        case.cluster.call("scontrol", "update", f"nodename={node}", "state=resume", check=False)
    case.end(head)
    update = case.attempts()[1].split()[1]
    assert case.attempts()[2:] == [f"from {update} job {number}", "to 120 finished"]


@pytest.mark.slow
def test_a_training_on_two_nodes_starts_a_process_for_each_device(case):
    """The stand-in counts as many starts as there are processes."""
    given = ("--set-resources", "train_run:nodes=2", "train_run:gres=gpu:2")
    head = case.train(*given)
    case.end(head)
    assert case.starts() == 4
    assert case.attempts()[-1] == "to 60 finished"

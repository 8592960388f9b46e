"""Other jobs, other starts and other partitions: real Slurm, stand-in trainer."""

import pytest

from tests.slurm.conftest import ROW, TARGET
from tests.support.refused import says

pytestmark = pytest.mark.slurm
TRAINING = (TARGET, "--until", "train_run")
BANNER = '#!/bin/sh\necho "Welcome; maintenance on Monday" >&2\n'


def stand_in(case, folder, command, body=""):
    """Put a command before Slurm's, which it calls at its end."""
    path = folder / "bin" / command
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'{BANNER}{body}exec /usr/bin/{command} "$@"\n')
    path.chmod(0o755)
    case.variables["PATH"] = f"{path.parent}:{case.cluster.environment['PATH']}"


def test_heterogeneous_jobs_arrays_and_banners_of_the_same_user_disturb_nothing(case, tmp_path):
    """A row of a heterogeneous job silenced Slurm for all jobs of its user."""
    for command in ("squeue", "sbatch", "scontrol", "scancel", "sinfo"):
        stand_in(case, tmp_path, command)
    given = ("sbatch", "--parsable", "--output=/dev/null", "--mem=10")
    others = [
        case.cluster.call(*given, "--wrap=sleep 600", ":", "-n1"),
        case.cluster.call(*given, "--array=1-3%1", "--wrap=sleep 600"),
    ]
    gate = case.folder / "gate"
    case.variables["TRIAL_GATE"] = str(gate)
    try:
        head = case.start()
        case.wait_for_update(10)
        taken_over = f"taken over, still job {case.job()}"
        case.kill(head)
        head = case.start()
        case.wait(lambda: taken_over in case.printed(), "taken over")
        gate.touch()
        printed = case.end(head)
    finally:
        case.cluster.call("scancel", *others)
    says(taken_over).check(printed)
    assert "does not answer" not in printed
    assert case.starts() == 1


def test_two_starts_that_both_looked_before_either_submitted_train_once(case, tmp_path):
    """Slurm holds the second job back, and the starts agree on the first."""
    blind = tmp_path / "blind"
    blind.touch()
    body = f'[ -e {blind} ] && {{ echo "JOBID|NAME|STATE|REASON"; exit 0; }}\n'
    stand_in(case, tmp_path, "squeue", body)
    case.variables["TRIAL_UPDATES"] = "200"
    heads = []
    for at in range(2):
        # Nothing is shared but the results, so that no start finds the number of the other.
        given = ("--nolock", "--slurm-attach-folder", str(tmp_path / f"known{at}"))
        heads.append(case.start(*TRAINING, *given, *ROW, log=f"{at}.log"))

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
    head = case.start(*TRAINING, "--set-resources", "train_run:partition=scavenge", *ROW)
    case.wait_for_update(12)
    number = case.job()
    words = ("--partition=high", "--gres=gpu:4", "--nodes=2", "--exclusive", "--wrap", "sleep 5")
    case.cluster.call("sbatch", "--parsable", "--output=/dev/null", *words)
    says(f"job {number} ended by PREEMPTED; it is continued").check(case.end(head))
    update = case.attempts()[1].split()[1]
    assert case.attempts()[2].startswith(f"from {update} job ")
    assert f"job {number}" not in case.attempts()[2]
    assert case.attempts()[-1] == "to 120 finished"


def test_a_requeue_while_a_start_waits_resumes_under_the_same_number(case):
    """The marker of the first attempt failed the start."""
    case.variables |= {"TRIAL_UPDATES": "120"}
    head = case.start()
    case.wait_for_update(12)
    number = case.job()
    case.cluster.call("scontrol", "requeue", number)
    case.wait(lambda: case.attempts()[-1].startswith("to "), "stopped")
    update = case.attempts()[1].split()[1]
    case.cluster.hurry(number)
    case.end(head)
    assert case.attempts()[2:] == [f"from {update} job {number}", "to 120 finished"]

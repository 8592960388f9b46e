"""What a cluster does to jobs, and what becomes of a training: real Slurm, stand-in trainer."""

import signal
import time

import pytest

from snakemake_executor_plugin_slurm_attach.runner import LIMIT
from tests.slurm.test_others import stand_in
from tests.support.refused import says

pytestmark = pytest.mark.slurm


def test_two_heads_at_once_submit_one_job(case):
    """The second one has other targets, so Snakemake's own lock does not hold it back."""
    heads = [case.train("--nolock", log=f"{at}.log") for at in range(2)]
    codes = [head.wait() for head in heads]
    assert codes == [0, 0], case.printed("0.log") + case.printed("1.log")
    assert case.starts() == 1


def test_a_time_limit_saves_and_continues_under_the_same_number(case):
    """Slurm's clock is coarse: the warning comes 20 to 80 s after the start."""
    case.variables |= {"TRIAL_UPDATES": "1000"}
    given = ("--slurm-attach-margin", "40", "--set-resources", "train_run:runtime=2")
    head = case.train(*given)
    case.wait_for_update(1)
    number = case.job()
    while True:
        case.wait(lambda: case.attempts()[-1].startswith("to "), "the attempt has ended")
        if "finished" in case.attempts()[-1]:
            break
        assert f" {LIMIT} " in case.attempts()[-1]
        count = case.starts()
        case.cluster.hurry(number, count)
        case.wait(lambda count=count: case.starts() > count, "the next attempt has begun")
    case.end(head)
    assert case.starts() > 1
    begins = [line.split() for line in case.attempts() if line.startswith("from ")]
    assert {line[-1] for line in begins} == {number}
    ends = [int(line.split()[1]) for line in case.attempts() if line.startswith("to ")]
    assert [int(line[1]) for line in begins] == [0, *ends[:-1]]
    assert ends[-1] == 1000


def test_a_limit_that_is_too_short_for_one_save_ends_after_two_attempts(case):
    """Rows of metrics.tsv were taken for progress: a job was requeued for ever."""
    case.variables |= {"TRIAL_UPDATES": "2000", "TRIAL_NO_SAVE": "1"}
    head = case.train()
    case.wait_for_update(3)
    number = case.job()
    case.cluster.warn(number)
    case.cluster.hurry(number)
    case.wait(lambda: case.starts() == 2, "second attempt")
    case.cluster.warn(number)
    says("the time limit is too short for one save").check(case.end(head, 1))
    assert case.starts() == 2


def test_a_cancelled_job_saves_fails_and_resumes_at_the_next_start(case):
    case.variables |= {"TRIAL_UPDATES": "80", "TRIAL_SAVE_SECONDS": "2"}
    head = case.train()
    case.wait_for_update(12)
    case.cluster.call("scancel", case.job())
    printed = case.end(head, 1)
    says("failed").check(printed)
    update = int(case.attempts()[-1].split()[1])
    case.end(case.train())
    assert case.attempts()[2].startswith(f"from {update} ")
    assert case.attempts()[-1] == "to 80 finished"


def test_a_stop_in_the_last_second_costs_no_finished_training(case):
    """Its exit code says that it was stopped, and all of its files are complete."""
    case.variables["TRIAL_LAST_CODE"] = "143"
    case.end(case.train())
    assert case.attempts()[-1] == "to 60 finished"
    head = case.train()
    case.end(head)
    assert case.starts() == 1


def test_slurm_that_is_away_while_the_job_ends_fails_nothing(case):
    """There is no accounting here."""
    case.variables["TRIAL_UPDATES"] = "80"
    head = case.train()
    case.wait_for_update(5)
    case.cluster.end_controller()
    try:
        case.wait_for_update(80)
        time.sleep(5)
        # A job that has ended well is known by its end marker alone.
        assert head.poll() in (None, 0)
    finally:
        case.cluster.start_controller()
    case.end(head)
    assert case.starts() == 1


def test_a_lost_answer_of_sbatch_submits_one_job(case, tmp_path):
    body = 'case "$*" in *--test-only*) exec /usr/bin/sbatch "$@";; esac\n'
    body += '/usr/bin/sbatch "$@" > /dev/null\n'
    body += 'echo "sbatch: error: Socket timed out on send/recv operation" >&2\nexit 1\n'
    stand_in(case, tmp_path, "sbatch", body)
    case.end(case.train())
    assert case.starts() == 1


def test_a_job_that_slurm_has_forgotten_is_known_by_its_end_marker(case):
    case.variables["TRIAL_UPDATES"] = "40"
    case.cluster.configure(min_job_age=2)
    case.cluster.restart()
    try:
        head = case.train()
        case.wait_for_update(5)
        case.signal(head, signal.SIGSTOP)
        case.wait(lambda: (case.run / "training.json").exists(), "finished")
        case.wait(lambda: not case.cluster.jobs("--states=all"), "forgotten")
        case.signal(head, signal.SIGCONT)
        case.end(head)
    finally:
        case.cluster.configure()
        case.cluster.restart()


def test_a_held_job_is_reported_with_what_frees_it(case):
    case.variables["TRIAL_UPDATES"] = "80"
    head = case.train()
    case.wait_for_update(5)
    number = case.job()
    case.cluster.call("scontrol", "requeuehold", number)
    case.wait(lambda: f"scontrol release {number}" in case.printed(), "reported")
    case.cluster.call("scontrol", "release", number)
    case.cluster.hurry(number)
    case.end(head)
    assert case.attempts()[-1] == "to 80 finished"


def test_a_job_says_that_config_has_changed_while_it_waited(case):
    """Its run had another folder then: `no run of scale tiny has this folder`."""
    case.cluster.call("scontrol", "update", "nodename=n1,n2", "state=drain", "reason=test")
    try:
        head = case.train()
        case.wait(lambda: "submitted as job" in case.printed(), "submitted")
        scale = case.folder / "config" / "scales" / "tiny.yaml"
        text = scale.read_text(encoding="utf-8")
        scale.write_text(text.replace("tokens: 128, ", "tokens: 120, "), encoding="utf-8")
    finally:
        case.cluster.call("scontrol", "update", "nodename=n1,n2", "state=resume")
    case.end(head, 1)
    [lines] = (case.folder / "results" / "cluster").glob("sa-train_run*/*.out")
    said = lines.read_text(encoding="utf-8")
    says("no run of scale tiny has this folder").check(said)
    says("config/ or lib/ has changed since this job was submitted: start again").check(said)


@pytest.mark.parametrize(
    "words", [(), ("--slurm-attach-memory=per-cpu", "--slurm-attach-gpu-as=gpus")]
)
def test_a_drained_partition_holds_its_jobs_and_a_renamed_job_is_never_lost(case, words):
    """Trainings were lost for a drain of half a minute, and trained twice after a new name."""
    gate = case.folder / "gate"
    case.variables["TRIAL_GATE"] = str(gate)
    update = ("scontrol", "update")
    case.cluster.call(*update, "partitionname=main", "state=drain")
    try:
        head = case.train(*words)
        case.wait(lambda: "takes no more jobs now (Required partition" in case.printed(), "held")
    finally:
        case.cluster.call(*update, "partitionname=main", "state=up")
    case.wait_for_update(10)
    case.cluster.call(*update, f"jobid={case.job()}", "name=mine")
    case.kill(head)
    head = case.train(*words)
    case.wait(lambda: "taken over, still job" in case.printed(), "taken over")
    gate.touch()
    assert case.end(head).count("takes no more jobs now") == case.starts() == 1

"""What Slurm answers: every state, silence, garbage."""

import pytest

from fathom.cluster.jobs import Folder, read
from fathom.cluster.slurm import (
    COMMANDS,
    FAILED,
    RUNNING,
    SUCCESS,
    JobState,
    Slurm,
    ask,
    is_permanent,
    job_state,
    missing,
)

SLURM = Slurm()
WAITS = "PENDING RUNNING COMPLETING CONFIGURING SUSPENDED PREEMPTED REQUEUED REQUEUE_HOLD"
WAITS += " REQUEUE_FED SPECIAL_EXIT STOPPED STAGE_OUT SIGNALING RESIZING A_WORD_OF_TOMORROW"
ENDS = "FAILED CANCELLED TIMEOUT NODE_FAIL OUT_OF_MEMORY BOOT_FAIL DEADLINE"
WORDS = [("COMPLETED", SUCCESS)]
WORDS += [(name, RUNNING) for name in WAITS.split()] + [(name, FAILED) for name in ENDS.split()]
# What a proxy, a banner or a broken controller may print, with exit code 0.


@pytest.mark.parametrize(("name", "word"), WORDS)
def test_each_state_is_running_success_or_failed(answers, name, word):
    answers("squeue", f"7|{name}|None\n17|FAILED|x|y")
    assert SLURM.states()["7"] == JobState(word, name, "None")


# With exit code 0, what a proxy, a banner or a broken controller may print; then an error.
@pytest.mark.parametrize(
    "answer",
    [
        {"text": "<html>502 Bad Gateway</html>"},
        {"text": "7 RUNNING"},
        {"text": "Welcome\n7|RUNNING|None"},
        {"script": r"head -c 300 /dev/urandom; echo"},
        {"code": 1, "message": "slurm_load_jobs error: Unable to contact slurm controller"},
    ],
)
def test_garbage_and_errors_are_silence(answers, answer):
    answers("squeue", **answer)
    answers("scontrol", **answer)
    assert SLURM.states() is None
    assert SLURM.find("x") is None
    if "code" in answer:
        assert SLURM.is_live("7") is None


def test_tasks_of_arrays_are_left_out(answers):
    answers("squeue", "8_[1-4]|PENDING|None\n8_5|RUNNING|None\n9|RUNNING|None")
    assert set(SLURM.states()) == {"9"}


def test_a_job_that_squeue_left_out_is_asked_for_by_number(answers):
    answers("scontrol", "JobId=7 JobName=x JobState=RUNNING Reason=None")
    assert SLURM.is_live("7") is True
    answers("scontrol", "JobId=7 JobName=x JobState=COMPLETED Reason=None")
    assert SLURM.is_live("7") is False
    answers("scontrol", code=1, message="slurm_load_jobs error: Invalid job id specified")
    assert SLURM.is_live("7") is False


def test_a_submission_asks_for_what_the_profile_gives_and_for_a_warning(answers, calls, script):
    answers("sbatch", "12;toy")
    given = {"runtime": 60, "mem_mb": 500, "partition": "long", "nodes": 2, "gpu": 3}
    job = read(script(resources=given))
    answer = SLURM.submit(job, Folder(job.outputs[0].parent), ["runner", "folder"])
    assert (answer.code, answer.text) == (0, "12")
    [line] = calls("sbatch")
    for word in ("--requeue", "--open-mode=append", f"--job-name={job.name}", "--signal=B:USR1@"):
        assert word in line
    for word in ("--time=60", "--mem=500", "--partition=long", "--nodes=2", "--gres=gpu:3"):
        assert word in line
    assert line.endswith("runner folder")


def test_an_answer_that_is_not_a_number_is_not_a_submission(answers, script):
    answers("sbatch", "Welcome to our cluster")
    job = read(script())
    assert SLURM.submit(job, Folder(job.outputs[0].parent), ["runner"]).code != 0


@pytest.mark.parametrize(
    ("reason", "command"),
    [
        ("JobHeldUser", "scontrol release 7"),
        ("launch failed requeued held", "scontrol release 7"),
        ("PartitionTimeLimit", "scancel 7"),
        ("QOSMaxWallDurationPerJobLimit", "scancel 7"),
        ("AssocGrpGRES", None),
        ("Priority", None),
        ("Resources", None),
        ("BeginTime", None),
    ],
)
def test_a_job_that_will_not_start_has_a_cure(reason, command):
    cure = SLURM.cure("7", JobState(RUNNING, "PENDING", reason))
    assert (cure or "").startswith(command or "")
    assert (cure is None) == (command is None)
    assert SLURM.cure("7", JobState(RUNNING, "RUNNING", reason)) is None


def test_the_end_of_a_jobs_time_is_slurms(answers, monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.delenv("SLURM_JOB_END_TIME", raising=False)
    answers("squeue", "2026-01-02T03:04:05")
    assert SLURM.end_time("7") is not None
    answers("squeue", "N/A")
    assert SLURM.end_time("7") is None
    monkeypatch.setenv("SLURM_JOB_END_TIME", "1795365449")
    assert SLURM.end_time("7") == 1795365449


def test_a_command_always_ends_and_never_raises(answers):
    answers("squeue", script="sleep 60")
    assert ask("squeue", seconds=0.2).code == 124
    assert ask("no-such-command").code == 127
    answers("squeue", script=r"printf '\377\376'")
    assert ask("squeue").code == 0


def test_a_command_that_is_missing_is_named(answers, tmp_path, monkeypatch):
    # The machine may have a Slurm.
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for name in COMMANDS[:-1]:
        answers(name)
    assert missing() == COMMANDS[-1]
    answers(COMMANDS[-1])
    assert missing() is None


def test_a_refusal_that_stays_is_known_by_its_words():
    assert is_permanent("sbatch: error: Invalid partition specified: x")
    assert not is_permanent("sbatch: error: Socket timed out on send/recv operation")


def test_a_job_is_looked_up_where_slurm_is(answers, monkeypatch):
    for name in COMMANDS:
        answers(name, "JobId=7 JobState=RUNNING")
    assert job_state("7") is True
    answers("scontrol", code=1, message="slurm_load_jobs error: Invalid job id specified")
    assert job_state("7") is False
    monkeypatch.setenv("PATH", "")
    assert job_state("7") is None

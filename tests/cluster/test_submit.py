import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from fathom.cluster import submit as module
from fathom.cluster.jobs import Folder, read
from fathom.cluster.slurm import Slurm
from fathom.cluster.submit import cancel, submit, submit_again
from fathom.io.errors import FathomError
from tests.support.own_project import ROOT

TIMED_OUT = "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation"
UNKNOWN = "slurm_load_jobs error: Invalid job id specified"


@pytest.fixture(autouse=True)
def quick(monkeypatch, answers):
    """No pauses, and a Slurm with an empty queue that accepts jobs as 7."""
    monkeypatch.setattr(module, "LATE", 0.0)
    answers("squeue")
    answers("sbatch", "7")
    answers("scontrol", code=1, message=UNKNOWN)


def start(path, pauses=(0.0, 0.0)):
    return submit(Slurm(), path, ROOT / "slurm" / "runner", pauses)


def test_a_new_job_is_submitted_once_and_remembered(script, calls, above):
    path = script()
    assert start(path) == "7"
    assert len(calls("sbatch")) == 1
    folder = Folder(above / read(path).name)
    assert folder.record()["now"] == "7"
    assert folder.script.read_text() == path.read_text()


def test_a_job_that_begins_before_its_submission_is_answered_has_what_it_reads(
    script, answers, above
):
    """It took its outputs from what is recorded after the answer, and failed though it had them."""
    answers("sbatch", script='ls "$FATHOM_CLUSTER"/*/ > "$CALLS.there"; echo 7')
    start(script())
    [there] = above.parents[1].glob("*.there")
    assert {"script.sh", "outputs.json"} < set(there.read_text().split("\n"))


def test_a_job_of_an_earlier_start_is_taken_over(script, calls, answers, capsys):
    answers("squeue", "5")
    assert start(script()) == "5"
    assert calls("sbatch") == []
    assert "taken over, still job 5" in capsys.readouterr().err


def test_a_job_that_has_ended_is_submitted_again(script, calls, answers):
    path = script()
    start(path)
    answers("scontrol", "JobId=7 JobState=FAILED Reason=None")
    answers("sbatch", "9")
    assert start(path) == "9"
    assert len(calls("sbatch")) == 2


@pytest.mark.parametrize("answer", [{"code": 1}, {"text": "<html>502 Bad Gateway</html>"}])
def test_silence_and_garbage_submit_nothing(script, calls, answers, answer):
    """Field fault 8."""
    answers("squeue", **answer)
    with pytest.raises(FathomError, match="Slurm does not answer"):
        start(script())
    assert len(calls("squeue")) == 3
    assert calls("sbatch") == []


def test_a_job_is_not_submitted_twice_where_its_last_number_is_not_known_to_have_ended(
    script, calls, answers
):
    path = script()
    start(path)
    # A Slurm that has just started lists nothing.
    answers("scontrol", "JobId=7 JobState=RUNNING Reason=None")
    assert start(path) == "7"
    answers("scontrol", code=1, message="Unable to contact slurm controller")
    with pytest.raises(FathomError, match="Slurm does not answer"):
        start(path)
    assert len(calls("sbatch")) == 1


def test_a_lost_answer_is_found_by_name(script, calls, answers):
    """Field fault 9: sbatch reports an error, and has accepted the job."""
    answers("sbatch", code=1, message=TIMED_OUT)
    answers("squeue", script='grep -q sbatch "$CALLS" && echo 8; exit 0')
    assert start(script()) == "8"
    assert len(calls("sbatch")) == 1


def test_a_passing_error_is_tried_again(script, calls, answers):
    once = f"[ $(grep -c sbatch $CALLS) -gt 1 ] && echo 7 && exit 0; echo '{TIMED_OUT}' >&2; exit 1"
    answers("sbatch", script=once)
    assert start(script()) == "7"
    assert len(calls("sbatch")) == 2


def test_a_refusal_that_stays_is_one_message(script, calls, answers):
    answers("sbatch", code=1, message="sbatch: error: invalid partition specified: nosuch")
    with pytest.raises(FathomError, match=r"train_run m2o_diverse_6_6-106be524\.1: Slurm refuses"):
        start(script())
    assert len(calls("sbatch")) == 1


def test_two_starts_at_once_submit_one_job(script, calls, answers):
    answers("sbatch", script='sleep 0.2; touch "$CALLS.done"; echo 7')
    answers("squeue", script='[ -e "$CALLS.done" ] && echo 7; exit 0')
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(start, [script(), script()])) == ["7", "7"]
    assert len(calls("sbatch")) == 1


def test_a_successor_keeps_the_number_that_snakemake_knows(script, above, answers):
    path = script()
    start(path)
    folder = Folder(above / read(path).name)
    answers("sbatch", "8")
    assert submit_again(Slurm(), folder) == "8"
    assert (folder.record()["id"], folder.record()["now"]) == ("7", "8")
    answers("squeue", "8")
    assert start(path) == "7"


def test_a_job_is_cancelled_under_the_number_of_its_successor(above, answers, calls, script):
    job = read(script())
    folder = Folder(above / job.name)
    folder.path.mkdir()
    folder.remember(job, "7", "9", [])
    answers("scancel")
    cancel(Slurm(), ["7", "8"])
    assert calls() == ["scancel 9 8"]


@pytest.mark.slow
def test_the_profiles_command_prints_the_number_alone(script, answers):
    command = [ROOT / "slurm" / "submit", script()]
    environment = os.environ | {"FATHOM_PYTHON": sys.executable, "PYTHONPATH": str(ROOT / "lib")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "7\n", "")
    answers("sbatch", code=1, message="sbatch: error: Invalid qos specification")
    answers("scontrol", "JobState=FAILED")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "Slurm refuses the job" in done.stderr

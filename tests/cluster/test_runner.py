import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from fathom.cluster.jobs import Folder, read
from fathom.cluster.runner import LIMIT, REQUEUED, TOO_SHORT, Ending, begin, ending, finish
from fathom.cluster.slurm import Slurm
from fathom.cluster.status import AGAIN, Marker, marker_of
from fathom.io.files import write_json
from tests.slurm.cluster import wait
from tests.support.own_project import ROOT


@pytest.mark.parametrize(
    ("code", "why", "finished", "progressed", "stuck", "result"),
    [
        (0, "", True, True, 0, Ending(0, "")),
        # Stopped in the last second: all files are complete.
        (1, "signal", True, False, 1, Ending(0, "")),
        (1, LIMIT, True, False, 1, Ending(0, "")),
        # By itself, or cancelled: not continued.
        (1, "", False, True, 0, Ending(1, "")),
        (1, "signal", False, True, 0, Ending(1, "signal")),
        # At the limit: continued while there is progress.
        (1, LIMIT, False, True, 1, Ending(1, LIMIT, again=True, stuck=0)),
        (1, LIMIT, False, False, 0, Ending(1, LIMIT, again=True, stuck=1)),
        (1, LIMIT, False, False, 1, Ending(1, TOO_SHORT, stuck=2)),
    ],
)
def test_what_follows_an_attempt(code, why, finished, progressed, stuck, result):
    assert ending(code, why, finished, progressed, stuck) == result


@pytest.fixture
def folder(above, script, answers):
    """The folder of job 7, whose training has begun."""
    answers("squeue", "N/A")
    answers("scontrol")
    path = script(resources={"gres": "gpu:1"})
    job = read(path)
    made = Folder(above / job.name)
    made.path.mkdir()
    made.prepare(path, job)
    job.outputs[0].parent.mkdir(parents=True)
    assert begin(Slurm(), made, "7") == (0, 1, 1, 1)
    return made


def output(folder):
    return read(folder.script).outputs[0]


def save(folder, text):
    """Write a newer checkpoint, as a training does."""
    path = output(folder).parent / "checkpoints" / "last.pt"
    path.parent.mkdir(exist_ok=True)
    fresh = path.with_name("fresh.pt")
    fresh.write_text(text)
    fresh.replace(path)


def test_a_failed_job_with_all_of_its_files_has_finished(folder):
    output(folder).write_text("{}")
    assert finish(Slurm(), folder, "7", 1, "signal") == 0
    assert marker_of(folder, "7") == Marker(0)
    # At the next start they are files of an earlier training.
    begin(Slurm(), folder, "7")
    assert finish(Slurm(), folder, "7", 1, "") == 1


def test_a_limit_continues_the_job_and_leaves_no_marker(folder, calls):
    save(folder, "1")
    assert finish(Slurm(), folder, "7", 1, LIMIT) == REQUEUED
    assert marker_of(folder, "7") is None
    assert calls("scontrol") == ["scontrol requeue 7"]


def test_two_attempts_without_a_newer_checkpoint_end_the_job(folder, calls):
    """Rows of metrics.tsv are no progress: with them a job was requeued for ever."""
    save(folder, "1")
    assert finish(Slurm(), folder, "7", 1, LIMIT) == REQUEUED
    for code in (REQUEUED, 1):
        begin(Slurm(), folder, "7")
        (output(folder).parent / "metrics.tsv").write_text("update\n1\n")
        assert finish(Slurm(), folder, "7", 1, LIMIT) == code
    assert marker_of(folder, "7") == Marker(1, TOO_SHORT)
    assert len(calls("scontrol")) == 2


@pytest.mark.parametrize(
    ("state", "code", "why"),
    [
        # It knows the end of its job's time, and stopped by itself.
        ({"state": "saved", "reason": "limit"}, REQUEUED, None),
        ({"state": "saved", "reason": "cancelled"}, 1, ""),
        ({"state": "out_of_memory", "reason": "lower it"}, 1, "out of memory: lower it"),
    ],
)
def test_the_state_of_the_training_says_what_its_exit_code_does_not(folder, state, code, why):
    save(folder, "1")
    write_json(output(folder).parent / "state.json", state)
    assert finish(Slurm(), folder, "7", 1, "") == code
    marker = marker_of(folder, "7")
    assert (marker and marker.why) == why
    begin(Slurm(), folder, "7")
    assert finish(Slurm(), folder, "7", 1, "") == 1
    assert marker_of(folder, "7").why == ""


def test_where_slurm_does_not_requeue_a_successor_is_asked_for(folder, answers, monkeypatch):
    monkeypatch.setattr("fathom.cluster.slurm.time.sleep", lambda _: None)
    answers("scontrol", code=1, message="Access/permission denied")
    save(folder, "1")
    assert finish(Slurm(), folder, "7", 1, LIMIT) == 1
    assert marker_of(folder, "7") == Marker(1, AGAIN)


def start(folder, work):
    """Start the batch script with a job's work."""
    folder.script.write_text(folder.script.read_text() + work)
    words = (folder.path, folder.path / "tmp", sys.executable, ROOT / "lib")
    return subprocess.Popen(
        [ROOT / "slurm" / "runner", *words],
        env=os.environ | {"SLURM_JOB_ID": "7"},
        start_new_session=True,
    )


def session(leader):
    """Return the processes of a session."""
    rows = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            rows[int(path.parent.name)] = path.read_text().rpartition(") ")[2].split()[3]
    return [pid for pid, number in rows.items() if number == str(leader)]


STOPPABLE = """
bash -c 'trap "echo TERM >> {folder}/got; exit 143" TERM; touch {folder}/up
for i in $(seq 300); do sleep 0.1; done'
"""


@pytest.mark.slow
def test_the_batch_script_runs_the_work_and_leaves_its_code(folder):
    work = '[ -n "$FATHOM_STOP_FILE" ] && [ ! -e "$FATHOM_STOP_FILE" ] || exit 9\nexit 3\n'
    assert start(folder, work).wait(60) == 3
    assert marker_of(folder, "7") == Marker(3)


@pytest.mark.slow
def test_the_warning_before_a_limit_reaches_the_work_once_and_the_stop_file(folder):
    runner = start(folder, STOPPABLE.format(folder=folder.path))
    wait((folder.path / "up").exists, "the work has begun")
    save(folder, "1")
    runner.send_signal(signal.SIGUSR1)
    assert runner.wait(60) == REQUEUED
    assert (folder.path / "got").read_text() == "TERM\n"
    assert folder.stop.read_text() == "limit\n"


@pytest.mark.slow
def test_what_several_processes_do_is_stopped_by_the_file_alone(folder):
    """torchrun kills its processes 30 s after a signal, and srun kills them at once."""
    script = folder.script.read_text().replace("gpu:1", "gpu:2")
    folder.script.write_text(script)
    work = "[ $FATHOM_DEVICES$FATHOM_GPUS = 22 ] || exit 3\ntouch {folder}/up\n"
    work += 'trap "touch {folder}/got" TERM\nuntil [ -e "$FATHOM_STOP_FILE" ]; do sleep 0.1; done\n'
    runner = start(folder, (work + "sleep 1; exit 1\n").format(folder=folder.path))
    wait((folder.path / "up").exists, "the work has begun")
    save(folder, "1")
    runner.send_signal(signal.SIGUSR1)
    assert runner.wait(60) == REQUEUED
    assert not (folder.path / "got").exists()


@pytest.mark.slow
def test_a_signal_to_all_processes_is_not_passed_on(folder):
    runner = start(folder, STOPPABLE.format(folder=folder.path))
    wait((folder.path / "up").exists, "the work has begun")
    runner.send_signal(signal.SIGTERM)
    wait(folder.stop.exists, "noticed")
    assert folder.stop.read_text() == "signal\n"
    assert not (folder.path / "got").exists()
    runner.send_signal(signal.SIGUSR1)
    # As Slurm does: all processes of the job.
    for pid in session(runner.pid):
        os.kill(pid, signal.SIGTERM)
    assert runner.wait(60) != 0
    assert marker_of(folder, "7").why == "signal"

"""The batch script: one attempt of a job, with stand-ins for Slurm's commands."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from snakemake_executor_plugin_slurm_attach import runner
from snakemake_executor_plugin_slurm_attach.desk import Desk
from snakemake_executor_plugin_slurm_attach.request import ExecutorSettings, Request
from snakemake_executor_plugin_slurm_attach.runner import (
    FULL,
    FULL_CODE,
    LIMIT,
    REQUEUED,
    SIGNAL,
    TOO_SHORT,
)
from tests.slurm.cluster import wait


class Attempt:
    """A job with its folder; each call of `run` is an attempt."""

    def __init__(self, folder, **given):
        self.folder = folder
        self.save, self.output = folder / "last.pt", folder / "training.json"
        resources = {"resumes": str(self.save)} | given
        settings = ExecutorSettings(variables="TRIAL_")
        request = Request("train_run", "x", (str(self.output),), resources, 1, settings)
        desk = Desk(folder / "jobs", 30, print)
        job = desk.add(request, folder / "snakemake.sh")
        job.script.write_text("")
        desk._prepare(job)
        self.home, self.marker_file = job.home, desk.ended / "7.json"

    def patched(self, work, patch):
        """Start an attempt whose batch script is changed."""
        begin = (
            f"import sys; sys.path.insert(0, {str(Path(runner.__file__).parent)!r}); import runner"
        )
        script = f"{begin}\n{patch}\nsys.exit(runner.main(runner.Path({str(self.home)!r})))"
        return self.start(work, ("-c", script))

    def start(self, work, script=("-ISu", runner.__file__), **variables):
        """Start the batch script with a job's work."""
        (self.home / "script.sh").write_text(work.format(save=self.save, output=self.output))
        with open(self.home / "7.out", "a") as lines:
            return subprocess.Popen(
                [sys.executable, *script, self.home],
                env=os.environ | {"SLURM_JOB_ID": "7"} | variables,
                stdout=lines,
                stderr=lines,
                start_new_session=True,
            )

    def warned(self, work):
        """Start the work, and warn the batch script when it has made its save."""
        started = self.start(work)
        wait(self.save.exists, "the work has begun")
        started.send_signal(signal.SIGUSR1)
        return started

    def run(self, work, **variables):
        """Return the exit code of an attempt."""
        return self.start(work, **variables).wait(120)

    @property
    def marker(self):
        """Why and with what the attempt has ended; None where it left no marker."""
        if not self.marker_file.exists():
            return None
        said = json.loads(self.marker_file.read_text())
        return said["code"], said["why"]


@pytest.fixture
def attempt(tmp_path, answers):
    """A job that can resume, and a Slurm that requeues it."""
    answers("squeue", "N/A")
    answers("scontrol")
    return Attempt(tmp_path)


SAVES = "touch {save}.new; mv {save}.new {save}\n"
# As a training that has read the end of its time.
STOPS = SAVES + 'echo limit > "$TRIAL_STOP_FILE"; exit 143\n'


def test_the_code_of_the_work_is_the_jobs_and_its_marker_says_so(attempt):
    work = '[ -n "$TRIAL_STOP_FILE" ] && [ ! -e "$TRIAL_STOP_FILE" ] || exit 9\nexit 3\n'
    assert attempt.run(work) == 3
    assert attempt.marker == (3, "exit code 3")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("Command 'set -eu; fathom train' returned non-zero exit status 4.", "exit code 4"),
        ("Command 'x' returned non-zero exit status 137.", "exit code 137; out of memory? raise"),
        ("Command 'x' died with <Signals.SIGKILL: 9>.", "exit code 137; out of memory? raise"),
        ("OSError: [Errno 28] No space left on device: 'last.pt'", FULL),
    ],
)
def test_the_end_of_the_work_is_known_from_snakemakes_words_of_this_attempt(attempt, line, why):
    """A trainer that the kernel killed was said to have ended with 1."""
    attempt.run("echo \"Command 'x' returned non-zero exit status 99.\"; exit 1\n")
    assert attempt.run(f'echo "{line}"; exit 1\n') == 1
    assert attempt.marker[1].startswith(why)
    attempt.run("exit 1\n")
    assert attempt.marker == (1, "exit code 1")


def test_a_failed_job_with_all_of_its_files_has_finished(attempt):
    assert attempt.run("echo {{}} > {output}; exit 143\n") == 0
    assert attempt.marker == (0, "")


def test_a_double_that_begins_after_the_first_has_made_the_files_does_nothing(attempt):
    attempt.output.write_text("{}")
    assert attempt.run("touch {save}; exit 3\n") == 0
    assert not attempt.save.exists()


def test_files_from_before_the_request_are_not_those_of_this_job(tmp_path, answers):
    answers("squeue", "N/A")
    (tmp_path / "training.json").write_text("{}")
    os.utime(tmp_path / "training.json", (1, 1))
    assert Attempt(tmp_path).run("exit 3\n") == 3


def test_a_limit_continues_the_job_and_leaves_no_marker(attempt, calls):
    assert attempt.run(STOPS) == REQUEUED
    assert attempt.marker is None
    assert calls("scontrol") == ["scontrol requeue 7"]


def test_two_attempts_without_a_newer_save_end_the_job(attempt, calls):
    """Rows of metrics.tsv are no progress: with them a job was requeued for ever."""
    assert attempt.run(STOPS) == REQUEUED
    stops = STOPS.removeprefix(SAVES)
    assert attempt.run(stops) == REQUEUED
    assert attempt.run(stops) == 143
    assert attempt.marker == (143, TOO_SHORT)
    assert len(calls("scontrol")) == 2


def test_where_slurm_does_not_requeue_the_start_is_left_to_submit_it_again(attempt, answers):
    answers("scontrol", code=1, message="Access/permission denied")
    assert attempt.patched(STOPS, "runner.PAUSES = (0, 0)").wait(60) == 143
    assert attempt.marker == (143, LIMIT)


NO_ROOM = """
def full(path, data):
    if data or {}:
        raise OSError(28, "No space left on device")
runner.Path.write_bytes = full
"""


@pytest.mark.parametrize(
    ("work", "even_for_a_marker", "code", "marker"),
    [("exit 3\n", True, FULL_CODE, None), ("exit 3\n", False, FULL_CODE, None),
     ("exit 0\n", True, 0, None), ("exit 0\n", False, 0, (0, ""))],
)  # fmt: skip
def test_a_full_disk_is_the_code_of_a_job_that_failed_and_none_that_has_ended_well(
    attempt, work, even_for_a_marker, code, marker
):
    """The batch script ended with a traceback."""
    assert attempt.patched(work, NO_ROOM.format(even_for_a_marker)).wait(60) == code
    assert attempt.marker == marker
    assert "Traceback" not in (attempt.home / "7.out").read_text()


def test_a_stop_that_no_disk_has_room_for_still_reaches_the_work(attempt):
    """It ended the batch script, and so the training without a save."""
    refuses = "text = runner.Path.write_text\ndef full(path, said, **given):\n"
    refuses += "    if path.name != 'stop': return text(path, said, **given)\n"
    refuses += "    raise OSError(28, 'x')\nrunner.Path.write_text = full"
    started = attempt.patched(STOPPABLE, refuses)
    wait(attempt.save.exists, "the work has begun")
    started.send_signal(signal.SIGUSR1)
    assert started.wait(60) == REQUEUED
    assert Path(f"{attempt.save}.got").read_text() == "TERM\n"


def test_a_job_that_cannot_resume_is_not_warned_and_not_continued(tmp_path, answers):
    answers("squeue", "N/A")
    attempt = Attempt(tmp_path, resumes=None)
    assert attempt.warned("touch {save}; sleep 1; exit 3\n").wait(60) == 3
    assert attempt.marker == (3, "exit code 3")


STOPPABLE = """
bash -c 'trap "echo TERM >> {save}.got; exit 143" TERM; touch {save}
for i in $(seq 600); do sleep 0.1; done'
"""


def session(leader):
    """Return the processes of a session."""
    rows = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            rows[int(path.parent.name)] = path.read_text().rpartition(") ")[2].split()[3]
    return [pid for pid, number in rows.items() if number == str(leader)]


def test_the_warning_before_a_limit_reaches_the_work_once_and_the_stop_file(attempt):
    assert attempt.warned(STOPPABLE).wait(60) == REQUEUED
    assert Path(f"{attempt.save}.got").read_text() == "TERM\n"
    assert (attempt.home / "stop").read_text() == f"{LIMIT}\n"


def test_the_end_of_the_time_warns_where_slurm_does_not(attempt):
    assert attempt.run(STOPPABLE, SLURM_JOB_END_TIME="1000000000") == REQUEUED


def test_what_several_processes_do_is_stopped_by_the_file_alone(tmp_path, answers):
    """torchrun kills its processes 30 s after a signal, and srun kills them at once."""
    answers("squeue", "N/A")
    answers("scontrol")
    attempt = Attempt(tmp_path, gpu=2)
    work = '[ $TRIAL_DEVICES$TRIAL_NODES = 21 ] || exit 3\ntrap "touch {save}.got" TERM\n'
    work += 'touch {save}\nuntil [ -e "$TRIAL_STOP_FILE" ]; do sleep 0.1; done\nsleep 1; exit 1\n'
    assert attempt.warned(work).wait(60) == REQUEUED
    assert not Path(f"{attempt.save}.got").exists()


def test_a_signal_to_all_processes_is_not_passed_on_and_concludes_nothing(attempt):
    """Slurm may run the job again: the marker of a preempted job failed its start."""
    started = attempt.start(STOPPABLE)
    wait(attempt.save.exists, "the work has begun")
    started.send_signal(signal.SIGTERM)
    wait((attempt.home / "stop").exists, "noticed")
    assert not Path(f"{attempt.save}.got").exists()
    started.send_signal(signal.SIGUSR1)
    # As Slurm does: all processes of the job.
    for pid in session(started.pid):
        os.kill(pid, signal.SIGTERM)
    assert started.wait(60) != 0
    assert attempt.marker[1] == SIGNAL


def test_the_work_has_all_cores_in_its_steps_and_submits_nothing_itself(attempt):
    """srun does not take over sbatch's cores: a process of four had one."""
    work = "echo $SRUN_CPUS_PER_TASK${{SNAKEMAKE_PROFILE-none}} > {save}; exit 3\n"
    attempt.run(work, SLURM_CPUS_PER_TASK="4", SNAKEMAKE_PROFILE="slurm")
    assert attempt.save.read_text() == "4none\n"
    attempt.run(work, SLURM_CPUS_ON_NODE="6")
    assert attempt.save.read_text() == "6none\n"

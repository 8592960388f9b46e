"""Submit a job, or take over the job that an earlier start left.

Snakemake has no memory of numbers across starts. A job is found by its name, and by its last
number. A lock for each job makes the look-up and the submission one step.
"""

import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import fathom
from fathom.cluster.jobs import Folder, Job, alone, folders, read, top
from fathom.cluster.slurm import Slurm, is_permanent
from fathom.io.errors import FathomError
from fathom.io.screen import say

# Seconds between questions to a silent Slurm: minutes in all.
PAUSES = (1, 2, 5, 10, 20, 30, 30, 30, 30, 30, 30, 30)
ATTEMPTS = 3
# Between a submission that was refused and the question whether it was accepted after all.
LATE = 3.0


def submit(slurm: Slurm, script: Path, runner: Path, pauses: Sequence[float] = PAUSES) -> str:
    """Return the number of a job that waits or runs: an earlier start's, or a new one.

    Args:
        script: Snakemake's script of the job.
        runner: the batch script.
        pauses: seconds between questions to a silent Slurm.

    Raises:
        FathomError: If Slurm refuses the job, or stays silent.
    """
    job = read(script)
    folder = Folder(top() / job.name)
    with alone(folder.path):
        live = _live(slurm, job, folder, pauses)
        if live:
            say(f"fathom: {job.rule} {job.label}: taken over, still job {live}")
            return _taken_over(job, folder, live)
        folder.prepare(script, job)
        batch = _batch(folder, script, runner)
        number = _accepted(slurm, job, folder, batch, pauses)
        folder.remember(job, number, number, batch)
        return number


def submit_again(slurm: Slurm, folder: Folder) -> str | None:
    """Submit the successor of a job that ended at its limit; None where it is refused now.

    The caller holds the lock of the job's folder. Snakemake keeps the first number.
    """
    job, record = read(folder.script), folder.record()
    answer = slurm.submit(job, folder, record["batch"])
    if answer.code:
        return None
    folder.remember(job, record["id"], answer.text, record["batch"])
    return answer.text


def cancel(slurm: Slurm, numbers: Iterable[str]) -> None:
    """Cancel the jobs that Snakemake knows by these numbers; a successor has another number."""
    records = [folder.record() for folder in folders(top())]
    now = {record["id"]: record["now"] for record in records if record}
    slurm.cancel([now.get(number, number) for number in numbers])


def _batch(folder: Folder, script: Path, runner: Path) -> list[str]:
    """Return the batch script with its arguments; a job may have another search path than we."""
    library = Path(fathom.__file__).resolve().parents[1]
    # Snakemake waits in the job for its first process's temporary folder.
    waited_for = script.absolute().parent
    words = (runner.absolute(), folder.path, waited_for, sys.executable, library)
    return [str(word) for word in words]


def _taken_over(job: Job, folder: Folder, live: str) -> str:
    """Return the number by which Snakemake knows a live job."""
    record = folder.record()
    if record.get("now") != live:
        folder.remember(job, live, live, record.get("batch", []))
        return live
    return record["id"]


def _live(slurm: Slurm, job: Job, folder: Folder, pauses: Sequence[float]) -> str | None:
    """Return the number of the job of this name that waits or runs.

    An empty list is not enough for a second submission: a Slurm that has just started gives one,
    too. So the last number of the name is asked for itself.
    """
    last = folder.record().get("now")
    for pause in (*pauses, None):
        numbers = slurm.find(job.name)
        if numbers:
            return numbers[0]
        live = slurm.is_live(last) if numbers is not None and last else False
        if numbers is not None and live is not None:
            return last if live else None
        if pause is not None:
            time.sleep(pause)
    what = "Slurm does not answer; nothing was submitted"
    raise FathomError(what, f"{job.rule} {job.label}", "start again when it answers")


def _accepted(
    slurm: Slurm, job: Job, folder: Folder, batch: list[str], pauses: Sequence[float]
) -> str:
    """Submit, and return the number, also where the answer was lost."""
    message = ""
    for _ in range(ATTEMPTS):
        answer = slurm.submit(job, folder, batch)
        if answer.code == 0:
            return answer.text
        message = answer.message.split("\n")[-1]
        if is_permanent(answer.message):
            break
        time.sleep(min(LATE, *pauses, LATE))
        live = _live(slurm, job, folder, pauses)
        if live:
            return live
    what = f"Slurm refuses the job ({message or 'without a word'})"
    remedy = "change what profiles/slurm/config.yaml asks for, and start again"
    raise FathomError(what, f"{job.rule} {job.label}", remedy)

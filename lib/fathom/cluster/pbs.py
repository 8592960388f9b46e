"""PBS: qsub, qstat, qdel. Tried with a stand-in, not on a real one.

PBS does not warn a job before its limit, so the runner keeps the time. Its users cannot requeue a
job, so the status command submits a successor. It cannot be asked by name, and names have 15
characters. What it no longer lists has ended: the end marker alone says how.
"""

import os
import re
import time

from fathom.cluster.jobs import Folder, Job
from fathom.cluster.scheduler import RUNNING, Answer, Scheduler, State, ask
from fathom.io.files import write_lines

# Seconds of a job's time limit, which PBS does not give to the job itself.
WALLTIME = "FATHOM_WALLTIME"
_ROW = re.compile(r"(\d+\S*)\s+(\S+)\s+(?:.*\s)?([A-Z])(?:\s+\S+)?")
_ID = re.compile(r"\d+(\[\])?(\.\S+)?")


class Pbs(Scheduler):
    """PBS's commands, each under a time limit."""

    name = "pbs"
    title = "PBS"
    commands = ("qsub", "qstat", "qdel")
    permanent = (
        "unknown queue",
        "illegal",
        "unauthorized",
        "would exceed",
        "violates queue",
        "not exist",
    )
    has_successors = True

    def job_name(self, job: Job) -> str:
        """Return the hash alone: a name has 15 characters at most."""
        return f"f{job.key}"

    def find(self, name: str) -> list[str] | None:
        """Look for the name in the list of all jobs."""
        rows = self._rows()
        return None if rows is None else [row[0] for row in rows if row[1] == name]

    def is_live(self, number: str) -> bool | None:
        """Look for the number in the list of all jobs."""
        rows = self._rows()
        return None if rows is None else number in [row[0] for row in rows]

    def submit(self, job: Job, folder: Folder, batch: list[str]) -> Answer:
        """Call qsub; what the batch script needs goes into its environment."""
        runner, *words = batch
        # A batch script of PBS takes no arguments.
        write_lines(folder.path / "batch", words)
        seconds = int(os.environ.get(WALLTIME) or 60 * int(job.resources.get("runtime") or 60))
        given = {
            "FATHOM_BATCH": str(folder.path / "batch"),
            WALLTIME: str(seconds),
            "PATH": os.environ["PATH"],
        }
        variables = ",".join(f"{key}={value}" for key, value in given.items())
        call = ["qsub", "-N", self.job_name(job), "-l", self._select(job)]
        call += ["-l", f"walltime={_clock(seconds)}", "-j", "oe", "-v", variables]
        call += ["-o", str(folder.path / "pbs.out")]
        for option, key in (("-q", "partition"), ("-A", "account")):
            call += [option, str(job.resources[key])] if job.resources.get(key) else []
        answer = ask(*call, runner, seconds=60)
        if answer.code == 0 and not _ID.fullmatch(answer.text):
            return Answer(1, message=answer.text or "qsub gave no number")
        return answer

    def _select(self, job: Job) -> str:
        given = job.resources
        memory = f":mem={given['mem_mb']}mb" if given.get("mem_mb") else ""
        devices = f":ngpus={job.gpus}" if job.gpus else ""
        return f"select={int(given.get('nodes') or 1)}:ncpus={job.threads}{memory}{devices}"

    def states(self) -> dict[str, State] | None:
        """Ask qstat for the list of all jobs; those that have ended are missing."""
        rows = self._rows()
        if rows is None:
            return None
        return {row[0]: State(RUNNING, row[2]) for row in rows if row[2] not in ("C", "F", "X")}

    def _rows(self) -> list[tuple[str, str, str]] | None:
        """Return number, name and state of each job; None where qstat gives no list."""
        answer = ask("qstat", seconds=10)
        lines = [line for line in answer.text.split("\n") if re.match(r"\d", line)]
        rows = [_ROW.fullmatch(line.strip()) for line in lines]
        if answer.code or (answer.text and not all(rows)):
            return None
        return [(row[1], row[2], row[3]) for row in rows if row]

    def cancel(self, numbers: list[str]) -> Answer:
        """Call qdel."""
        return ask("qdel", *numbers, seconds=60)

    def continue_after_limit(self, number: str) -> bool:
        """PBS has no requeue for users: a successor is submitted from outside."""
        return False

    def end_time(self, number: str) -> int | None:
        """Count from now: the runner asks when the job begins."""
        seconds = os.environ.get(WALLTIME, "")
        return int(time.time()) + int(seconds) if seconds.isdecimal() else None


def _clock(seconds: int) -> str:
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"

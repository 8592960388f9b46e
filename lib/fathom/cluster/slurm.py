"""Slurm's commands: sbatch, squeue, scontrol, scancel, sinfo. They work without accounting (sacct).

An answer that may be missing is None: Slurm is silent, or prints something that is not an answer.
Nothing is concluded from silence.
"""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fathom.cluster.jobs import Folder, Job

RUNNING, SUCCESS, FAILED = "running", "success", "failed"
COMMANDS = ("sbatch", "squeue", "scontrol", "scancel", "sinfo")
# All other words, also unknown ones, are of jobs that wait, run, or are about to.
_WORDS = {"COMPLETED": SUCCESS} | dict.fromkeys(
    (
        *("FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL"),
        *("OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE"),
    ),
    FAILED,
)
_ROW = re.compile(r"(\d+)\|([A-Z_]+)\|(.*)")
# Why a job waits that more time does not start.
_HELD = re.compile("held", re.IGNORECASE)
_TOO_MUCH = re.compile(
    r"PartitionTimeLimit|PartitionNodeLimit|QOSMax|QOSNotAllowed|QOSMin|AssocMax|AssocGrp\w*Limit"
    r"|QOSGrp\w*Limit|BadConstraints|AccountNotAllowed|InvalidAccount|InvalidQOS|DependencyNever"
)
# Parts of messages that a second attempt does not change.
_PERMANENT = (
    "invalid partition",
    "invalid account",
    "invalid qos",
    "invalid feature",
    "invalid generic resource",
    "requested node configuration",
    "time limit",
    "violates accounting",
    "memory specification can not be satisfied",
    "unrecognized option",
)
# Seconds before the limit at which Slurm warns a job; its clock may be a minute off.
MARGIN = "FATHOM_CLUSTER_MARGIN"
_MARGIN = 120
# sbatch's options for Snakemake's resources.
_OPTIONS = {
    "partition": "partition",
    "account": "account",
    "qos": "qos",
    "constraint": "constraint",
    "nodes": "nodes",
    "mem_mb": "mem",
    "runtime": "time",
}


@dataclass(frozen=True)
class Answer:
    """How a command ended."""

    code: int  # 124 if it did not end in time, 127 if there is no such command
    text: str = ""
    message: str = ""  # what it printed as an error


@dataclass(frozen=True)
class JobState:
    """What Slurm answers of a job."""

    word: str  # running, success or failed
    name: str  # Slurm's own word, such as PENDING
    reason: str = ""  # why it waits or has failed, as Slurm says it


def ask(*command: str, seconds: float = 20) -> Answer:
    """Run a command; it never raises an error and always ends."""
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return Answer(124, message=f"no answer in {seconds:g} s")
    except FileNotFoundError:
        return Answer(127, message=f"no {command[0]} on the search path")
    return Answer(ended.returncode, ended.stdout.strip(), ended.stderr.strip())


def missing() -> str | None:
    """Return a command of Slurm that is not on the search path."""
    return next((name for name in COMMANDS if shutil.which(name) is None), None)


def is_permanent(message: str) -> bool:
    """Return whether a refusal stays, however often one asks."""
    return any(part in message.lower() for part in _PERMANENT)


def job_state(number: str) -> bool | None:
    """Return whether a job waits or runs; None without an answer, or without Slurm."""
    return None if missing() else Slurm().is_live(number)


def options(resources: Mapping[str, Any]) -> list[str]:
    """Return sbatch's options for resources by Snakemake's names."""
    words = [
        f"--{option}={resources[key]}" for key, option in _OPTIONS.items() if resources.get(key)
    ]
    if resources.get("gres"):
        words.append(f"--gres={resources['gres']}")
    elif resources.get("gpu"):
        words.append(f"--gres=gpu:{resources['gpu']}")
    return words


class Slurm:
    """The questions to Slurm, each under a time limit."""

    def find(self, name: str) -> list[str] | None:
        """Return the numbers of the user's jobs of a name that wait or run."""
        answer = ask("squeue", "--me", "--noheader", "--name", name, "--format", "%i")
        numbers = answer.text.split()
        # Anything but numbers is not an answer: a banner, or the page of a proxy.
        is_answer = answer.code == 0 and all(number.isdecimal() for number in numbers)
        return numbers if is_answer else None

    def is_live(self, number: str) -> bool | None:
        """Return whether a job waits or runs; scontrol also knows one that squeue left out."""
        answer = ask("scontrol", "--oneliner", "show", "job", number)
        state = re.search(r"\bJobState=([A-Z_]+)", answer.text)
        if answer.code == 0 and state:
            return _WORDS.get(state[1], RUNNING) == RUNNING
        return False if "invalid job id" in answer.message.lower() else None

    def submit(self, job: Job, folder: Folder, batch: list[str]) -> Answer:
        """Submit a job; the answer's text is its number.

        It can be requeued, and is warned before its limit.

        Args:
            batch: the batch script with its arguments.
        """
        margin = os.environ.get(MARGIN) or str(_MARGIN)
        words = [
            *("sbatch", "--parsable", "--requeue", "--open-mode=append"),
            f"--job-name={job.name}",
            f"--comment={job.rule} {job.outputs[0]}",
            f"--output={str(folder.path).replace('%', '%%')}/%j.out",
            f"--cpus-per-task={job.threads}",
            f"--signal=B:USR1@{margin}",
            *options(job.resources),
        ]
        if int(job.resources.get("nodes") or 1) > 1:
            words.append("--ntasks-per-node=1")
        answer = ask(*words, *batch, seconds=60)
        number = answer.text.partition(";")[0]
        if answer.code == 0 and not number.isdecimal():
            return Answer(1, message=answer.text or "sbatch gave no number")
        return Answer(answer.code, number, answer.message)

    def states(self) -> dict[str, JobState] | None:
        """Return the states of all the user's jobs that Slurm still knows, by number."""
        words = ("squeue", "--me", "--noheader", "--states", "all", "--format", "%i|%T|%r")
        answer = ask(*words, seconds=10)
        lines = list(filter(None, answer.text.split("\n")))
        # Tasks of arrays are not jobs of fathom.
        rows = [_ROW.fullmatch(line) for line in lines if not re.match(r"\d+_", line)]
        if answer.code or not all(rows):
            return None
        return {
            row[1]: JobState(_WORDS.get(row[2], RUNNING), row[2], row[3].strip())
            for row in rows
            if row
        }

    def cancel(self, numbers: list[str]) -> Answer:
        """Cancel jobs."""
        return ask("scancel", *numbers, seconds=60)

    def requeue(self, number: str) -> bool:
        """Continue a job at its limit under its number; Slurm may be away for minutes."""
        for pause in (1, 5, 15, 30, 0):
            if ask("scontrol", "requeue", number, seconds=60).code == 0:
                return True
            time.sleep(pause)
        return False

    def end_time(self, number: str) -> int | None:
        """Return when the job's time is over, in seconds since 1970; None if nobody knows."""
        given = os.environ.get("SLURM_JOB_END_TIME", "")
        if given.isdecimal():
            return int(given)
        end = ask("squeue", "--noheader", "--job", number, "--format", "%e").text
        try:
            return int(time.mktime(time.strptime(end, "%Y-%m-%dT%H:%M:%S")))
        except ValueError:
            return None

    def cure(self, number: str, state: JobState) -> str | None:
        """Return what frees a job that will not start by itself: held, or one that asks too much.

        None for all other jobs.
        """
        if state.name == "PENDING" and _HELD.search(state.reason):
            return f"scontrol release {number}"
        if state.name == "PENDING" and _TOO_MUCH.search(state.reason):
            return f"scancel {number}, ask for less in profiles/slurm/config.yaml, and start again"
        return None

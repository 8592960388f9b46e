"""Slurm: sbatch, squeue, scontrol, scancel, sinfo. It works without accounting (sacct)."""

import os
import re
import time
from collections.abc import Mapping
from typing import Any

from fathom.cluster import slurm_limits
from fathom.cluster.jobs import Folder, Job
from fathom.cluster.scheduler import FAILED, RUNNING, SUCCESS, Answer, Scheduler, State, ask

# All other words, known or not, are of jobs that wait, run, or are about to.
_WORDS = {"COMPLETED": SUCCESS} | dict.fromkeys(
    (
        "FAILED",
        "CANCELLED",
        "TIMEOUT",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
        "BOOT_FAIL",
        "DEADLINE",
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
# Seconds before the limit at which Slurm warns a job; its clock may be a minute off.
MARGIN = "FATHOM_CLUSTER_MARGIN"
_MARGIN = 120
# Snakemake's resources that are options of sbatch under the same name.
_SAME = ("partition", "account", "qos", "constraint")


class Slurm(Scheduler):
    """Slurm's commands, each under a time limit."""

    name = "slurm"
    title = "Slurm"
    commands = ("sbatch", "squeue", "scontrol", "scancel", "sinfo")
    permanent = (
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

    def find(self, name: str) -> list[str] | None:
        """Ask squeue, which filters by name itself."""
        answer = ask("squeue", "--me", "--noheader", "--name", name, "--format", "%i")
        numbers = answer.text.split()
        # Anything but numbers is no answer: a banner, or the page of a proxy.
        is_answer = answer.code == 0 and all(number.isdecimal() for number in numbers)
        return numbers if is_answer else None

    def is_live(self, number: str) -> bool | None:
        """Ask scontrol, which also knows a job that squeue left out."""
        answer = ask("scontrol", "--oneliner", "show", "job", number)
        state = re.search(r"\bJobState=([A-Z_]+)", answer.text)
        if answer.code == 0 and state:
            return _WORDS.get(state[1], RUNNING) == RUNNING
        return False if "invalid job id" in answer.message.lower() else None

    def submit(self, job: Job, folder: Folder, batch: list[str]) -> Answer:
        """Call sbatch; the job can be requeued, and is warned before its limit."""
        given = job.resources
        margin = os.environ.get(MARGIN) or str(_MARGIN)
        words = [
            *("sbatch", "--parsable", "--requeue", "--open-mode=append"),
            f"--job-name={self.job_name(job)}",
            f"--comment={job.rule} {job.outputs[0]}",
            f"--output={str(folder.path).replace('%', '%%')}/%j.out",
            f"--cpus-per-task={job.threads}",
            f"--signal=B:USR1@{margin}",
            *slurm_limits.options(given),
        ]
        if int(given.get("nodes") or 1) > 1:
            words.append("--ntasks-per-node=1")
        answer = ask(*words, *batch, seconds=60)
        number = answer.text.partition(";")[0]
        if answer.code == 0 and not number.isdecimal():
            return Answer(1, message=answer.text or "sbatch gave no number")
        return Answer(answer.code, number, answer.message)

    def states(self) -> dict[str, State] | None:
        """Ask squeue for one list of all jobs."""
        words = ("squeue", "--me", "--noheader", "--states", "all", "--format", "%i|%T|%r")
        answer = ask(*words, seconds=10)
        lines = list(filter(None, answer.text.split("\n")))
        rows = [_ROW.fullmatch(line) for line in lines if not re.match(r"\d+_", line)]
        if answer.code or not all(rows):
            return None
        return {
            row[1]: State(_WORDS.get(row[2], RUNNING), row[2], row[3].strip())
            for row in rows
            if row
        }

    def cancel(self, numbers: list[str]) -> Answer:
        """Call scancel."""
        return ask("scancel", *numbers, seconds=60)

    def continue_after_limit(self, number: str) -> bool:
        """Requeue the job under its number; Slurm may be away for minutes."""
        for pause in (1, 5, 15, 30, 0):
            if ask("scontrol", "requeue", number, seconds=60).code == 0:
                return True
            time.sleep(pause)
        return False

    def end_time(self, number: str) -> int | None:
        """Ask squeue, unless Slurm gives it to the job itself."""
        given = os.environ.get("SLURM_JOB_END_TIME", "")
        if given.isdecimal():
            return int(given)
        end = ask("squeue", "--noheader", "--job", number, "--format", "%e").text
        try:
            return int(time.mktime(time.strptime(end, "%Y-%m-%dT%H:%M:%S")))
        except ValueError:
            return None

    def cure(self, number: str, state: State) -> str | None:
        """Say what frees a held job, or one that asks for more than it may get."""
        if state.name == "PENDING" and _HELD.search(state.reason):
            return f"scontrol release {number}"
        if state.name == "PENDING" and _TOO_MUCH.search(state.reason):
            return f"scancel {number}, ask for less in profiles/slurm/config.yaml, and start again"
        return None

    def refusals(self, resources: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Compare with what sinfo lists, then ask `sbatch --test-only`."""
        return slurm_limits.refusals(resources)

    def remarks(self, resources: Mapping[str, Any]) -> list[str]:
        """Say that nodes of the partition are down."""
        return slurm_limits.remarks(resources)

"""Slurm's commands, each under a time limit, and what their answers mean.

An answer that may be missing is None: nothing is concluded from silence. Accounting (sacct) is not
asked.
"""

import os
import re
import subprocess
from dataclasses import dataclass
from functools import cached_property

COMMANDS = ("sbatch", "squeue", "scontrol", "scancel", "sinfo")
# The job did nothing wrong; another attempt may go well.
NOT_ITS_FAULT = {"NODE_FAIL", "BOOT_FAIL", "PREEMPTED"}
# All other words, also unknown ones, are of jobs that wait, run, or are about to.
_FINAL = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "DEADLINE"}
_FINAL |= NOT_ITS_FAULT
# A comment may have the character between columns, so that it comes last.
_COLUMNS = {"%i": "JOBID", "%j": "NAME", "%T": "STATE", "%r": "REASON", "%k": "COMMENT"}
# Limits of one job, which other jobs do not change.
_OF_ONE_JOB = "PerJob|PerNode|WallDuration|QOSMin|MaxMemPerLimit"
_NEVER = (
    f"{_OF_ONE_JOB}|Partition(Node|Time)Limit|PartitionConfig|(Association|QOS)TimeLimit"
    "|BadConstraints|NotAllowed|Invalid|DependencyNever|Deleted"
)
# Reasons of a job that waits, after how many seconds a person must help, and how. All others go
# away when other jobs end, or with time; unknown ones are taken for such.
_CURES = (
    ("launch failed", 0, "do nodes see the job's folder, under its name? scontrol release {}"),
    ("[Hh]eld|JobHold", 0, "scontrol release {}"),
    (_NEVER, 0, "scancel {}, change what it asks for, and start again"),
    ("(?<!Run)Minutes|GrpWall", 0, "the account's time is used up: get more, or scancel {}"),
    ("[Mm]aintenance", 0, "a job that ends before it may begin: scancel {}, and lower `runtime`"),
    ("ReqNodeNotAvail|Reservation", 3600, "for an hour: ask the cluster's staff, or scancel {}"),
)
# Words of refusals, by what follows: no such job is ever accepted, none is now, or Slurm did not
# answer, and may have accepted the job. With all other words a job waits, too.
_REFUSALS = {
    "final": "invalid (account|partition|qos|feature|generic|gres|trackable|license|node name|wckey"
    "|time|-)|node configuration is not available|time limit is invalid|count specification invalid"
    "|reservation is invalid|denied to requested reservation|not permitted to use this"
    r"|memory (required|specification)|cpu count|more processors|low socket\*core\*thread"
    f"|unrecognized option|invalid option|ambiguous|requires an argument|{_OF_ONE_JOB}",
    "later": r"max\w*submit|grpsubmit|submit limit|job limit|inactive or drain|not available now"
    "|nodes? (are busy|not available)|not usable now|presently disabled|standby mode|i/o error",
    "lost": "timed out|unable to contact|connect|socket|temporar|try again|not respond|zero bytes"
    "|protocol|slurmctld|unexpected message|credential|configuration (source|file)",
}
# How Slurm ends the refusal of every limit, also of one that always holds.
_ANY_LIMIT = "job submit limit, user's size and/or time limits"
# Variables that change what commands list or what jobs ask for, such as those of the job in which a
# start runs. Those of sbatch that say where a site's jobs go are left.
_VARIABLES = re.compile(
    r"(SQUEUE|SINFO|SCANCEL|SCONTROL)_\w+"
    r"|SBATCH_(?!(ACCOUNT|CONSTRAINT|EXPORT|GET_USER_ENV|PARTITION|QOS|RESERVATION|WCKEY)$)\w+"
    "|SLURM_(ARRAY|CLUSTER|CPU|GPU|GTID|HET|JOB|LOCALID|MEM_|NNODES|NODE|NPROC|NTASKS|PROCID|STEP"
    r"|TASK|THREADS|TRES)\w*"
)


@dataclass(frozen=True)
class Answer:
    """How a command ended."""

    code: int  # 124 if it did not end in time, 127 if there is no such command
    text: str = ""
    message: str = ""  # what it printed as an error

    @property
    def reason(self) -> str:
        """Slurm's word for a refusal, without what comes before it in the line."""
        lines = (self.message or self.text or "without a word").split("\n")
        # The first error is the exact one; what is no error is a banner.
        errors = [line for line in lines if "error:" in line] or lines[-1:]
        said = errors[0].rpartition("error: ")[2]
        return re.sub("^(Batch job submission failed|allocation failure): ", "", said)

    @property
    def kind(self) -> str:
        """Return what follows from a refusal, `final`, `later` or `lost`; empty if nobody knows."""
        text = self.message.replace(_ANY_LIMIT, "") if self.code != 124 else "timed out"
        found = (kind for kind, words in _REFUSALS.items() if re.search(words, text, re.IGNORECASE))
        return next(found, "")


@dataclass(frozen=True)
class Row:
    """A job in squeue's list."""

    number: int
    name: str
    state: str
    reason: str
    comment: str = ""  # or all that scontrol says of it, its comment and its StdOut among it

    @cached_property
    def names(self) -> frozenset[str]:
        """Words, one of which it was submitted under; sites and users rename jobs."""
        return frozenset(re.split(r"[\s=/]", f"{self.name} {self.comment}"))

    @property
    def is_live(self) -> bool:
        """Whether it waits, runs, or is about to."""
        return self.state not in _FINAL

    def cure(self, seconds: float) -> str | None:
        """Return what a person must do before the job starts; None where it starts by itself.

        Args:
            seconds: for which it has waited for this reason.
        """
        for words, after, cure in _CURES if self.state == "PENDING" else ():
            if re.search(words, self.reason):
                return cure.format(self.number) if seconds >= after else None
        return None


def ask(*command: str, seconds: float = 60) -> Answer:
    """Run a command; it never raises an error and always ends. Ctrl-C does not reach it."""
    try:
        ended = subprocess.run(
            command,
            env={key: text for key, text in os.environ.items() if not _VARIABLES.fullmatch(key)},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        return Answer(124, message=f"no answer in {seconds:g} s")
    except FileNotFoundError:
        return Answer(127, message=f"no {command[0]} on the search path")
    return Answer(ended.returncode, ended.stdout.strip(), ended.stderr.strip())


def rows(seconds: float) -> list[Row] | None:
    """Return the user's jobs that Slurm still knows, by number; None for silence.

    An answer has the columns' titles: an empty list is an answer, an empty text is not. Other rows
    are of arrays and heterogeneous jobs, or a banner.

    Args:
        seconds: after which squeue is given up.
    """
    columns = f"--format={'|'.join(_COLUMNS)}"
    answer = ask("squeue", "--me", "--states=all", columns, seconds=seconds)
    lines = [line.strip() for line in answer.text.split("\n")]
    if answer.code or "|".join(_COLUMNS.values()) not in lines:
        return None
    row = re.compile(r"(\d+)\|([^|]*)\|([A-Z_]+)\|([^|]*)\|(.*)")
    found = [Row(int(m[1]), *m.group(2, 3, 4, 5)) for m in map(row.fullmatch, lines) if m]
    return sorted(found, key=lambda row: row.number)


def row_of(number: int) -> list[Row] | None:
    """Return a job that a list may have left out; empty if Slurm knows none, None for silence."""
    answer = ask("scontrol", "--oneliner", "show", "job", str(number))
    said = dict(re.findall(r"\b(JobName|JobState|Reason)=(\S+)", answer.text))
    if answer.code == 0 and "JobState" in said:
        name, reason = said.get("JobName", ""), said.get("Reason", "")
        return [Row(number, name, said["JobState"], reason, answer.text)]
    return [] if "invalid job id" in answer.message.lower() else None


def submit(*words: str) -> Answer:
    """Call sbatch; the answer's text is the job's number."""
    # Slow controllers answer after a minute.
    answer = ask("sbatch", "--parsable", *words, seconds=120)
    number = re.search(r"^(\d+)(?:;.*)?$", answer.text, re.MULTILINE)
    if answer.code == 0 and not number:
        return Answer(124, message=answer.text or "sbatch gave no number")
    return Answer(answer.code, number[1] if number else "", answer.message)


def cancel(*numbers: int) -> Answer:
    """Cancel jobs."""
    return ask("scancel", *map(str, numbers))

"""What differs between schedulers of clusters: one class each, with the same questions.

An answer that may be missing is None: the scheduler is silent, or says what is no answer. Nothing
is concluded from silence.
"""

import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fathom.cluster.jobs import Folder, Job

RUNNING, SUCCESS, FAILED = "running", "success", "failed"


@dataclass(frozen=True)
class Answer:
    """How a command ended.

    Attributes:
        code: its exit code; 124 without an end in time, 127 without such a command.
        text: what it printed.
        message: what it printed as an error.
    """

    code: int
    text: str = ""
    message: str = ""


@dataclass(frozen=True)
class State:
    """What a scheduler answers of one job.

    Attributes:
        word: running, success or failed.
        name: the scheduler's own word, such as PENDING.
        reason: why the job waits or has failed, as the scheduler says it.
    """

    word: str
    name: str
    reason: str = ""


def ask(*command: str, seconds: float = 20) -> Answer:
    """Run a command of the scheduler; it never raises an error and always ends."""
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return Answer(124, message=f"no answer in {seconds:g} s")
    except FileNotFoundError:
        return Answer(127, message=f"no {command[0]} on the search path")
    return Answer(ended.returncode, ended.stdout.strip(), ended.stderr.strip())


class Scheduler(ABC):
    """A scheduler.

    Attributes:
        name: the name of its profile.
        title: its name in messages.
        commands: the programs that it needs.
        permanent: parts of messages that no second attempt changes.
        has_successors: whether a job is continued at its limit by another one.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    commands: ClassVar[tuple[str, ...]]
    permanent: ClassVar[tuple[str, ...]]
    has_successors: ClassVar[bool] = False

    def missing(self) -> str | None:
        """Return a program that is not on the search path."""
        return next((name for name in self.commands if shutil.which(name) is None), None)

    def job_name(self, job: Job) -> str:
        """Return the name of a job as the scheduler allows it."""
        return job.name

    def is_permanent(self, message: str) -> bool:
        """Return whether a refusal stays, however often one asks."""
        return any(part.lower() in message.lower() for part in self.permanent)

    @abstractmethod
    def find(self, name: str) -> list[str] | None:
        """Return the numbers of the user's jobs of a name that wait or run."""

    @abstractmethod
    def is_live(self, number: str) -> bool | None:
        """Return whether a job waits or runs, asked by its number."""

    @abstractmethod
    def submit(self, job: Job, folder: Folder, batch: list[str]) -> Answer:
        """Submit a job; the answer's text is its number.

        Args:
            job: the job.
            folder: its files.
            batch: the batch script with its arguments.
        """

    @abstractmethod
    def states(self) -> dict[str, State] | None:
        """Return the states of all the user's jobs that the scheduler still knows, by number."""

    @abstractmethod
    def cancel(self, numbers: list[str]) -> Answer:
        """Cancel jobs."""

    @abstractmethod
    def continue_after_limit(self, number: str) -> bool:
        """Continue a job at its time limit, from inside the job.

        Returns:
            Whether the scheduler does it under the same number. If not, `submit` is called again.
        """

    @abstractmethod
    def end_time(self, number: str) -> int | None:
        """Return when the job's time is over, in seconds since 1970; None if nobody knows."""

    def cure(self, number: str, state: State) -> str | None:
        """Return what frees a job that will not start by itself; None for all others."""
        return None

    def refusals(self, resources: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Return why a job with such resources would be refused or never start, and the remedy.

        Args:
            resources: by Snakemake's names.
        """
        return []

    def remarks(self, resources: Mapping[str, Any]) -> list[str]:
        """Return what a user should know of such jobs, though they can be submitted."""
        return []

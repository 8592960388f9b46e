"""The schedulers by the names of their profiles."""

from fathom.cluster.pbs import Pbs
from fathom.cluster.scheduler import Scheduler
from fathom.cluster.slurm import Slurm
from fathom.io.errors import unknown

SCHEDULERS: dict[str, type[Scheduler]] = {"slurm": Slurm, "pbs": Pbs}


def scheduler_of(profile: str) -> Scheduler:
    """Return the scheduler of a profile.

    Raises:
        FathomError: there is none of that name.
    """
    if profile not in SCHEDULERS:
        raise unknown("scheduler", profile, "--profile", SCHEDULERS)
    return SCHEDULERS[profile]()


def is_live(number: str) -> bool | None:
    """Ask the scheduler of this machine whether a job waits or runs; None without an answer."""
    here = (scheduler() for scheduler in SCHEDULERS.values())
    asked = next((scheduler for scheduler in here if scheduler.missing() is None), None)
    return asked and asked.is_live(number)

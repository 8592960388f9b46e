"""What a start reads and changes inside of Snakemake, which has no option for it.

Each part may be gone in another version: the start then runs without what a function does.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any

# What Python raises where a part of Snakemake is gone, or is another thing now.
_GONE = (AttributeError, KeyError, TypeError)
# Jobs and seconds of Snakemake's own limit, where a user gives none.
_DEFAULT_LIMIT = (100, 1)


def lift_limits_of_this_machine(workflow: Any) -> None:
    """Let jobs that run elsewhere ask for more cores and GPUs than this machine has.

    Snakemake takes `cores: all` and `resources: {gpu: 1}` of profiles/default, which say what runs
    here at a time, for the most that any job asks for: of 8 GPUs one was left.

    `workflow` is Snakemake's, before it asks what jobs need.
    """
    with suppress(*_GONE):
        workflow.global_resources["_cores"] = None
        workflow.global_resources["gpu"] = None


def show_rules(workflow: Any) -> None:
    """Print jobs and their failures where any will run: `quiet` is for the lists of dry runs.

    Snakemake counts the message of a job that failed among what `quiet: rules` leaves out.

    `workflow` is Snakemake's, before it runs anything.
    """
    with suppress(*_GONE):
        quiet = workflow.output_settings.quiet  # None in a job
        if quiet and not workflow.output_settings.dryrun:
            quiet -= {each for each in quiet if each.name == "RULES"}


def look_only_when_jobs_end(workflow: Any) -> None:
    """Let Snakemake look for jobs when one has ended, and not once a second for each that has.

    While its limit of jobs per second is on, every look sets a clock for the next one, and every
    job that ends looks too: after 500 jobs there are 500 looks per second, which take half a core
    from the trainings. The limit is dropped where nobody asked for it.

    `workflow` is Snakemake's, when its scheduler is there and has not begun.
    """
    with suppress(*_GONE):
        limit = workflow.scheduler.job_rate_limiter
        if limit is not None and (limit.max_jobs, limit.timespan) == _DEFAULT_LIMIT:
            workflow.scheduler.job_rate_limiter = None


def locks(workflow: Any) -> list[Path]:
    """Return the locks that Snakemake holds; the start after one that was killed removes them.

    `workflow` is Snakemake's, when it has written them.
    """
    with suppress(*_GONE):
        return [Path(path) for path in workflow.persistence._lockfile.values()]
    return []

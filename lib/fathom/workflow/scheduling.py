"""How often Snakemake looks for jobs that can start."""

from typing import Any

# Jobs and seconds of Snakemake's own limit, where a user gives none.
_DEFAULT_LIMIT = (100, 1)


def look_only_when_jobs_end(workflow: Any) -> None:
    """Let Snakemake look for jobs when one has ended, and not once a second for each that has.

    While its limit of jobs per second is on, every look sets a clock for the next one, and every
    job that ends looks too: after 500 jobs there are 500 looks per second, which take half a core
    from the trainings. The limit is dropped where nobody asked for it.

    Args:
        workflow: Snakemake's, when its scheduler is there and has not begun.
    """
    limit = workflow.scheduler.job_rate_limiter
    if limit is not None and (limit.max_jobs, limit.timespan) == _DEFAULT_LIMIT:
        workflow.scheduler.job_rate_limiter = None

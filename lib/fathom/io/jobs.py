"""The job of a scheduler in which this process runs."""

import os

# The variable in which each scheduler gives a job its id.
VARIABLES = {
    "Slurm": "SLURM_JOB_ID",
    "PBS": "PBS_JOBID",
    "LSF": "LSB_JOBID",
    "SGE": "JOB_ID",
}


def job_id() -> str | None:
    """Return the id of the job; None outside of one."""
    return next((os.environ[name] for name in VARIABLES.values() if os.environ.get(name)), None)

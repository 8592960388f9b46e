"""A job as a start on Slurm has submitted it."""

from collections.abc import Iterable
from pathlib import Path

from snakemake_executor_plugin_slurm_attach.desk import Desk, Job
from snakemake_executor_plugin_slurm_attach.request import ExecutorSettings, Request


def submitted(
    desk: Desk, label: str, outputs: Iterable[Path] = (), rule: str = "train_run", **said
) -> Job:
    """Write what a start knows of a job that it has submitted; by default as number 7."""
    files = tuple(map(str, outputs)) or (label,)
    job = desk.add(Request(rule, label, files, {}, 1, ExecutorSettings()), Path("script.sh"))
    for name, value in ({"number": 7} | said).items():
        setattr(job, name, value)
    desk.show()
    return job

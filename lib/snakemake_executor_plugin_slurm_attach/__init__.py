"""Snakemake on Slurm: a job outlives its start, the next start takes it over, a limit continues it.

A rule's resources say what its jobs ask for: `gpu` (of all nodes), `nodes`, `mem_mb`, `runtime`
(minutes), and `resumes`: a file that gets newer with each save of a job that saves and ends when it
is warned, and whose outputs are complete or absent. Options and resources of the same name as
sbatch's say what a cluster needs.
"""

import os
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
from snakemake_interface_executor_plugins.jobs import JobExecutorInterface
from snakemake_interface_executor_plugins.settings import CommonSettings

from . import preflight
from .desk import Desk
from .request import SINGLETON, ExecutorSettings, Request

__all__ = ["Executor", "ExecutorSettings", "common_settings"]
common_settings = CommonSettings(
    non_local_exec=True,
    implies_no_shared_fs=False,
    job_deploy_sources=False,
    auto_deploy_default_storage_provider=False,
    init_seconds_before_status_checks=1,
)
# Seconds between two looks at the folder of end markers.
TICK = 1


class Executor(RemoteExecutor):
    """Hands jobs to the desk, and to Snakemake what the desk finds out."""

    def __init__(self, workflow: Any, logger: Any) -> None:
        self.settings: ExecutorSettings = workflow.executor_settings
        folder = self.settings.folder or os.environ.get("SLURM_ATTACH_FOLDER")
        folder = Path(folder or ".snakemake/slurm-attach").absolute()
        jobs = [job for job in workflow.dag.needrun_jobs() if not job.is_local]
        requests = [Request.of(job, self.settings) for job in jobs]
        problems, is_single = preflight.check(requests, folder)
        # Before the base class starts its thread, which a refusal would leave behind.
        if problems:
            sys.exit("\n".join(map(_marked, ["nothing was submitted", *problems])))

        def say(text: str) -> None:
            logger.info(_marked(text))

        poll, timeout = self.settings.poll, self.settings.timeout
        self.desk = Desk(folder, poll, say, timeout, is_single)
        if not is_single:
            say(f"Slurm refuses {SINGLETON}: jobs of two starts that make the same run may meet")
        super().__init__(workflow, logger)
        self.next_seconds_between_status_checks = TICK

    def run_job(self, job: JobExecutorInterface) -> None:
        """Leave a job at the desk, which submits or finds it at its next look."""
        script = self.get_jobscript(job)
        self.write_jobscript(job, script)
        at_desk = self.desk.add(Request.of(job, self.settings), Path(script), job.input)
        self.report_job_submission(SubmittedJobInfo(job, aux={"job": at_desk}))

    async def check_active_jobs(
        self, active_jobs: list[SubmittedJobInfo]
    ) -> AsyncGenerator[SubmittedJobInfo, None]:
        """Report jobs that have ended; an error of the desk must not end the workflow."""
        try:
            self.desk.tick()
        except Exception as error:  # noqa: BLE001
            # A full disk, for example: until there is room.
            self.desk.tell(str(error), f"{type(error).__name__}: {error}; tried again")
        for info in active_jobs:
            at_desk = (info.aux or {})["job"]
            if at_desk.number:
                info.external_jobid = str(at_desk.number)
            if at_desk.verdict:
                lines = [path for path in [at_desk.lines] if path.exists()]
                where = "".join(f"; its lines: {path}" for path in lines)
                # What it prints is long: it is shown where its rule's log has nothing of it.
                shown = [] if any(map(at_desk.is_newer, info.job.log)) else [*map(str, lines)]
                message = _marked(f"{at_desk.verdict}{where}\n")
                self.report_job_error(info, msg=message, aux_logs=shown)
            elif at_desk.verdict is not None:
                self.report_job_success(info)
            else:
                yield info

    def cancel_jobs(self, active_jobs: list[SubmittedJobInfo]) -> None:
        """Cancel all jobs of this start; the list lacks those that are being looked at."""
        self.desk.cancel()


def _marked(text: str) -> str:
    return f"slurm-attach: {text}"

"""What Snakemake asks of the executor, and what it is told."""

import asyncio
import os
import threading
from types import SimpleNamespace

import pytest
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo

from snakemake_executor_plugin_slurm_attach import Executor, preflight
from snakemake_executor_plugin_slurm_attach.request import ExecutorSettings


@pytest.fixture
def executor(start):
    """An executor with a desk, and the list of what it has reported."""
    made = Executor.__new__(Executor)
    made.desk, made.reported = start.desk, []
    made.report_job_success = lambda info: made.reported.append((info, None, None))
    made.report_job_error = lambda info, msg, aux_logs: made.reported.append((info, msg, aux_logs))
    return made


def submitted(start, seed=1, log=()):
    """Return a job as Snakemake knows it, which has been submitted."""
    at_desk = start.add(seed)
    start.wait()
    return SubmittedJobInfo(SimpleNamespace(log=log), aux={"job": at_desk})


def look(executor, *infos):
    """Return the jobs that go on."""

    async def all_of():
        return [info async for info in executor.check_active_jobs(list(infos))]

    return asyncio.run(all_of())


def test_jobs_that_end_are_reported_and_the_others_are_kept(executor, start):
    infos = [submitted(start, seed) for seed in range(2)]
    assert look(executor, *infos) == infos
    assert [info.external_jobid for info in infos] == ["7", "8"]
    start.ends(infos[0].aux["job"])
    assert look(executor, *infos) == infos[1:]
    assert executor.reported == [(infos[0], None, None)]


@pytest.mark.parametrize(
    ("log", "lines", "shown"),
    [(None, True, True), ("new", True, False), ("old", True, True), ("none", True, True),
     (None, False, False)],
)  # fmt: skip
def test_what_a_failed_job_printed_is_shown_where_the_log_of_its_rule_has_nothing_of_it(
    executor, start, tmp_path, log, lines, shown
):
    """A job that failed before its rule's shell had no reason, a refused one None.out."""
    path = tmp_path / "a.log"
    info = submitted(start, log=(str(path),) if log else ())
    job = info.aux["job"]
    if log in ("new", "old"):
        path.touch()
        os.utime(path, (1, 1) if log == "old" else None)
    if lines:
        job.lines.write_text("its lines")
    start.ends(job, 3, "exit code 3")
    assert look(executor, info) == []
    [(_, message, logs)] = executor.reported
    where = f"; its lines: {job.lines}" * lines
    assert message == f"slurm-attach: train_run x.1: job 7 failed: exit code 3{where}\n"
    assert logs == ([str(job.lines)] if shown else [])


def test_an_error_of_the_desk_ends_nothing(executor, start, monkeypatch):
    """Snakemake ends the workflow for an error in this function."""
    info = submitted(start)
    monkeypatch.setattr(start.desk, "tick", lambda: 1 / 0)
    for _ in range(3):
        assert look(executor, info) == [info]
    assert len([line for line in start.lines if "ZeroDivisionError" in line]) == 1


def test_all_jobs_are_cancelled_while_some_of_them_are_looked_at(executor, start):
    """Snakemake's own list is empty then: Ctrl-C during a slow squeue cancelled nothing."""
    for seed in range(2):
        submitted(start, seed)
    executor.cancel_jobs([])
    assert start.toy.cancelled == [7, 8]
    # `fathom status` called them queued, until the next start.
    [heads] = (start.desk.folder / "heads").iterdir()
    assert heads.read_text() == "{}"


def test_a_refusal_leaves_no_thread_behind(toy, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(preflight, "check", lambda *_: (["train_run: a reason"], True))
    workflow = SimpleNamespace(
        executor_settings=ExecutorSettings(folder=str(tmp_path)),
        dag=SimpleNamespace(needrun_jobs=lambda: iter(())),
    )
    threads = threading.active_count()
    with pytest.raises(SystemExit) as ended:
        Executor(workflow, None)
    assert str(ended.value).split("\n") == [
        "slurm-attach: nothing was submitted",
        "slurm-attach: train_run: a reason",
    ]
    assert threading.active_count() == threads

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from fathom.io.holders import UNKNOWN, Holder, beat, read_holder, silent_for, write_holder


@pytest.fixture
def ended():
    """This process as a holder whose number is that of one that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return replace(Holder.here(), pid=process.pid, started=1)


def test_a_holder_is_read_as_it_was_written(tmp_path, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "41")
    path, me = tmp_path / "holder", Holder.here()
    assert read_holder(path) is None
    assert write_holder(path, me, new=True)
    assert read_holder(path) == me
    assert str(me) == f"process {os.getpid()} on {me.host} (job 41)"
    other = Holder.here()
    assert other != me
    assert not write_holder(path, other, new=True)
    assert read_holder(path) == me
    assert write_holder(path, other, new=False)
    assert read_holder(path) == other


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"process 12 on node7\n", b"\xff"])
def test_what_names_no_holder_is_another_process(tmp_path, content):
    (tmp_path / "holder").write_bytes(content)
    assert read_holder(tmp_path / "holder") == UNKNOWN
    assert str(UNKNOWN) == "another process"


def test_a_process_runs_while_its_number_and_its_start_are_the_same(ended):
    me = Holder.here()
    assert me.is_here
    assert me.runs_here
    assert not replace(me, started=me.started + 1).runs_here
    assert not ended.runs_here
    assert not replace(me, boot="another").is_here


def test_a_process_that_waits_for_its_parent_has_ended():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    holder = replace(Holder.here(), pid=process.pid, started=None)
    assert holder.runs_here
    process.communicate()
    assert not holder.runs_here


def test_without_proc_a_process_is_asked_for_by_its_number(ended):
    assert replace(Holder.here(), started=None).runs_here
    assert not replace(ended, started=None).runs_here


def test_on_this_host_a_holder_is_gone_with_its_process(ended):
    def never(job):
        raise AssertionError(job)

    assert not Holder.here().is_gone(never, locked=True)
    assert ended.is_gone(never, locked=False)
    assert replace(Holder.here(), boot="before the power failed").is_gone(never, locked=False)


@pytest.mark.parametrize(("answer", "gone"), [(True, False), (None, False), (False, True)])
def test_on_another_host_the_scheduler_decides_and_its_silence_counts_as_life(answer, gone):
    """Field fault 7."""
    other = replace(Holder.here(), host="elsewhere", job="41")
    assert other.is_gone(lambda job: answer, locked=True) == gone


def test_a_job_that_runs_again_under_its_id_took_the_place_of_its_first_run(monkeypatch):
    other = replace(Holder.here(), host="elsewhere", job="41")
    monkeypatch.setenv("SLURM_JOB_ID", "41")
    assert other.is_gone(lambda job: True, locked=False)


@pytest.mark.parametrize("locked", [True, False])
def test_on_another_host_without_a_job_the_kernels_lock_is_the_only_evidence(locked):
    other = replace(Holder.here(), host="elsewhere", job=None)
    assert other.is_gone(lambda job: False, locked=locked) == locked


def test_silence_is_counted_by_the_clock_of_the_file_system(tmp_path):
    """Field fault 7."""
    path = tmp_path / "holder"
    path.touch()
    written = path.stat().st_mtime
    os.utime(path, (written, written - 100))
    assert silent_for(path) >= 100
    beat(path)
    assert silent_for(path) < 100
    assert [path.name for path in tmp_path.iterdir()] == ["holder"]

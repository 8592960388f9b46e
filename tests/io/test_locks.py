"""One writer in a folder: who holds the lock, who waits, and when it is taken over."""

import errno
import fcntl
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from dataclasses import asdict, replace

import pytest

from fathom.io import locks
from fathom.io.locks import (
    HOLDER,
    LOCK,
    PERIOD,
    UNKNOWN,
    Holder,
    is_silent,
    only_writer,
    read_holder,
    started,
    write_holder,
)
from tests.support.refused import refused
from tests.support.small_corpus import silent
from tests.support.small_disk import small_disk

FORK = multiprocessing.get_context("fork")


def hold(folder, ready, end):
    with only_writer(folder, silent):
        ready.set()
        end.wait(60)


@pytest.fixture
def holder(tmp_path):
    """A process that holds the lock of a folder until `end` is set."""
    ready, end = FORK.Event(), FORK.Event()
    process = FORK.Process(target=hold, args=(tmp_path / "run", ready, end))
    process.start()
    assert ready.wait(20)
    process.end = end
    yield process
    process.kill()
    process.join()


@pytest.fixture
def quick(monkeypatch):
    """Look at a lock at once again."""
    monkeypatch.setattr(locks, "POLL", 0.01)


@pytest.fixture
def flock_fails(monkeypatch):
    """A function that makes the kernel's lock fail with an error number."""

    def fail(number):
        def flock(*_):
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(fcntl, "flock", flock)

    return fail


@pytest.fixture
def no_flock(flock_fails):
    """A file system without locks of the kernel."""
    flock_fails(errno.ENOSYS)


def locked_by(holder, **parts):
    """Return a check that a holder keeps this process out."""
    return refused(re.compile(re.escape(f"locked by {holder}")), **parts)


def left(folder, seconds, **values):
    """Leave the file of a holder whose last heartbeat was some seconds ago."""
    folder.mkdir(exist_ok=True)
    path = folder / HOLDER
    other = replace(Holder.here(), **values)
    write_holder(path, other, new=False)
    now = path.stat().st_mtime
    os.utime(path, (now, now - seconds))
    return other


def test_a_second_writer_sees_who_holds_the_lock(tmp_path, holder):
    folder, by = tmp_path / "run", f"process {holder.pid} on "
    with locked_by(by, where=folder, remedy="wait for it or stop it"), only_writer(folder, silent):
        pass


def test_a_second_writer_may_wait_and_says_for_whom_once(tmp_path, holder, quick):
    """A job that was started twice ended in an error while the first one trained."""
    lines, looks = [], []

    def waiting():
        looks.append(holder.is_alive())
        if len(looks) == 3:
            holder.end.set()

    with only_writer(tmp_path / "run", lines.append, waiting):
        assert read_holder(tmp_path / "run" / HOLDER).pid == os.getpid()
    assert len(looks) >= 3
    (line,) = lines
    assert f"locked by process {holder.pid} on " in line


def test_a_killed_writer_leaves_nothing_that_keeps_others_out(tmp_path, holder):
    os.kill(holder.pid, signal.SIGKILL)
    holder.join()
    with only_writer(tmp_path / "run", silent) as held:
        assert read_holder(tmp_path / "run" / HOLDER).pid == os.getpid()
        assert held.last_seen is not None


def test_a_lock_that_is_freed_names_nobody_and_can_be_taken_again(tmp_path):
    for _ in range(2):
        with only_writer(tmp_path, silent) as held:
            assert held.last_seen is None
            assert read_holder(tmp_path / HOLDER).pid == os.getpid()
        assert [path.name for path in tmp_path.iterdir()] == [LOCK]


@pytest.mark.parametrize(
    ("seconds", "answer", "taken"),
    [(0, False, False), (100, None, False), (100, True, False), (100, False, True)],
)
def test_a_lock_of_another_host_is_taken_over_when_its_job_is_gone(
    tmp_path, quick, seconds, answer, taken
):
    """Where the kernel's lock holds on one host alone."""
    other = left(tmp_path, seconds, host="elsewhere", job="41")
    lines = []
    expected = nullcontext() if taken else locked_by(str(other))
    with expected, only_writer(tmp_path, lines.append, alive=lambda job: answer):
        assert read_holder(tmp_path / HOLDER).pid == os.getpid()
        assert any(f"the lock of {other}, which is gone, is taken over" in line for line in lines)


@pytest.mark.parametrize(
    ("seconds", "started", "taken"), [(0, 1, False), (100, 1, True), (100, None, False)]
)
@pytest.mark.usefixtures("no_flock", "quick")
def test_without_the_kernels_lock_a_process_that_is_gone_is_noticed_after_three_periods(
    tmp_path, seconds, started, taken
):
    values = {} if started is None else {"started": started}
    left(tmp_path, seconds, **values)
    expected = nullcontext() if taken else locked_by(f"process {os.getpid()} on ")
    with expected, only_writer(tmp_path, silent):
        pass


@pytest.mark.usefixtures("no_flock")
def test_where_nobody_can_say_whether_a_holder_lives_a_user_is_told_what_to_delete(tmp_path):
    left(tmp_path, 100, host="elsewhere", job=None)
    remedy = f"delete {tmp_path / HOLDER}"
    with locked_by("process ", remedy=remedy), only_writer(tmp_path, silent):
        pass


@pytest.mark.usefixtures("no_flock")
def test_of_two_that_take_a_lock_over_at_once_one_holds_it(tmp_path, monkeypatch):
    left(tmp_path, 100, started=1)
    other = replace(Holder.here(), token="of the faster one")
    monkeypatch.setattr(time, "sleep", lambda _: write_holder(tmp_path / HOLDER, other, new=False))
    with locked_by("process "), only_writer(tmp_path, silent):
        pass
    assert read_holder(tmp_path / HOLDER) == other


def test_a_holder_shows_that_it_lives(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "PERIOD", 0.01)
    path = tmp_path / HOLDER
    with only_writer(tmp_path, silent):
        os.utime(path, (0, 0))
        end = time.monotonic() + 20
        while path.stat().st_mtime == 0 and time.monotonic() < end:
            time.sleep(0.01)
        assert path.stat().st_mtime > 0


def test_a_holder_that_was_frozen_while_another_took_over_may_write_no_more(tmp_path):
    with only_writer(tmp_path, silent) as held:
        held.require()
        other = left(tmp_path, 0)
        with refused(f"{other} has taken the lock over"):
            held.require()
    assert read_holder(tmp_path / HOLDER) == other


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_without_locks_one_line_warns_and_the_block_runs(tmp_path, flock_fails, number):
    flock_fails(number)
    lines = []
    with only_writer(tmp_path, lines.append):
        assert read_holder(tmp_path / HOLDER).pid == os.getpid()
        with locked_by(f"process {os.getpid()} on "), only_writer(tmp_path, silent):
            pass
    (line,) = lines
    assert line.startswith(f"{tmp_path}: no locks here")


def test_a_lock_that_fails_otherwise_names_its_file(tmp_path, flock_fails):
    flock_fails(errno.EIO)
    with pytest.raises(OSError, match="lock") as caught, only_writer(tmp_path, silent):
        pass
    assert caught.value.filename == str(tmp_path / LOCK)


def test_a_full_disk_leaves_no_holder_that_keeps_others_out(tmp_path):
    """A name that was cut off locked the folder until the user deleted it."""
    with small_disk(tmp_path / "disk") as disk:
        disk.limit(10)
        with pytest.raises(OSError, match="too large"), only_writer(disk.folder, silent):
            pass
        disk.free()
        with only_writer(disk.folder, silent):
            pass


def test_what_killed_writers_left_anywhere_below_is_deleted(tmp_path):
    part = tmp_path / "checkpoints" / ".fresh.pt.123.part"
    part.parent.mkdir()
    part.touch()
    with only_writer(tmp_path, silent):
        assert not part.exists()


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


def test_the_holder_of_a_version_with_other_facts_is_the_same(tmp_path):
    me, path = Holder.here(), tmp_path / "holder"
    path.write_text(json.dumps(asdict(me) | {"boot": "b61c"}), encoding="utf-8")
    assert read_holder(path) == me


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"process 12 on node7\n", b"\xff"])
def test_what_names_no_holder_is_another_process(tmp_path, content):
    (tmp_path / "holder").write_bytes(content)
    assert read_holder(tmp_path / "holder") == UNKNOWN
    assert str(UNKNOWN) == "another process"


def test_a_process_runs_while_its_number_and_its_start_are_the_same(ended):
    me = Holder.here()
    assert me.runs_here
    assert not replace(me, started=me.started + 1).runs_here
    assert not ended.runs_here


def test_a_process_that_waits_for_its_parent_has_ended():
    words = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    process = subprocess.Popen(words, stdin=subprocess.PIPE)
    holder = replace(Holder.here(), pid=process.pid, started=started(process.pid))
    assert holder.runs_here
    process.stdin.close()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not holder.runs_here
    process.wait()


def test_on_this_host_a_holder_is_gone_with_its_process(ended):
    def never(job):
        raise AssertionError(job)

    assert not Holder.here().is_gone(never, locked=True)
    assert ended.is_gone(never, locked=False)


@pytest.mark.parametrize(
    ("job", "answer", "locked", "gone"),
    [
        ("41", True, True, False),
        ("41", None, True, False),
        ("41", False, True, True),
        # The job that asks runs a second time under its id.
        ("mine", True, False, True),
        # Without a job the kernel's lock is the only evidence.
        (None, False, True, True),
        (None, False, False, False),
    ],
)
def test_on_another_host_the_scheduler_decides_and_its_silence_counts_as_life(
    monkeypatch, job, answer, locked, gone
):
    monkeypatch.setenv("SLURM_JOB_ID", "mine")
    other = replace(Holder.here(), host="elsewhere", job=job)
    assert other.is_gone(lambda job: answer, locked=locked) == gone


def test_silence_is_counted_by_the_clock_of_the_file_system(tmp_path):
    path = tmp_path / "holder"
    path.touch()
    written = path.stat().st_mtime
    for seconds in (29, 100):
        os.utime(path, (written, written - seconds))
        assert is_silent(path) == (seconds > 3 * PERIOD)
    os.utime(path)
    assert not is_silent(path)
    assert [path.name for path in tmp_path.iterdir()] == ["holder"]

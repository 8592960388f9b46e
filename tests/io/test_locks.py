import errno
import fcntl
import multiprocessing
import os
import re
import signal

import pytest

from fathom.io.locks import HOLDER, LOCK, only_writer
from tests.support.refused import prose, refused, says
from tests.support.small_corpus import silent

FORK = multiprocessing.get_context("fork")


def hold(folder, ready):
    with only_writer(folder, silent):
        ready.send(None)
        signal.pause()


@pytest.fixture
def holder(tmp_path):
    heard, ready = FORK.Pipe(duplex=False)
    process = FORK.Process(target=hold, args=(tmp_path / "run", ready))
    process.start()
    assert heard.poll(timeout=20)
    yield process
    process.kill()
    process.join()


def holder_of(folder):
    return (folder / HOLDER).read_text(encoding="utf-8")


def test_a_second_writer_sees_who_holds_the_lock(tmp_path, holder):
    with (
        refused(
            "locked", re.compile(rf"process {holder.pid} on .*"), remedy=prose("wait or stop")
        ) as caught,
        only_writer(tmp_path / "run", silent),
    ):
        pass
    assert caught.value.where == str(tmp_path / "run")


def test_a_killed_writer_leaves_nothing_that_keeps_others_out(tmp_path, holder):
    os.kill(holder.pid, signal.SIGKILL)
    holder.join()
    with only_writer(tmp_path / "run", silent):
        assert holder_of(tmp_path / "run").startswith(f"process {os.getpid()} on ")


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_without_locks_one_line_warns_and_the_block_runs(tmp_path, monkeypatch, number):
    def flock(*_):
        raise OSError(number, os.strerror(number))

    with only_writer(tmp_path, silent):
        pass
    monkeypatch.setattr(fcntl, "flock", flock)
    lines = []
    with only_writer(tmp_path, lines.append):
        assert holder_of(tmp_path).startswith(f"process {os.getpid()} on ")
    assert len(lines) == 1
    says("no locks", where=tmp_path).check(lines)
    assert f"process {os.getpid()} on " in lines[0]


def test_a_lock_that_fails_otherwise_names_its_file(tmp_path, monkeypatch):
    def flock(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(OSError, match="lock") as caught, only_writer(tmp_path, silent):
        pass
    assert caught.value.filename == str(tmp_path / LOCK)


def test_what_killed_writers_left_anywhere_below_is_deleted(tmp_path):
    part = tmp_path / "checkpoints" / ".fresh.pt.123.part"
    part.parent.mkdir()
    part.touch()
    with only_writer(tmp_path, silent):
        assert not part.exists()


def test_a_lock_can_be_taken_again(tmp_path):
    for _ in range(2):
        with only_writer(tmp_path, silent):
            assert holder_of(tmp_path).startswith(f"process {os.getpid()} on ")

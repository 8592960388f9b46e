import multiprocessing
import os
import re
import signal

import pytest

from fathom.io.locks import HOLDER, only_writer
from tests.support.refused import prose, refused

FORK = multiprocessing.get_context("fork")


def hold(folder, ready):
    with only_writer(folder):
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
        only_writer(tmp_path / "run"),
    ):
        pass
    assert caught.value.where == str(tmp_path / "run")


def test_a_killed_writer_leaves_nothing_that_keeps_others_out(tmp_path, holder):
    os.kill(holder.pid, signal.SIGKILL)
    holder.join()
    with only_writer(tmp_path / "run"):
        assert holder_of(tmp_path / "run").startswith(f"process {os.getpid()} on ")


def test_a_lock_can_be_taken_again(tmp_path):
    for _ in range(2):
        with only_writer(tmp_path):
            assert holder_of(tmp_path).startswith(f"process {os.getpid()} on ")

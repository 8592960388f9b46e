import multiprocessing
import os
import signal

import pytest

from fathom.errors import FathomError
from fathom.io.locks import only_writer

FORK = multiprocessing.get_context("fork")


def hold(path, ready):
    with only_writer(path):
        ready.send(None)
        signal.pause()


@pytest.fixture
def holder(tmp_path):
    heard, ready = FORK.Pipe(duplex=False)
    process = FORK.Process(target=hold, args=(tmp_path / "run" / "lock", ready))
    process.start()
    assert heard.poll(timeout=20)
    yield process
    process.kill()
    process.join()


def test_a_second_writer_sees_who_holds_the_lock(tmp_path, holder):
    with (
        pytest.raises(FathomError, match=f"process {holder.pid} on ") as caught,
        only_writer(tmp_path / "run" / "lock"),
    ):
        pass
    assert caught.value.where == str(tmp_path / "run")


def test_a_killed_writer_leaves_nothing_that_keeps_others_out(tmp_path, holder):
    os.kill(holder.pid, signal.SIGKILL)
    holder.join()
    with only_writer(tmp_path / "run" / "lock"):
        assert (
            (tmp_path / "run" / "lock")
            .read_text(encoding="utf-8")
            .startswith(f"process {os.getpid()} on ")
        )


def test_a_lock_can_be_taken_again(tmp_path):
    for _ in range(2):
        with only_writer(tmp_path / "lock"):
            lines = (tmp_path / "lock").read_text(encoding="utf-8").split("\n")
            assert lines[0].startswith(f"process {os.getpid()} on ")
            assert lines[1:] == [""]

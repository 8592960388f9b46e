import os
import platform
import subprocess
import sys

import pytest

from fathom.cluster.heads import HEADS, LOCKS, enter
from fathom.io.files import write_json
from fathom.io.holders import started
from tests.support.refused import prose, says


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A working folder with Snakemake's lock."""
    monkeypatch.chdir(tmp_path)
    LOCKS.mkdir(parents=True)
    (LOCKS / "0.input.lock").write_text("x")
    HEADS.mkdir()


def head(pid, start, host=None):
    host = host or platform.node()
    write_json(HEADS / f"{host}.{pid}.json", {"host": host, "pid": pid, "start": start})


def dead():
    """Return the number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_lock_of_a_start_that_is_gone_is_removed():
    head(dead(), "1")
    says("lock removed").check(enter()[0])
    assert LOCKS.is_dir()
    assert list(LOCKS.iterdir()) == []


def test_a_later_process_of_the_same_number_is_another_one():
    head(os.getppid(), "1")
    says("lock removed").check(enter()[0])


def test_a_lock_of_a_start_that_lives_stays_and_its_process_is_named():
    head(os.getppid(), started(os.getppid()))
    head(dead(), "1")
    says("runs here, too", os.getppid()).check(enter()[0])
    assert len(list(LOCKS.iterdir())) == 1


def test_of_another_host_nothing_is_known():
    head(1, "1", "another")
    says("may still run", "another", remedy=prose("add --unlock")).check(enter()[0])
    assert len(list(LOCKS.iterdir())) == 1


def test_a_lock_of_nobody_is_snakemakes_affair():
    assert enter() == []
    assert len(list(LOCKS.iterdir())) == 1


def test_a_start_leaves_no_record_of_itself():
    code = "from fathom.cluster.heads import *; enter(); print(len(list(HEADS.iterdir())))"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
    assert printed.stdout == b"1\n"
    assert list(HEADS.iterdir()) == []

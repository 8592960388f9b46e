"""Starts that live or were killed: their locks, and what they will train."""

import json
import os
import platform
import subprocess
import sys

import pytest

from fathom.io.files import write_json
from fathom.io.locks import started
from fathom.workflow.setup import ask
from fathom.workflow.starts import (
    HEADS,
    LOCKS,
    STARTS,
    add_trainings,
    enter,
    trainings_of_all,
)
from tests.support.small_disk import small_disk

GONE = "the lock of an earlier start, which is gone, is removed"
FOREIGN = "another workflow may run in this folder; if none does, add --unlock once"


@pytest.fixture
def lock(tmp_path, monkeypatch):
    """Snakemake's lock in a working folder."""
    monkeypatch.chdir(tmp_path)
    LOCKS.mkdir(parents=True)
    HEADS.mkdir()
    path = LOCKS / "0.input.lock"
    path.write_text("x")
    return path


def test_a_start_that_cannot_be_recorded_is_one_message(tmp_path, lock):
    """It was a traceback of Snakemake's."""
    with small_disk(tmp_path / "disk") as disk:
        disk.fill(0)
        with pytest.raises(SystemExit, match=rf"fathom: {disk.folder}/.*: .*; make room"):
            ask(add_trainings, disk.folder, {tmp_path / "training.json": ()})


def version(path):
    return [path.name, path.stat().st_ino, path.stat().st_mtime_ns]


def head(pid, start, *locks, host=None):
    host = host or platform.node()
    record = {"host": host, "pid": pid, "start": start, "locks": [version(path) for path in locks]}
    write_json(HEADS / f"{host}.{pid}.json", record)


def dead():
    """Return the number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_the_lock_of_a_start_that_is_gone_is_removed(lock):
    # Nobody has the number of the first process; of the second a later process has it.
    for pid in (dead(), os.getppid()):
        lock.write_text("x")
        head(pid, "1", lock)
        assert enter() == [GONE]
        assert list(LOCKS.iterdir()) == []


def test_a_foreign_lock_beside_a_dead_record_stays(lock):
    """It was removed, though its Snakemake lived: fathom records itself, other workflows do not."""
    head(dead(), "1")
    assert enter() == [FOREIGN]
    assert lock.exists()


def test_a_later_lock_of_the_same_name_is_not_the_dead_starts(lock):
    head(dead(), "1", lock)
    os.utime(lock, ns=(1, 1))
    assert enter() == [FOREIGN]
    assert lock.exists()


def test_exactly_the_locks_of_dead_starts_are_removed(lock):
    second = LOCKS / "1.input.lock"
    second.write_text("y")
    head(dead(), "1", second)
    assert enter() == [GONE, FOREIGN]
    assert list(LOCKS.iterdir()) == [lock]


def test_a_lock_of_a_start_that_may_live_stays_and_its_process_is_named(lock):
    assert enter() == []
    head(os.getppid(), started(os.getppid()), lock)
    head(dead(), "1")
    [line] = enter()
    assert line.startswith(f"process {os.getppid()} runs the workflow here, too")
    for path in HEADS.iterdir():
        path.unlink()
    head(1, "1", lock, host="another")
    [line] = enter()
    assert line.startswith("a start on another may still run here; if it is gone, add --unlock")
    assert lock.exists()


def test_a_start_records_its_locks_and_leaves_no_record(lock):
    code = (
        "from fathom.workflow.starts import *; from fathom.workflow.starts import HEADS, LOCKS\n"
        "enter(); hold(LOCKS.iterdir())\n"
        "print(*(path.read_text() for path in HEADS.iterdir()))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
    [record] = [json.loads(printed.stdout)]
    assert record["locks"] == [version(lock)]
    assert list(HEADS.iterdir()) == []


def test_a_start_adds_what_it_trains_and_leaves_no_record(tmp_path):
    code = (
        "import sys; from pathlib import Path; from fathom.workflow.starts import *\n"
        "above = Path(sys.argv[1])\n"
        "add_trainings(above, {Path('/a'): ()}); add_trainings(above, {Path('/b'): ()})\n"
        "print(*sorted(trainings_of_all(above)))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", code, str(tmp_path)]
    printed = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert printed.stdout == "/a /b\n", printed.stderr
    assert list((tmp_path / STARTS).iterdir()) == []


def test_a_start_that_is_gone_trains_nothing_and_is_deleted_by_the_next(tmp_path):
    add_trainings(tmp_path / "cluster", {})
    assert not (tmp_path / "cluster").exists()
    old, there = (tmp_path / STARTS / f"{name}.json" for name in ("old", "there"))
    gone = {"host": platform.node(), "pid": dead(), "start": 1, "trainings": {"/a": []}}
    write_json(old, gone)
    # On another host it may live. A record that no start wrote is of nobody.
    write_json(there, gone | {"host": "another", "trainings": {"/b": []}})
    for missing in ("host", "pid", "start"):
        record = {key: value for key, value in gone.items() if key != missing}
        write_json(tmp_path / STARTS / f"without_{missing}.json", record)
    assert [str(path) for path in trainings_of_all(tmp_path)] == ["/b"]
    add_trainings(tmp_path, {})
    assert [*(tmp_path / STARTS).iterdir()] == [there]

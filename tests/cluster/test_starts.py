"""What starts that run now will train."""

import os
import platform
import subprocess
import sys

from fathom.cluster.starts import STARTS, record, trainings
from fathom.io.files import write_json


def test_a_start_adds_what_it_trains_and_leaves_no_record(tmp_path):
    code = (
        "import sys; from pathlib import Path; from fathom.cluster.starts import *\n"
        "above = Path(sys.argv[1])\n"
        "record(above, [Path('/a')]); record(above, [Path('/b')])\n"
        "print(*sorted(trainings(above)))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", code, str(tmp_path)]
    printed = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert printed.stdout == "/a /b\n", printed.stderr
    assert list((tmp_path / STARTS).iterdir()) == []


def test_a_start_that_trains_nothing_writes_nothing(tmp_path):
    record(tmp_path / "cluster", [])
    assert not (tmp_path / "cluster").exists()


def test_a_start_that_is_gone_trains_nothing_and_is_deleted_by_the_next(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    path = tmp_path / STARTS / "old.json"
    write_json(path, {"host": platform.node(), "pid": ended.pid, "start": 1, "trainings": ["/a"]})
    assert trainings(tmp_path) == set()
    record(tmp_path, [])
    assert not path.exists()


def test_a_start_on_another_host_may_live(tmp_path):
    there = {"host": "another", "pid": 1, "start": 1, "trainings": ["/a"]}
    write_json(tmp_path / STARTS / "there.json", there)
    assert [str(path) for path in trainings(tmp_path)] == ["/a"]

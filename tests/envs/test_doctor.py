"""What this machine lacks is printed in one line."""

import ast
import os
import re
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from envs import doctor

DOCTOR = Path(doctor.__file__)
# A closed port of this machine: a refused connection, without a network.
NOWHERE = "http://127.0.0.1:9/simple"


def test_another_python_is_refused_by_name_and_version(monkeypatch):
    monkeypatch.setattr(doctor, "ENVIRONMENT", os.devnull)
    assert doctor.lacking_python() is None
    monkeypatch.setattr(sys, "version_info", (3, 14, 1))
    monkeypatch.setattr(sys, "executable", "/opt/python3.14")
    assert doctor.lacking_python() == (
        "fathom runs on Python 3.11, 3.12, 3.13, and /opt/python3.14 is 3.14; install one of them "
        "or uv, or name it: make PYTHON=/path/to/python3.13"
    )


@pytest.mark.parametrize("written", ["version = 3.12.1", "version_info = 3.12.1", "home = /opt"])
def test_an_environment_of_another_python_is_to_be_deleted(monkeypatch, tmp_path, written):
    """venv leaves its `python` as it is, and puts packages where that one finds none."""
    monkeypatch.setattr(doctor, "ENVIRONMENT", str(tmp_path))
    monkeypatch.setattr(sys, "version_info", (3, 13, 0))
    (tmp_path / "pyvenv.cfg").write_text(f"{written}\n")
    refusal = f"{tmp_path} has Python 3.12, not 3.13; delete it and run again"
    assert doctor.lacking_python() == (refusal if "3.12" in written else None)


def test_a_python_without_venv_is_told_debians_package(monkeypatch):
    monkeypatch.setattr(doctor, "ENVIRONMENT", os.devnull)
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    this = "{}.{}".format(*sys.version_info)
    assert doctor.lacking_python().endswith(f"(Debian, Ubuntu: python{this}-venv)")


def test_a_full_disk_is_reported_with_what_is_free_and_needed(monkeypatch, tmp_path):
    assert doctor.lacking_disk(0) is None
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda path: usage(9e9, 8e9, 1e9))
    monkeypatch.setattr(doctor, "ENVIRONMENT", str(tmp_path))
    assert "1.0 GB are free" in doctor.lacking_disk(4)
    assert "4.0 GB are needed" in doctor.lacking_disk(4)
    (tmp_path / "torch.so").write_bytes(b"0" * 1_000_000)
    assert doctor.lacking_disk(1.0005) is None


@pytest.mark.parametrize("minor", [7, 9])
def test_older_pythons_can_read_the_refusal(minor):
    ast.parse(DOCTOR.read_text(encoding="utf-8"), feature_version=(3, minor))


def report(digest, url="https://here/torch-2.13.0+cpu-cp313.whl"):
    """What pip says of a file, in its present words and in older ones."""
    return {"url": url, "archive_info": {"hash": f"sha256={digest}", "hashes": {"sha256": digest}}}


def test_the_lock_of_torch_is_the_one_that_has_the_file_which_pip_takes():
    """With hashes pip took a build with CUDA of an index for the CPU build of a folder."""
    for lock in doctor.TORCH_LOCKS:
        content = Path(doctor.ROOT, lock).read_text(encoding="utf-8")
        digests = re.findall(r"^torch==.*((?:\n +--hash.*)+)", content, re.MULTILINE)[-1]
        assert doctor.lock_of(report(digests.split("sha256:")[1][:64])) == lock


def test_a_build_that_no_lock_has_is_named_with_what_makes_one():
    with pytest.raises(SystemExit, match=r"no lock has .*cp313\.whl; .* make lock TORCH_INDEX="):
        doctor.lock_of(report("0" * 64))


def test_a_missing_network_is_one_line():
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
    environment |= {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": NOWHERE, "PIP_TARGET": "."}
    command = [sys.executable, str(DOCTOR), "torch"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("environment: pip finds no packages (")
    assert done.stderr.count("\n") == 1

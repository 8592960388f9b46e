"""What this machine lacks is printed in one line."""

import ast
import os
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
    assert doctor.lacking_python() is None
    monkeypatch.setattr(sys, "version_info", (3, 12, 1))
    monkeypatch.setattr(sys, "executable", "/opt/python3.12")
    assert doctor.lacking_python() == (
        "envs/ has locks for Python 3.11, and /opt/python3.12 is 3.12; install Python 3.11, "
        "or name it: make PYTHON=/path/to/python3.11, or install with pip (docs/installation.md)"
    )
    monkeypatch.setattr(sys, "executable", os.path.join(doctor.ENVIRONMENT, "bin", "python"))
    assert doctor.lacking_python().endswith(f"delete {doctor.ENVIRONMENT} and run again")


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


@pytest.mark.parametrize(
    ("needs", "platform", "cuda"),
    [
        (["filelock", 'nvidia-nccl-cu13==2; platform_system == "Linux"'], "linux", True),
        (["filelock", 'nvidia-nccl-cu13==2; platform_system == "Linux"'], "darwin", False),
        (["filelock"], "linux", False),
    ],
)
def test_the_packages_of_cuda_come_where_torch_asks_for_them(monkeypatch, needs, platform, cuda):
    monkeypatch.setattr("importlib.metadata.requires", lambda name: needs)
    monkeypatch.setattr(sys, "platform", platform)
    assert doctor.needs_cuda() is cuda


def test_the_build_of_torch_is_the_one_that_pip_takes_without_hashes():
    """With hashes pip took a build with CUDA of an index for the CPU build of a folder."""
    lock = "# torch==2.13.0\na==1 \\\n    --hash=sha256:0\ntorch==2.13.0 \\\n    --hash=sha256:1\n"
    chosen = doctor.of_one_build(lock, ["2.13.0+cpu"])
    assert chosen == lock.replace("\ntorch==2.13.0 ", "\ntorch==2.13.0+cpu ")
    assert doctor.of_one_build(lock, ["2.13.0"]) == doctor.of_one_build(lock, []) == lock
    real = Path(doctor.ROOT, "envs", "torch.lock").read_text(encoding="utf-8")
    assert "\ntorch==2.13.0+cpu \\\n" in doctor.of_one_build(real, ["2.13.0+cpu"])


def test_a_missing_network_is_one_line():
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
    environment |= {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": NOWHERE, "PIP_TARGET": "."}
    environment |= {"PIP_IGNORE_INSTALLED": "1"}
    command = [sys.executable, str(DOCTOR), "network"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("environment: pip finds no packages (")
    assert done.stderr.count("\n") == 1

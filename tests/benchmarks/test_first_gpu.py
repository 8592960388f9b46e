"""The first half hour on a GPU: what it needs, what it carries, and its parts on a CPU."""

import os
import subprocess
from importlib.metadata import distribution
from venv import EnvBuilder

import pytest
import torch

from benchmarks.first_gpu import parts
from benchmarks.first_gpu.__main__ import LIMITS, ROOT, needs, rows
from benchmarks.peer.workload import Workload
from fathom.data.tensors import load
from fathom.train.environment import choose_device
from tests.support.locks import locked, text

FOLDER = ROOT / "benchmarks" / "first_gpu"
CHAIN = """
from pathlib import Path
import benchmarks.first_gpu.parts, fathom.cli.main, fathom.cli.measure, fathom.cli.runs
import fathom.decode.translate, fathom.scoring.score
from fathom.scoring.metrics import HeldOut, measure, metrics_of
from tests.support.small_runs import encoded, specification, train_run
train_run(specification(), encoded(Path.cwd()), Path("run"))
measure(["a b"], HeldOut("eng", ["a b"]), metrics_of("eng"), "here")
"""


@pytest.mark.slow
def test_a_run_trains_and_is_scored_with_torch_and_the_carried_packages_alone(tmp_path):
    EnvBuilder().create(tmp_path / "machine")
    (site,) = tmp_path.glob("machine/lib/python*/site-packages")
    names = locked(text("envs/torch_build.lock"))  # what torch needs besides CUDA
    for name in [*names, *(FOLDER / "packages.txt").read_text().split()]:
        package = distribution(name)
        for top in {file.parts[0] for file in package.files} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(package.locate_file(top))
    path = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'lib'}:{FOLDER / 'stand_ins'}"}
    python = tmp_path / "machine" / "bin" / "python"
    subprocess.run([python, "-c", CHAIN], cwd=tmp_path, env=path, check=True)


@pytest.mark.slow
def test_parts_run_on_a_cpu_and_say_what_needs_cuda(tensors, tmp_path, monkeypatch):
    workload = Workload(tmp_path, torch.device("cpu"))
    monkeypatch.setattr(Workload, "tensors", load(tensors))
    monkeypatch.setattr(Workload, "folder", tensors)
    monkeypatch.setattr(parts, "TIMED", 2)
    assert list(parts.PARTS) == list(LIMITS)
    for name in ("right", "waits", "fast", "compiled"):
        first, *others = parts.PARTS[name](workload)
        assert [*first] == ["needs CUDA"]
        assert [row["network"] for row in others] in ([], [*parts.RUNS])
        assert not any("failed" in row for row in others)


def test_a_row_that_fails_names_the_line_of_fathom():
    row = parts.tried({"network": "latent"}, lambda: choose_device("gpu"))
    assert row["network"] == "latent"
    assert "/lib/fathom/train/environment.py:" in row["failed"]


@pytest.mark.parametrize(
    ("environment", "limit", "why"),
    [({}, 0.1, "no end after 0.1 s"), ({"PYTHONHOME": "/nowhere"}, 60, "encodings")],
)
def test_a_part_that_hangs_or_breaks_ends_alone_with_a_row(tmp_path, environment, limit, why):
    (row,) = rows("right", "cpu", tmp_path, os.environ | environment, limit)
    assert why in row["failed"] or why in (tmp_path / "right.log").read_text()
    assert "right.log" in row["failed"]


def test_what_is_missing_is_said_before_anything_is_installed(tmp_path):
    assert f"build.sh {tmp_path}" in next(needs(tmp_path))
    (tmp_path / "python").write_text("2.7\n")
    assert f"Python 2.7, for which {tmp_path} was made" in next(needs(tmp_path))

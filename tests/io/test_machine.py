"""The machine and the job in which a process runs."""

import platform
import shutil

import numpy as np
import pytest
import torch
from safetensors import SafetensorError
from safetensors.numpy import save_file

from fathom.io import machine
from fathom.io.machine import VARIABLES, fault_of_machine, is_out_of_memory, job_id, job_is_live
from tests.support.small_disk import small_disk

CORE = "processor\t: {}\nmodel name\t: AMD EPYC 9R14\n\n"


@pytest.mark.parametrize("variable", VARIABLES)
def test_each_scheduler_names_its_job_in_a_variable(monkeypatch, variable):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert job_id() is None
    monkeypatch.setenv(variable, "12[3]")
    assert job_id() == "12[3]"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (CORE.format(0) + CORE.format(1), "AMD EPYC 9R14"),
        ("processor\t: 0\nBogoMIPS\t: 50.00\n", None),
        ("model name\t:\n", None),
        (None, None),
    ],
    ids=["named", "not named", "empty", "no file"],
)
def test_a_processors_name_is_the_systems_or_else_the_architecture(
    tmp_path, monkeypatch, text, name
):
    path = tmp_path / "cpuinfo"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(machine, "INFO", path)
    assert machine.processor() == (name or platform.processor() or platform.machine())


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (MemoryError(), True),
        (torch.OutOfMemoryError("CUDA out of memory"), True),
        (ImportError("libtorch_cpu.so: failed to map segment from shared object"), True),
        (ImportError("no module named torch"), False),
        (RuntimeError("sizes differ"), False),
        (ValueError("memory"), False),
    ],
)
def test_only_errors_of_memory_are_of_memory(error, full):
    assert is_out_of_memory(error) == full


def test_a_full_disk_is_one_also_in_the_words_of_libraries(tmp_path):
    """An export, and a folder that was moved to another disk, ended as a bug."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "last.pt").write_bytes(bytes(8_000_000))
    with small_disk(tmp_path / "disk") as disk:
        for write in (
            lambda: save_file({"weight": np.zeros(1_000_000)}, disk.folder / "a.safetensors"),
            lambda: shutil.copytree(tmp_path / "run", disk.folder / "run"),
        ):
            with pytest.raises((SafetensorError, shutil.Error)) as caught:
                write()
            assert "make room" in fault_of_machine(caught.value).remedy


def test_what_torch_raises_on_a_full_machine_is_of_memory():
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**60, dtype=torch.int8)
    assert is_out_of_memory(caught.value)


@pytest.mark.parametrize(
    ("script", "lives"),
    [
        ("echo JobId=7 JobState=RUNNING Reason=None", True),
        ("echo JobId=7 JobState=PREEMPTED Reason=None", False),
        ("echo slurm_load_jobs error: Invalid job id specified >&2; exit 1", False),
        ("echo Unable to contact slurm controller >&2; exit 1", None),
        (None, None),
    ],
)
def test_a_job_of_slurm_is_looked_up_where_slurm_is(tmp_path, monkeypatch, script, lives):
    monkeypatch.setenv("PATH", str(tmp_path))
    if script:
        (tmp_path / "scontrol").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "scontrol").chmod(0o755)
    assert job_is_live("7") is lives

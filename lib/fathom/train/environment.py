"""The device of a training, and what is recorded of machine and packages."""

import os
import platform
import sys
from importlib.metadata import version
from typing import Any

import torch

from fathom.io.errors import FathomError
from fathom.io.machine import job_id, processor

PACKAGES = ("torch", "fairseq-fixed", "sentencepiece", "sacrebleu", "numpy")


def choose_device(name: str) -> torch.device:
    """Return a device; "auto" is CUDA if there is a CUDA device, otherwise the CPU.

    On a CPU one thread computes, because sums of several threads differ from run to run.
    """
    requested, cuda = name, torch.cuda.is_available()
    if name.startswith("cuda") and not cuda:
        raise FathomError("no CUDA device found", "device", "write auto or cpu")
    if name == "auto":
        name = "cuda" if cuda else "cpu"
    if name == "cuda" and "LOCAL_RANK" in os.environ:
        name = f"cuda:{os.environ['LOCAL_RANK']}"
    try:
        device = torch.device(name)
    except RuntimeError:
        remedy = "write auto, cpu, cuda or cuda:<n>"
        raise FathomError(f"no device '{requested}'", "device", remedy) from None
    if device.index is not None and device.index >= torch.cuda.device_count():
        remedy = f"write a number below {torch.cuda.device_count()}"
        raise FathomError(f"no device '{requested}'", "device", remedy)
    if device.type == "cpu":
        torch.set_num_threads(1)
    return device


def reads_at_once(device: torch.device) -> bool:
    """Return whether a number is read without waiting; elsewhere the host would run ahead."""
    return device.type == "cpu"


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that results depend on."""
    return {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}


def device_facts(device: torch.device, count: int) -> dict[str, Any]:
    """Return the device as training.json records it."""
    if device.type == "cuda":
        name, threads = torch.cuda.get_device_name(device), None
    else:
        name, threads = processor(), torch.get_num_threads()
    return {"type": device.type, "name": name, "threads": threads, "count": count}


def host_facts() -> dict[str, Any]:
    """Return host, process and cluster job, as attempts record them."""
    place = {"host": platform.node(), "pid": os.getpid(), "job": job_id()}
    return place | {"command": sys.argv[0]}

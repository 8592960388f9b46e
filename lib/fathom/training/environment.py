"""Where a training runs: the device, and what is recorded of machine and packages."""

import os
import platform
import sys
from importlib.metadata import version
from typing import Any

import torch

from fathom.errors import FathomError

PACKAGES = ("torch", "fairseq-fixed", "sentencepiece", "sacrebleu", "numpy")


def choose_device(wish: str) -> torch.device:
    """Return the device that a user wishes for; auto takes CUDA where there is one.

    On a CPU one thread computes, since sums of several threads differ from run to run.

    Raises:
        FathomError: there is no such device, or CUDA is wished for and there is none.
    """
    cuda = torch.cuda.is_available()
    if wish.startswith("cuda") and not cuda:
        raise FathomError("there is no CUDA device here", "device", "write auto or cpu")
    name = wish if wish != "auto" else ("cuda" if cuda else "cpu")
    if name == "cuda" and "LOCAL_RANK" in os.environ:
        name = f"cuda:{os.environ['LOCAL_RANK']}"
    try:
        device = torch.device(name)
    except RuntimeError:
        remedy = "write auto, cpu, cuda or cuda:<n>"
        raise FathomError(f"no device '{wish}'", "device", remedy) from None
    if device.type == "cpu":
        torch.set_num_threads(1)
    return device


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that a result depends on."""
    return {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}


def device_facts(device: torch.device) -> dict[str, Any]:
    """Return what a manifest says of the device."""
    if device.type == "cuda":
        return {"type": "cuda", "name": torch.cuda.get_device_name(device), "threads": None}
    name = platform.processor() or platform.machine()
    return {"type": "cpu", "name": name, "threads": torch.get_num_threads()}


def host_facts() -> dict[str, Any]:
    """Return what tells one attempt from another: host, process, and the cluster's job."""
    job = os.environ.get("SLURM_JOB_ID") or os.environ.get("JOB_ID")
    return {"host": platform.node(), "pid": os.getpid(), "job": job, "command": sys.argv[0]}

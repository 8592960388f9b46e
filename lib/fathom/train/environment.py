"""The device of a training, and what is recorded of machine and packages."""

import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from fathom.config.schema.run import Model
from fathom.io.errors import FathomError
from fathom.io.machine import job_id, processor
from fathom.train.stopping import end_of_job

# Tokens of a micro-batch where `tokens_per_device` is auto: on a CPU, and the least on a GPU.
TOKENS, _LEAST = 16384, 1024
# An estimate of what a micro-batch keeps for its backward pass, in float32 values per target token:
# multiples of the width and of the feed-forward width for each layer of an encoder, a decoder, and
# of RNMT+; and of the vocabulary's size. A source has about as many tokens as its target.
_ENCODER, _DECODER, _FFN, _CELL, _VOCABULARY = 18, 24, 3, 40, 3
# Weights, gradients, two moments and the messages of several processes, in bytes per parameter.
_PER_PARAMETER = 20
# Of the memory that is left; the rest is for what a method keeps and for the allocator.
_SHARE = 0.7
# NVIDIA's libraries read it: with 1 all float32 products are in TF32, whatever torch asks for.
TF32_OVERRIDE = "NVIDIA_TF32_OVERRIDE"
# GPUs of each node for which the batch script of a job has asked.
GPUS = "FATHOM_GPUS"
PACKAGES = ("torch", "fairseq-fixed", "sentencepiece", "sacrebleu", "numpy")


def choose_device(name: str) -> torch.device:
    """Return a device; "auto" is CUDA if there is a CUDA device, otherwise the CPU.

    On a CPU one thread computes, because sums of several threads differ from run to run. A numbered
    CUDA device becomes torch's current one: messages to other processes would take up memory of the
    first device.
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
    if device.index is not None and device.type == "cuda":
        torch.cuda.set_device(device)
    if device.type == "cpu":
        torch.set_num_threads(1)
    else:
        # Some containers allow TF32 everywhere; here only the updates of a training may.
        torch.backends.cuda.matmul.allow_tf32 = False
    return device


def describe_job() -> str:
    """Return a line on what this process's job has; empty outside of a scheduler's job.

    Fewer GPUs than the job's batch script has asked for are an error.
    """
    if (job := job_id()) is None:
        return ""
    asked, seen = int(os.environ.get(GPUS) or 0), torch.cuda.device_count()
    if seen < asked:
        what = f"it asked for {asked} GPU{'s' * (asked > 1)}, and torch sees {seen or 'none'}"
        remedy = "see `nvidia-smi` in a job of this kind, and CUDA_VISIBLE_DEVICES"
        if torch.version.cuda is None:
            what += ": this torch is built for CPUs"
            remedy = "make environment without TORCH_INDEX, or start with --config device=cpu"
        raise FathomError(what, f"job {job}", remedy)
    kind = f" ({torch.cuda.get_device_name()})" if seen else ""
    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    memory = int(os.environ.get("SLURM_MEM_PER_NODE") or 0) * 2**20 or pages
    text = f"job {job} on {platform.node()}: {seen} of {asked} GPUs{kind}, {cores()} cores"
    text += f", {memory / 2**30:.0f} GB"
    if end := end_of_job():
        text += time.strftime(", until %Y-%m-%d %H:%M", time.localtime(end))
    return text


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def require_arithmetic(device: torch.device, matmul: str, precision: str) -> None:
    """Refuse a training whose products the device does not compute.

    In float16 few CPUs multiply; with `matmul: exact` NVIDIA's libraries may do so in TF32.
    """
    if precision == "fp16" and device.type != "cuda":
        raise FathomError("needs CUDA", "training.precision: fp16", "train it on a GPU")
    if device.type == "cuda" and matmul == "exact" and os.environ.get(TF32_OVERRIDE) == "1":
        raise FathomError(f"not possible with {TF32_OVERRIDE}=1", "matmul: exact", "unset it")


def tokens_that_fit(memory: int, parameters: int, model: Model, entries: int) -> int:
    """Return an estimate of a micro-batch's target tokens, a multiple of 1,024; memory in bytes."""
    left = memory - _PER_PARAMETER * parameters
    return max(_LEAST, int(_SHARE * left / bytes_per_token(model, entries)) // _LEAST * _LEAST)


def bytes_per_token(model: Model, entries: int) -> int:
    """Return an estimate of what a network keeps per target token for its backward pass."""
    if model.ffn is None:
        layers = (model.encoder_layers + model.decoder_layers) * _CELL * model.width
    else:
        widths = _ENCODER * model.encoder_layers + _DECODER * model.decoder_layers
        inner = _FFN * model.ffn * (model.encoder_layers + model.decoder_layers)
        layers = widths * model.width + inner
    return 4 * (layers + _VOCABULARY * entries)


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
    facts = {"type": device.type, "name": name, "threads": threads, "count": count}
    override = os.environ.get(TF32_OVERRIDE) if device.type == "cuda" else None
    return facts | ({"tf32_override": override} if override else {})


def host_facts() -> dict[str, Any]:
    """Return host, process and cluster job, as attempts record them."""
    place = {"host": platform.node(), "pid": os.getpid(), "job": job_id()}
    return place | {"command": Path(sys.argv[0]).name}

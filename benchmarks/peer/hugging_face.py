"""Hugging Face's MarianMT, in a process of its own.

The two processes exchange a file with the batches, and lines: see marian_process.py.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, cast

import torch

from benchmarks.peer.contenders import Job
from benchmarks.peer.stock import cut_all, halves
from benchmarks.peer.workload import ROOT
from fathom.config import schedules

MARIAN = "HF MarianMT, halves"
PROGRAM = "benchmarks.peer.marian_process"


def exchanged(job: Job) -> dict[str, Any]:
    """Return a job in plain values and tensors, with every batch cut in halves."""
    model, training = job.spec.model, job.spec.training
    text = job.workload.tensors
    names = ("width", "ffn", "heads", "encoder_layers", "decoder_layers")
    names += ("dropout", "attention_dropout", "activation_dropout")
    shape = {name: getattr(model, name) for name in names}
    shape |= {
        "source_entries": len(text.source_dictionary),
        "target_entries": len(text.target_dictionary),
        "device": str(job.workload.device),
    }
    rate = schedules.learning_rate(training.schedule, model.width, int(training.updates))
    passes = [
        [[part.source, part.previous_target, part.target] for part in cut_all(batch, halves)]
        for batch in job.batches
    ]
    return {
        "shape": shape,
        "updates": list(zip(passes, job.tokens, strict=True)),
        "rates": [rate(number) for number in range(1, len(passes) + 1)],
        "betas": training.adam.betas,
        "eps": training.adam.eps,
        "clip": training.clip,
        "smoothing": training.label_smoothing,
        "bf16": training.precision == "bf16",
    }


class HuggingFace:
    """The other process, or the fact that transformers is not installed.

    Attributes:
        present: whether there is such a process.
    """

    def __init__(self, process: subprocess.Popen[str] | None):
        """Remember the process; None if there is none."""
        self.process, self.present = process, process is not None

    @classmethod
    @contextmanager
    def started(cls, job: Job) -> Iterator["HuggingFace"]:
        """Start the process, if transformers is installed, and end it afterwards."""
        if find_spec("transformers") is None:
            yield cls(None)
            return
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "job.pt"
            torch.save(exchanged(job), file)
            command = [sys.executable, "-m", PROGRAM, str(file)]
            pipe = subprocess.PIPE
            with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
                yield cls(process)
                cast(IO[str], process.stdin).close()

    def update(self, number: int) -> float:
        """Make an update there and return its seconds, by the clock of that process."""
        return self._asked(f"update {number}")

    def peak(self) -> float:
        """Return the MB that the process took beyond its imports."""
        return self._asked("peak")

    def _asked(self, line: str) -> float:
        process = self.process
        if process is None or process.stdin is None or process.stdout is None:
            raise RuntimeError("there is no process of MarianMT")
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        return float(json.loads(process.stdout.readline()))

"""The parts: whether updates are right, wait and are fast; whether a run trains and translates.

    python -m benchmarks.first_gpu.parts PART DEVICE RESULTS

Prints a line of JSON for each row of a part. On CUDA networks have the paper's size, on a CPU that
of the tiny scale; a row names what only CUDA can answer.
"""

import csv
import gc
import json
import os
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.peer.results import machine
from benchmarks.peer.timing import clock, timed
from benchmarks.peer.workload import LATENT, SCALE, SEED, STATIC, Shape, Workload
from fathom.config.paths import Paths
from fathom.io.files import read_json
from fathom.train.environment import choose_device
from fathom.train.loop import Training

RUNS = {"static": STATIC, "latent": LATENT}
# How far NLL and gradient norm of an update may be from those of a CPU, relative.
BOUNDS = {"exact": 1e-4, "tf32": 1e-3, "bf16": 1e-2}
# Where updates are compared: no dropout, and fewer target tokens of each task.
DROPOUTS, FEW_TOKENS = ("dropout", "attention_dropout", "activation_dropout"), 512
# Layers of each stack where updates are compared, and where they are timed.
FEW, LAYERS = {"cpu": 2, "cuda": 6}, {"cpu": 2, "cuda": 24}
# The size of a square product that reaches the matrix rate of a device.
LARGE = {"cpu": 1024, "cuda": 8192}
# Updates before those that count, and these; the update after which a training is killed.
BEFORE, TIMED, KILLED = 6, 14, 150
DECODING = {"--split": "test", "--gates": "plain"}
Row = dict[str, Any]


def tried(names: Row, work: Callable[[], Row]) -> Row:
    """Return a row; where its work fails, why, and the last line of fathom before that."""
    try:
        return names | work()
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [f", {f.filename}:{f.lineno}" for f in frames if "/lib/fathom/" in f.filename]
        why, _, _ = str(error).partition("\n")
        return names | {"failed": f"{type(error).__name__}: {why}{''.join(lines[-1:])}"}


def training(
    workload: Workload, name: str, precision: str, layers: int, small: bool = False, **options: Any
) -> Training:
    """Return a training as `fathom train` makes it, of a depth; a small one has no dropout."""
    spec = workload.spec(Shape(name, RUNS[name], (layers, layers)))
    batch = spec.training.batch.model_copy(update={"tokens": FEW_TOKENS} if small else {})
    low = "bf16" if precision == "bf16" else "fp32"
    settings = spec.training.model_copy(update={"precision": low, "batch": batch})
    model = spec.model.model_copy(update=dict.fromkeys(DROPOUTS if small else (), 0.0))
    options["matmul"] = "tf32" if precision == "tf32" else "exact"
    return workload.training(replace(spec, model=model, training=settings), **options)


def right(workload: Workload) -> Iterator[Row]:
    """Compare one update without dropout with the exact one of a CPU."""
    kind = workload.device.type

    def numbers(name: str, precision: str, device: str) -> Row:
        made = training(workload, name, precision, FEW[kind], small=True, device=device)
        torch.set_num_threads(os.cpu_count() or 1)
        return made.two_level.update(1, *workload.updates(made, 1)).numbers()

    def compared(name: str, precision: str, exact: Row) -> Row:
        found = numbers(name, precision, str(workload.device))
        off = {key: found[key] / exact[key] - 1 for key in ("nll", "gradient_norm")}
        row: Row = {key: f"{found[key]:.6g} ({value:+.1e})" for key, value in off.items()}
        if not max(map(abs, off.values())) <= BOUNDS[precision]:
            row["failed"] = f"more than {BOUNDS[precision]} off"
        return row

    if kind == "cpu":
        yield {"needs CUDA": "exact and tf32, compared with a CPU"}
    for name in RUNS:
        exact = numbers(name, "exact", "cpu")
        for precision in ("bf16",) if kind == "cpu" else BOUNDS:
            names = {"network": name, "precision": precision}
            yield tried(names, partial(compared, name, precision, exact))


def waits(workload: Workload) -> Iterator[Row]:
    """Look for a line where the host waits for the device in an update."""

    def none(name: str) -> Row:
        made = training(workload, name, "exact", FEW["cuda"])
        for number in range(1, 6):
            # What happens once in a training may wait.
            torch.cuda.set_sync_debug_mode("error" if number > 2 else "default")
            try:
                made.two_level.update(number, made.batches.micro_batches(number))
            finally:
                torch.cuda.set_sync_debug_mode("default")
        return {"waits": "none in 3 updates"}

    if workload.device.type == "cpu":
        yield {"needs CUDA": "lines where the host waits"}
        return
    for name in RUNS:
        yield tried({"network": name}, partial(none, name))


def fast(workload: Workload, compiled: bool = False) -> Iterator[Row]:
    """Time updates, and compare their arithmetic with the rate of one large product."""
    cuda, layers = workload.device.type == "cuda", LAYERS[workload.device.type]
    now = clock(workload.device)

    def operations(name: str, precision: str) -> float:
        made = training(workload, name, precision, layers)
        (batch,) = workload.updates(made, 1)
        with FlopCounterMode(display=False) as counter:
            made.two_level.update(1, batch)
        return counter.get_total_flops() / batch.tokens

    def speed(name: str, precision: str) -> Row:
        per_token = operations(name, precision)  # a compiled layer would hide some
        made = training(workload, name, precision, layers, compile=compiled)
        batches = workload.updates(made, BEFORE + TIMED)
        work = timed(now, lambda number: made.two_level.update(number, batches[number - 1]))
        if cuda:
            gc.collect()
            torch.cuda.reset_peak_memory_stats()
        speeds = [batch.tokens / work(number) for number, batch in enumerate(batches, start=1)]
        tokens = median(speeds[BEFORE:])
        with made.network.matmul.applied():
            share = tokens * per_token / large_rate(precision)
        row: Row = {"target tokens/s": round(tokens), "of a large product's rate": f"{share:.0%}"}
        peak = torch.cuda.max_memory_allocated() / 2**30 if cuda else None
        return row | ({"peak GiB": round(peak, 1)} if peak else {})

    def large_rate(precision: str) -> float:
        dtype = torch.bfloat16 if precision == "bf16" else torch.float32
        size = LARGE[workload.device.type]
        matrix = torch.randn(size, size, device=workload.device).to(dtype)
        work = timed(now, lambda _: matrix.mm(matrix))
        return 2 * size**3 / median([work(number) for number in range(10)][3:])

    if not cuda:
        yield {"needs CUDA": "compiled layers" if compiled else "tf32, bf16, the paper's size"}
    precisions = BOUNDS if cuda else () if compiled else ("exact",)
    for name in RUNS:
        for precision in precisions:
            names = {"network": name, "precision": precision}
            yield tried(names, partial(speed, name, precision))


def command(workload: Workload, verb: str, *options: str) -> list[str]:
    """Return a command of fathom on the run that is trained."""
    start = [sys.executable, "-c", "from fathom.cli.main import main; main()", verb, STATIC]
    return [*start, "--scale", SCALE, "--results", str(workload.results), *options]


def train(workload: Workload) -> Iterator[Row]:
    """Train a run of the tiny scale, kill it on its way, and resume it."""
    paths, spec = Paths(workload.results, SCALE), workload.project.spec(STATIC, SCALE)
    shutil.rmtree(paths.run(spec, SEED), ignore_errors=True)
    words, start = command(workload, "train", "--device", str(workload.device)), time.monotonic()
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr or ():
            sys.stderr.write(line)
            if f"update {KILLED} of" in line:
                process.kill()
    subprocess.run(words, check=True)
    record = read_json(paths.training(spec, SEED))
    yield {
        "attempts": " and ".join(attempt["ended_as"] for attempt in record["attempts"]),
        "resumed after update": record["attempts"][-1]["from_update"],
        "validation NLL": record["validation"]["nll"],
        "seconds": round(time.monotonic() - start),
    }


def translate(workload: Workload) -> Iterator[Row]:
    """Translate with what was trained, on a CPU and on the device."""
    paths, spec = Paths(workload.results, SCALE), workload.project.spec(STATIC, SCALE)
    folder, chosen = paths.decoding(spec, SEED, *DECODING.values()), sum(DECODING.items(), ())
    texts: list[list[str]] = []
    for device in dict.fromkeys(("cpu", str(workload.device))):
        subprocess.run(command(workload, "translate", *chosen, "--device", device), check=True)
        subprocess.run(command(workload, "score", *chosen), check=True)
        files = [folder / f"{task}.txt" for task in spec.data.tasks]
        texts.append([line for file in files for line in file.read_text("utf-8").splitlines()])
        with (folder / "scores.tsv").open(encoding="utf-8") as lines:
            scores = [*csv.DictReader(lines, delimiter="\t")]
        bleu = mean(float(score["value"]) for score in scores if score["metric"] == "13a")
        yield {"device": device, "sentences": len(texts[-1]), "mean BLEU": round(bleu, 3)}
    if workload.device.type == "cpu":
        yield {"needs CUDA": "hypotheses of both devices, compared"}
    else:
        equal = sum(first == second for first, second in zip(*texts, strict=True))
        yield {"equal hypotheses": f"{equal / len(texts[0]):.1%}"}


PARTS: dict[str, Callable[[Workload], Iterator[Row]]] = {
    "machine": lambda workload: iter([machine(workload.device) | {"cuda": torch.version.cuda}]),
    "right": right,
    "waits": waits,
    "fast": fast,
    "compiled": partial(fast, compiled=True),
    "train": train,
    "translate": translate,
}


def main() -> None:
    """Print the rows of a part."""
    part, device, results = sys.argv[1:]
    # What a library prints is not a row.
    rows = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for row in PARTS[part](Workload(Path(results), choose_device(device))):
        rows.write(f"{json.dumps(row)}\n")
        rows.flush()


if __name__ == "__main__":
    main()

"""Estimate how fast each kind of run trains on a GPU that computes nothing, by counts.

    python -m benchmarks.fake_cuda [RUN …]

Prints the table of docs/performance.md. An update has one micro-batch of random text and is made at
the scale `paper` with 2 + 2, 3 + 2 and 2 + 3 layers; kernels, operations, bytes and times of all
layers follow, as each is taken to be linear in the layers: `tests/cuda/test_costs.py` shows it for
a static Transformer. Methods in which layers read all layers below are not linear; their updates
have all layers.
"""

# Before torch.
from tests.cuda import fake_device  # isort: skip

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import torch

from benchmarks.made_up_text import made_up_text
from benchmarks.peer.results import Table, described, machine, markdown
from fathom.config import demand
from fathom.config.load import load
from fathom.config.spec import Spec
from fathom.train.ranks import Ranks
from tests.cuda.test_updates import KINDS
from tests.cuda.updates import ENTRIES, update, with_layers

DEVICE = "h200"
TOKENS, LONGEST = 16_384, 60
# RNMT+ has kernels per token of the longest sentence; its updates are smaller.
RECURRENT_TOKENS, RECURRENT_LONGEST = 1_024, 6
NOT_LINEAR = {"dlcl", "transparent"}
KERNEL = 2e-6  # seconds of a kernel at least
ARITHMETICS = ("fp32", "tf32", "bf16")
COLUMNS = (
    "kind of run", "tokens", "kernels", "TFLOP", "GB, fp32", "GB, bf16",
    "fp32, tokens/s, *estimate*", "TF32, *estimate*", "bf16, *estimate*",
    "fp32, by `fathom plan`", "measured",
)  # fmt: skip
Counts = tuple[float, ...]


def roofline(costs: list[tuple[int, int]], arithmetic: str) -> float:
    """Return the seconds of an update's kernels, one after another."""
    device = demand.DEVICES[DEVICE]
    rate = demand.SHARE * device.peak(arithmetic)
    moved = demand.BANDWIDTH_SHARE * device.bandwidth * 1e12
    return sum(max(flop / rate, size / moved, KERNEL) for flop, size in costs)


def counts(record: fake_device.Recorder) -> Counts:
    """Return kernels, operations, bytes and the seconds of each arithmetic."""
    flop, size = (sum(values) for values in zip(*record.costs, strict=True))
    seconds = (roofline(record.costs, arithmetic) for arithmetic in ARITHMETICS)
    return (len(record.costs), flop, size, *seconds)


def of_layers(spec: Spec, made: dict[tuple[int, int], Counts]) -> Counts:
    """Return the counts of all layers from those of 2 + 2, 3 + 2 and 2 + 3."""
    encoder, decoder = spec.model.encoder_layers - 2, max(0, spec.model.decoder_layers - 2)
    triples = zip(made[2, 2], made[3, 2], made[2, 3], strict=True)
    return tuple(base + encoder * (e - base) + decoder * (d - base) for base, e, d in triples)


def counted(spec: Spec, precision: str) -> tuple[int, Counts]:
    """Return the tokens of an update of a run in a precision, and its counts."""
    spec = replace(spec, training=spec.training.model_copy(update={"precision": precision}))
    recurrent = spec.model.ffn is None
    tokens, longest = (RECURRENT_TOKENS, RECURRENT_LONGEST) if recurrent else (TOKENS, LONGEST)
    whole = spec.method.name in NOT_LINEAR and not recurrent
    shapes = [(2, 2), (3, 2), (2, 3)]
    if whole:
        shapes = [(spec.model.encoder_layers, spec.model.decoder_layers)]
    with tempfile.TemporaryDirectory() as folder:
        sentences = 1600 // len(spec.data.tasks) + 200
        tensors = made_up_text(Path(folder), spec, ENTRIES, sentences, longest)
        records = {
            shape: update(with_layers(spec, *shape), tensors, Ranks(0, 1), tokens)
            for shape in shapes
        }
    first = records[shapes[0]]
    made = {shape: counts(record) for shape, record in records.items()}
    kernels, flop, size, *seconds = made[shapes[0]] if whole else of_layers(spec, made)
    launches = kernels * demand.DEVICES[DEVICE].launch
    return first.tokens, (kernels, flop, size, *(max(launches, each) for each in seconds))


def row(name: str, spec: Spec) -> list[str | float | None]:
    """Return a run's row."""
    tokens, (kernels, flop, size, fp32, tf32, _) = counted(spec, "fp32")
    _, (_, _, half, _, _, bf16) = counted(spec, "bf16")
    exact = spec.training.model_copy(update={"precision": "fp32"})
    device = demand.DEVICES[DEVICE]
    planned = demand.seconds_per_update(replace(spec, training=exact), ENTRIES, tokens, device)
    rates = (round(tokens / seconds) for seconds in (fp32, tf32, bf16, planned))
    cells = tokens, round(kernels), flop / 1e12, size / 1e9, half / 1e9, *rates
    return [name, *cells, None]


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("runs", nargs="*", default=list(KINDS))
    runs = parser.parse_args().runs
    torch.set_num_threads(1)
    facts = machine(torch.device("cpu"))
    title = (
        "An update of one micro-batch, fp32 unless named, and *estimates* for one NVIDIA H200: each"
        f" kernel takes the longest of its operations at {demand.SHARE:.0%} of the peak, its bytes"
        f" at {demand.BANDWIDTH_SHARE:.0%} of the memory's bandwidth and {KERNEL * 1e6:.0f} µs; an"
        f" update takes no less than {demand.DEVICES[DEVICE].launch * 1e6:.0f} µs per kernel, for"
        " launches. Nothing was measured"
    )
    project = load(Path(__file__).parents[1], check=False)
    rows = []
    for name in runs:
        started = time.perf_counter()
        rows.append(row(name, project.spec(name, "paper")))
        sys.stderr.write(f"{name}: {time.perf_counter() - started:.0f} s\n")
    sys.stdout.write(f"{described(facts)}\n\n{markdown(Table(title, COLUMNS, rows))}")


if __name__ == "__main__":
    main()

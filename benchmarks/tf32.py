"""What TF32 would change in a table, found on a CPU: trainings whose linear layers round to it.

TF32 multiplies float32 numbers whose mantissas are rounded to 10 bits, and adds in float32. Here
the factors of all products of linear layers are rounded so, forward and backward; attention's are
not, since its kernel on CUDA is meant to be as exact as float32. Validation, translation and scores
are exact. `train` is `fathom train` with rounding; the workflow does the rest in the same folder.

    python -m benchmarks.tf32 train <run> --results results-tf32 --seed 1
    python -m benchmarks.tf32 table results results-tf32
"""

import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from fathom.nn.cpu import MatmulPrecision, choose_matmul_precision
from fathom.results.tree import RunResults, Tree, read_run
from fathom.scoring.students_t import half_interval
from fathom.train import loop

DROPPED = 13  # of the 23 explicit bits of a mantissa in float32
PRODUCTS = ("mm", "addmm")
BLEU = ("bleu.test.plain.13a", "bleu.test.soft.13a")  # of runs without gates, and with


def rounded(x: Tensor) -> Tensor:
    """Return float32 numbers rounded to 10 bits of mantissa, to the nearest and ties to even."""
    bits = x.view(torch.int32)
    even = (bits >> DROPPED) & 1
    near = (bits + (2 ** (DROPPED - 1) - 1) + even) & -(2**DROPPED)
    return torch.where(x.isfinite(), near.view(torch.float32), x)


class Rounding(TorchDispatchMode):
    """Rounds the two factors of each product of float32 matrices."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func.overloadpacket.__name__ in PRODUCTS and args[-1].dtype == torch.float32:
            args = (*args[:-2], *map(rounded, args[-2:]))
        return func(*args, **(kwargs or {}))


@dataclass(frozen=True)
class Emulated(MatmulPrecision):
    """TF32 on a CPU, within an update."""

    exact: MatmulPrecision

    @property
    def multiple(self) -> int:
        """That of an exact training, so that dropout has the same masks."""
        return self.exact.multiple

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Round within the block."""
        with Rounding():
            yield


def emulate(device: torch.device, *_: object) -> MatmulPrecision:
    """Return the precision of a training that rounds; training.json calls it what it calls TF32."""
    return Emulated("high", {}, choose_matmul_precision(device))


def by_seed(folder: Path) -> dict[str, dict[int, RunResults]]:
    """Return the trainings of a folder of results that have ended, by run and seed."""
    runs: dict[str, dict[int, RunResults]] = {}
    for run in filter(None, map(read_run, Tree.at(folder).run_folders)):
        runs.setdefault(run.name, {})[run.seed] = run
    return runs


def bleu(run: RunResults) -> float | None:
    """Return the mean over the tasks of BLEU on the test sentences; None without a score."""
    tasks = (run.measurements[key].tasks for key in BLEU if key in run.measurements)
    return next((statistics.fmean(n.value for n in of.values()) for of in tasks if of), None)


def table(exact: Path, tf32: Path) -> Iterator[str]:
    """Yield a line for each run in both folders: outcomes by seed, BLEU, difference, interval."""
    yield "run\texact\tTF32\tBLEU exact\tBLEU TF32\tdifference\t95 % over seeds"
    first, second = by_seed(exact), by_seed(tf32)
    for name in (name for name in first if name in second):
        pairs = [(first[name][s], second[name][s]) for s in first[name] if s in second[name]]
        sides = [*zip(*pairs, strict=True)]
        kinds = ("/".join(run.training.outcome.kind for run in side) for side in sides)
        both = ((bleu(a), bleu(b)) for a, b in pairs)
        scores = [(a, b) for a, b in both if a is not None and b is not None]
        numbers = ["–"] * 4
        if scores:
            means = [statistics.fmean(side) for side in zip(*scores, strict=True)]
            numbers[:3] = (f"{value:.2f}" for value in (*means, means[1] - means[0]))
        if len(scores) > 1:
            error = statistics.stdev(b - a for a, b in scores) / len(scores) ** 0.5
            numbers[3] = f"± {half_interval([(error, len(scores))]):.2f}"
        yield "\t".join((name, *kinds, *numbers))


def main(words: list[str]) -> None:
    """Train one run with rounding, or compare two folders of results."""
    if words[:1] == ["table"] and len(words) == 3:
        sys.stdout.writelines(f"{line}\n" for line in table(Path(words[1]), Path(words[2])))
    elif words[:1] == ["train"]:
        from fathom.cli.main import main as fathom

        loop.choose_matmul_precision = emulate
        fathom()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])

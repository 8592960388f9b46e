"""How much longer an update takes that the diagnostics look at.

Each batch of a run is computed four times, without, with, with and without them, so that both see
the same text, the same machine and the same caches. Run it from the project's folder, on encoded
text:

    python -m benchmarks.diagnostics ll_both_24_24 --scale tiny
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median, quantiles

import torch

from benchmarks.peer.timing import clock
from fathom.cli.options import open_run
from fathom.data.tensors import load
from fathom.train.diagnostics import Diagnostics
from fathom.train.loop import Training, TrainPaths
from fathom.train.progress import Reporter

WARM_UP = 5
EVERY = (1, 10, 100)


def measured(training: Training, diagnostics: Diagnostics, updates: int) -> dict[str, list[float]]:
    """Return seconds of each update without and with diagnostics, and of writing one's rows."""
    seconds = {"without": [], "with": []}
    now, two_level = clock(training.device), training.two_level

    def timed(what: Callable[[], object]) -> float:
        start = now()
        what()
        return now() - start

    for number in range(1, WARM_UP + updates + 1):
        update = partial(two_level.update, number, training.batches.micro_batches(number))
        taken = dict.fromkeys(seconds, 0.0)
        for name in ("without", "with", "with", "without"):
            two_level.diagnostics = diagnostics if name == "with" else None
            taken[name] += timed(update) / 2
        for name, each in seconds.items():
            each.append(taken[name])
    rows = timed(diagnostics.write) / (2 * (WARM_UP + updates))
    return {name: each[WARM_UP:] for name, each in seconds.items()} | {"writing": [rows]}


def report(seconds: dict[str, list[float]]) -> list[str]:
    """Return what was measured as lines: medians, and the share that diagnostics add."""
    without, writing = median(seconds["without"]), seconds["writing"][0]
    pairs = zip(seconds["with"], seconds["without"], strict=True)
    shares = [100 * (one / other - 1) for one, other in pairs]
    low, middle, high = quantiles(shares, n=4)
    whole = middle + 100 * writing / without
    return [
        f"update without diagnostics  {1000 * without:8.2f} ms, median of {len(shares)}",
        f"recording it adds           {middle:8.2f} %, quartiles {low:.2f} and {high:.2f}",
        f"writing its rows adds       {100 * writing / without:8.2f} %",
        *(f"recording 1 in {every:<3}          {whole / every:8.2f} %" for every in EVERY),
    ]


def main() -> None:
    """Measure, and print what comes out."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", help="a run, as `fathom list runs` names it")
    parser.add_argument("--scale", help="else config.yaml's")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--updates", type=int, default=60)
    given = parser.parse_args()
    opened = open_run(given.run, given.scale, None, given.device)
    spec, paths = opened.spec, opened.paths
    changes = {"log_every": 1, "save_minutes": 0, "diagnose_first": 0, "diagnose_every": 0}
    switches = opened.project.switches.model_copy(update={"device": given.device} | changes)
    with tempfile.TemporaryDirectory() as folder:
        folders = TrainPaths(paths.tensors(spec.data), Path(folder))
        tensors = load(folders.tensors)
        reporter = Reporter(sys.stderr.write, Path(folder) / "train.log")
        training = Training(spec, 1, tensors, folders, switches, reporter)
        diagnostics = Diagnostics(training.network, tensors.tasks, Path(folder), every=1, first=0)
        seconds = measured(training, diagnostics, given.updates)
        packed = sum(path.stat().st_size for path in Path(folder).glob("*.gz"))
    lines = [
        f"{spec.folder}, {paths.scale}, {training.device}, {torch.get_num_threads()} thread(s)"
    ]
    lines += report(seconds)
    rows = 2 * (WARM_UP + given.updates)
    lines.append(f"on disk                     {packed / rows:8.0f} bytes an update")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

"""Measure how fast kinds of networks train on this device, on made-up text, for `fathom plan`."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch

from fathom.config.demand import SENTENCE, arithmetic_of, entries_of, kind_of, tokens_of_update
from fathom.config.schema.dataset import SPLITS
from fathom.config.spec import Spec
from fathom.config.switches import Switches
from fathom.data.indexed import prefix, writing
from fathom.data.tensors import Tensors
from fathom.data.vocabulary import EOS, SPECIAL
from fathom.io.errors import FathomError
from fathom.io.files import read_json, write_json
from fathom.io.machine import is_out_of_memory, most_memory
from fathom.nn.network import Entries
from fathom.train import environment
from fathom.train.loop import Training, TrainPaths
from fathom.train.progress import Reporter
from fathom.train.update_batches import Prefetcher

if TYPE_CHECKING:
    from fairseq.data.dictionary import Dictionary

# Updates of a measurement, and those before it, in which memory is taken and kernels are chosen.
UPDATES, WARM_UP = 20, 5
# Of the lengths of sentences: lognormal, as of TED talks.
_MEAN, _SPREAD = 3.1, 0.65
_HELD_OUT = 50  # sentences of each task and held-out split
# Rates of one kind replace each other where these are equal.
_SAME = ("device", "arithmetic", "kind")
Report = Callable[[str], None]


def calibrate(runs: Iterable[Spec], switches: Switches, path: Path, report: Report) -> None:
    """Measure runs, each of a kind of network, and write their rates to `path`.

    What was measured before stays. A run that does not fit into the memory has a line and no rate.
    """
    for spec in runs:
        kind = kind_of(spec.model)
        try:
            rate = {"kind": kind, "run": spec.name, **measure(spec, switches)}
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            report(f"{kind} ({spec.name}): out of memory")
            continue
        before = read_json(path)["rates"] if path.exists() else []
        others = [old for old in before if any(old.get(key) != rate[key] for key in _SAME)]
        write_json(path, {"rates": [*others, rate]})
        memory = f", {rate['memory'] / 1e9:.1f} GB" if rate["memory"] else ""
        report(f"{kind} ({spec.name}): {rate['tokens_per_second']:,.0f} target tokens/s{memory}")


def measure(spec: Spec, switches: Switches) -> dict[str, Any]:
    """Return the rate of a run's updates on this device, without diagnostics.

    Tokens are those that batches ask for; `memory` is the most that was in use, in bytes: of the
    device on CUDA, of this process elsewhere, None where the system does not say.
    """
    tokens = tokens_of_update(spec)
    switches = switches.model_copy(update={"diagnose_first": 0, "diagnose_every": 0})
    with TemporaryDirectory(prefix="fathom-") as folder:
        # Twice as much text as an update has.
        sentences = 2 * tokens // (SENTENCE * len(spec.data.tasks)) + _HELD_OUT
        longest = spec.data.settings.max_pieces
        text = made_up_text(Path(folder), spec, entries_of(spec), sentences, longest)
        reporter = Reporter(lambda _: None, Path(folder) / "train.log")
        most_memory(reset=True)
        training = Training(spec, 1, text, TrainPaths(text.folder, text.folder), switches, reporter)
        if training.ranks.world > 1:
            what = "several processes cannot be calibrated together"
            raise FathomError(what, "plan --calibrate", "start one process, without a launcher")
        cuda = training.device.type == "cuda"
        if cuda:
            torch.cuda.reset_peak_memory_stats(training.device)
        last = WARM_UP + UPDATES
        started = time.perf_counter()
        with Prefetcher(training.batches.micro_batches, last) as batches:
            for update in range(1, last + 1):
                if update == WARM_UP + 1:
                    started = _now(cuda)
                training.two_level.update(update, batches.take(update))
            seconds = (_now(cuda) - started) / UPDATES
        facts = environment.device_facts(training.device, 1)
        in_tf32 = training.network.matmul.precision == "high"
        rate = {
            "identity": spec.identity,
            "type": facts["type"],
            "device": facts["name"],
            "arithmetic": arithmetic_of(spec, in_tf32),
            "tokens_per_second": tokens / seconds,
            "memory": torch.cuda.max_memory_allocated(training.device) if cuda else most_memory(),
        }
        del training
        if cuda:
            torch.cuda.empty_cache()
    return rate


def _now(cuda: bool) -> float:
    """Return the time in seconds at which the device has computed what it was asked for."""
    if cuda:
        torch.cuda.synchronize()
    return time.perf_counter()


def made_up_text(folder: Path, spec: Spec, entries: int, sentences: int, longest: int) -> Tensors:
    """Write random ids in the files of a data set: sentences of each task, split and side.

    Held-out text has a few sentences. The longest have `longest` pieces with their end symbol.
    """
    draws = np.random.default_rng(1)
    sides = ("source",) if spec.masking else ("source", "target")
    for task in spec.data.tasks:
        (folder / task).mkdir(parents=True)
        for split in SPLITS:
            count = sentences if split == "train" else _HELD_OUT
            lengths = np.clip(draws.lognormal(_MEAN, _SPREAD, count), 3, longest).astype(int)
            for side in sides:
                with writing(prefix(folder, task, split, side), entries) as add:
                    for length in lengths:
                        add([*draws.integers(len(SPECIAL), entries, length - 1).tolist(), EOS])
    tasks, dictionary = tuple(spec.data.tasks), cast("Dictionary", Entries(entries))
    starts = (EOS,) * len(tasks)
    return Tensors(folder, tasks, sides, dictionary, dictionary, (), (), starts, 9.0, "", "")

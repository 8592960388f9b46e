"""One training, from its specification to training.json."""

import math
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict
from functools import partial
from typing import Any

from fathom.config import plugins
from fathom.config.spec import Spec
from fathom.config.switches import Switches, require_even_shares
from fathom.data.tensors import load
from fathom.io import signals
from fathom.io.files import write_text
from fathom.io.locks import Alive, Held, job_state_unknown, only_writer
from fathom.io.records import hashes
from fathom.io.signals import Stopped
from fathom.nn.network import count_parameters
from fathom.nn.weights import LAST
from fathom.results import training_record
from fathom.results.recipe import sources
from fathom.results.run_state import SAVED
from fathom.results.training_record import SETTINGS, WEIGHTS
from fathom.train import environment
from fathom.train.loop import Training, TrainPaths
from fathom.train.progress import Reporter
from fathom.train.ranks import PeerLost, Ranks
from fathom.train.session import Attempt, Session, delete_stale, prepare_to_resume
from fathom.train.state import BEFORE, complete_save
from fathom.train.stopping import Stopping

# What a training that has ended recorded along the way.
SERIES = (SETTINGS, "metrics.tsv", "diagnostics/*.tsv.gz")
FINAL = (LAST, "update_*.pt")
# What the first process sends to the others before they train.
_ENDED, _GO, _WAIT, _REFUSED = 1, 2, 3, 4


def train(
    spec: Spec,
    seed: int,
    paths: TrainPaths,
    switches: Switches,
    report: Callable[[str], None],
    alive: Alive = job_state_unknown,
) -> None:
    """Train one run with one seed, or resume it; training.json is written last.

    A run that has ended is left as it is, if its weights are those that were recorded. While
    another process trains it, this one waits, and then finds it ended, or trains on.

    The seed is that of weights, order of data, gates and dropout; `alive` asks a scheduler about
    the job of a process that trains this run on another host. A training that is asked to stop
    saves its state and raises Stopped.
    """
    folder = paths.run
    ranks = Ranks.join(environment.choose_device(switches.device))
    with Session(ranks, folder) as session, ExitStack() as opened:
        attempt, word = None, _REFUSED
        if ranks.is_main:
            try:
                require_even_shares(switches.micro_batches, ranks.world)
                # First, since the rest takes seconds; other processes of the run write nothing.
                waiting = partial(ranks.broadcast_from_main, _WAIT)
                held = opened.enter_context(only_writer(folder, report, waiting, alive))
                attempt = _begin(spec, paths, switches, held, report)
                word = _GO if attempt else _ENDED
            finally:
                # A process that is gone by now is noticed with the first update.
                with suppress(PeerLost):
                    ranks.broadcast_from_main(word)
        else:
            while (word := ranks.broadcast_from_main()) == _WAIT:
                pass
            if word == _REFUSED:
                raise SystemExit(1)
        if word == _GO:
            session.begin(attempt)
            _train(spec, seed, paths, switches, report, attempt)


def _begin(
    spec: Spec, paths: TrainPaths, switches: Switches, held: Held, report: Callable[[str], None]
) -> Attempt | None:
    """Put the run's folder in order, and begin an attempt; None where the training has ended."""
    folder = paths.run
    if switches.retrain == "stale":
        delete_stale(folder, report)
    if ended := training_record.already_ended(folder / "training.json"):
        report(f"{spec.folder}: {ended}")
        return None
    log = Reporter(report, folder / "train.log")
    complete_save(folder / "checkpoints")
    if (folder / "training.json").exists():
        # Nothing is deleted before the text is there from which the rest can be made again.
        load(paths.tensors)
        prepare_to_resume(folder, log.line)
    return Attempt(folder, held, log.line)


def _train(
    spec: Spec,
    seed: int,
    paths: TrainPaths,
    switches: Switches,
    report: Callable[[str], None],
    attempt: Attempt | None,
) -> None:
    """Build the network, train it, and write training.json in the first process."""
    folder = paths.run
    # Read now: an edit during the training does not change the code that trains.
    origin = sources()
    log = Reporter(report, folder / "train.log")
    training = Training(spec, seed, load(paths.tensors), paths, switches, log)
    plugin = plugins.imported_files(spec.method.name)
    if attempt and any((folder / WEIGHTS / name).exists() for name in (LAST, BEFORE)):
        attempt.require_plugin(plugin)
    training.resume()
    with signals.deferred() as signal:
        stopping = Stopping(signal, reads=training.ranks.is_main)
        if attempt is None:
            training.run(stopping)
            return
        write_text(folder / SETTINGS, training_record.settings_text(spec))
        training.attempt = attempt
        attempt.start(training.update, training.updates, training.batches.multiple, plugin)
        try:
            outcome = training.run(stopping)
        except Stopped as stopped:
            attempt.end(training.update, stopping.why)
            attempt.write(state=SAVED, reason=stopping.why)
            log.write(f"{spec.folder}: {stopped}")
            raise
        attempt.end(training.update, outcome.kind)
        if outcome.finished and not (training.checkpoints / LAST).exists():
            training.save()
        patterns = [*SERIES, *(WEIGHTS + name for name in FINAL if outcome.finished)]
        content = described(training) | origin | {"files": hashes(folder, *patterns)}
        content |= {"attempts": attempt.published, "recipe": attempt.recipe, "plugin": plugin}
        content |= {"outcome": outcome.model_dump()}
        training_record.write_ended(folder / "training.json", content, spec, seed)
        # After training.json: whoever reads that a training has ended finds how.
        attempt.write(state=outcome.kind, reason=outcome.reason)
        kind = outcome.kind.replace("_", " ")
        log.line(f"{spec.folder}: {kind} at update {outcome.update} ({outcome.reason})")


def described(training: Training) -> dict[str, Any]:
    """Return what training.json says of a training besides its outcome and its code."""
    validation = training.validation
    by_task = validation and dict(zip(training.tensors.tasks, validation.by_task, strict=True))
    return {
        "parameters": count_parameters(training.network),
        "validation": {"nll": validation.nll, "by_task": by_task}
        if validation and math.isfinite(validation.nll)
        else None,
        "unigram_nll": training.batches.unigram_nll,
        "corpus_sha256": training.tensors.corpus_sha256,
        "tensors_sha256": training.tensors.sha256,
        "totals": {
            "updates": training.update,
            "target_tokens": training.pending.tokens,
            "seconds": round(training.seconds, 3),
        },
        "device": environment.device_facts(training.device, training.ranks.world)
        | {"products": asdict(training.network.matmul)},
        "versions": environment.versions(),
    }

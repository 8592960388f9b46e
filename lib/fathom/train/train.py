"""One training, from its specification to training.json."""

import math
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Self

import yaml

from fathom.config.spec import Spec
from fathom.config.switches import require_even_shares
from fathom.data.tensors import load
from fathom.io import signals
from fathom.io.errors import FathomError
from fathom.io.files import write_text
from fathom.io.locks import Alive, Held, job_state_unknown, only_writer
from fathom.io.machine import is_out_of_memory
from fathom.io.records import hashes
from fathom.io.signals import Stopped
from fathom.nn.network import count_parameters
from fathom.nn.weights import LAST
from fathom.results import training_record
from fathom.results.recipe import sources
from fathom.results.run_state import FAILED, OUT_OF_MEMORY, State, fail, read_state
from fathom.results.training_record import WEIGHTS, Ended
from fathom.train import environment
from fathom.train.attempts import Attempt
from fathom.train.loop import RuntimeOptions, Training, TrainPaths
from fathom.train.progress import reporter
from fathom.train.ranks import PeerLost, Ranks
from fathom.train.state import complete_save, delete_stale, prepare_to_resume
from fathom.train.stopping import Stopping

# What a training that has ended recorded along the way.
SERIES = ("spec.yaml", "metrics.tsv", "diagnostics/*.tsv.gz")
FINAL = (LAST, "update_*.pt")
# Seconds in which the first process reports what all of them may have seen.
PATIENCE, _LOOK = 5.0, 0.1
# What the first process sends to the others before they train.
_ENDED, _GO, _WAIT, _REFUSED = 1, 2, 3, 4


def train(
    spec: Spec,
    seed: int,
    paths: TrainPaths,
    options: RuntimeOptions,
    report: Callable[[str], None],
    alive: Alive = job_state_unknown,
) -> None:
    """Train one run with one seed, or resume it; training.json is written last.

    A run that has ended is left as it is, if its weights are those that were recorded. While
    another process trains it, this one waits, and then finds it ended, or trains on.

    Args:
        spec: the run.
        seed: of weights, order of data, gates and dropout.
        paths: the folders that are read and written.
        options: options that do not change the result.
        report: called with each line for the user.
        alive: asks a scheduler about the job of a process that trains this run on another host.

    Raises:
        FathomError: If what is read is missing or damaged, or another process is gone.
        Stopped: If the training was asked to stop; its state is saved.
    """
    folder = paths.run
    ranks = Ranks.join(environment.choose_device(options.device))
    with OneMessage(ranks, folder) as ending, ExitStack() as opened:
        attempt = None
        if ranks.is_main:
            word = _REFUSED
            try:
                require_even_shares(options.micro_batches, ranks.world)
                # First, since the rest takes seconds; other processes of the run write nothing.
                waiting = partial(ranks.broadcast_from_main, _WAIT)
                held = opened.enter_context(only_writer(folder, report, waiting, alive))
                attempt = _begin(spec, paths, options, held, report)
                word = _GO if attempt else _ENDED
            finally:
                # A process that is gone by now is noticed with the first update.
                with suppress(PeerLost):
                    ranks.broadcast_from_main(word)
            trains = word == _GO
        else:
            trains = _is_told_to_train(ranks)
        if trains:
            ending.begin(attempt)
            _train(spec, seed, paths, options, report, attempt)


def _is_told_to_train(ranks: Ranks) -> bool:
    """Return whether the first process trains, once it has the lock."""
    while (word := ranks.broadcast_from_main()) == _WAIT:
        pass
    if word == _REFUSED:
        raise SystemExit(1)
    return word == _GO


def _begin(
    spec: Spec,
    paths: TrainPaths,
    options: RuntimeOptions,
    held: Held,
    report: Callable[[str], None],
) -> Attempt | None:
    """Put the run's folder in order, and begin an attempt; None where the training has ended."""
    folder = paths.run
    if options.retrain_stale:
        delete_stale(folder, report)
    if ended := training_record.already_ended(folder / "training.json"):
        report(f"{spec.folder}: {ended}")
        return None
    log = reporter(report, folder / "train.log")
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
    options: RuntimeOptions,
    report: Callable[[str], None],
    attempt: Attempt | None,
) -> None:
    """Build the network, train it, and write training.json in the first process."""
    folder = paths.run
    # Read now: an edit during the training does not change the code that trains.
    origin = sources()
    log = reporter(report, folder / "train.log")
    training = Training(spec, seed, load(paths.tensors), paths, options, log)
    training.resume()
    with signals.deferred() as signal:
        stopping = Stopping(signal, reads=training.ranks.is_main)
        if attempt is None:
            training.run(stopping)
            return
        settings = yaml.safe_dump(spec.described, allow_unicode=True, sort_keys=False)
        write_text(folder / "spec.yaml", settings)
        training.attempt = attempt
        outcome = _attempt(training, attempt, stopping)
        if outcome.finished and not (training.checkpoints / LAST).exists():
            training.save()
        patterns = [*SERIES, *(WEIGHTS + name for name in FINAL if outcome.finished)]
        content = described(training) | origin | {"files": hashes(folder, *patterns)}
        attempts = attempt.attempts
        content |= {"attempts": attempts.all, "recipe": attempts.recipe}
        content |= {"outcome": outcome.model_dump()}
        training_record.write_ended(folder / "training.json", content, spec, seed)
        attempt.recorded(outcome)
        kind = outcome.kind.replace("_", " ")
        log.line(f"{spec.folder}: {kind} at update {outcome.update} ({outcome.reason})")


def _attempt(training: Training, attempt: Attempt, stopping: Stopping) -> Ended:
    """Train to the end, and record how this attempt ended; `OneMessage` records errors."""
    attempt.start(training.update, training.updates)
    try:
        outcome = training.run(stopping)
    except Stopped as stopped:
        attempt.stopped(training.update, stopping.why)
        training.reporter.write(f"{training.spec.folder}: {stopped}")
        raise
    attempt.ended(training.update, outcome)
    return outcome


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
            "target_tokens": training.tokens,
            "seconds": round(training.seconds, 3),
        },
        "device": environment.device_facts(training.device, training.ranks.world)
        | {"products": asdict(training.network.matmul)},
        "versions": environment.versions(),
    }


class OneMessage:
    """Exits with status 1 and no message if another rank has reported the error.

    The ranks share a folder: whichever fails writes its error into state.json first, and a rank
    that only notices a lost peer looks there. So nothing is asked of a process that no longer
    answers.
    """

    def __init__(self, ranks: Ranks, folder: Path):
        self.ranks, self.folder = ranks, folder
        self.begun, self.attempt = False, None
        self._before = read_state(folder)

    def begin(self, attempt: Attempt | None) -> None:
        """Note that the attempt has begun; ranks other than the first have none."""
        self.begun, self.attempt = True, attempt

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if not isinstance(error, Exception):
            return
        if self.attempt:
            self.attempt.failed(self.kind(error))
        if self.is_reported(error) and self.ranks.world > 1:
            raise SystemExit(1) from error

    def kind(self, error: Exception) -> str:
        """Return out_of_memory or failed, for the error of this process or of the lost peer."""
        recorded = self._recorded()
        if isinstance(error, PeerLost) and recorded:
            return recorded.state
        return OUT_OF_MEMORY if is_out_of_memory(error) else FAILED

    def is_reported(self, error: Exception) -> bool:
        """Return whether another rank has reported what ended all of them; if not, record it."""
        if isinstance(error, PeerLost) and self.ranks.rank > 1:
            return True
        if isinstance(error, FathomError) and not self.ranks.is_main:
            # The first process has the same error, or is the one that is lost.
            self._wait()
        if isinstance(error, FathomError) and self._recorded():
            return True
        kind, reason = self.kind(error), str(error).partition("\n")[0]
        with suppress(OSError):
            return self.begun and not fail(self.folder, kind, reason)
        return False

    def _recorded(self) -> State | None:
        """Return the error that a process of this attempt has recorded."""
        state = read_state(self.folder)
        return state if state and state.is_error and state != self._before else None

    def _wait(self) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and not self._recorded():
            time.sleep(_LOOK)

"""One training, from its specification to training.json."""

import math
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import yaml

from fathom.batches.tensors import load
from fathom.checkpoints.average import LAST
from fathom.checkpoints.training_state import complete_save
from fathom.io.files import write_text
from fathom.io.integrity import hashes
from fathom.io.locks import only_writer
from fathom.io.signals import Stopped
from fathom.models.size import count_parameters
from fathom.provenance import measurements, training_file
from fathom.provenance.recipe import RECIPE
from fathom.provenance.sources import sources
from fathom.provenance.training_file import WEIGHTS, Ended
from fathom.runs.spec import Spec
from fathom.training import environment
from fathom.training.attempts import Attempts
from fathom.training.loop import RuntimeOptions, Training, TrainPaths
from fathom.training.lost_weights import prepare_to_resume
from fathom.training.progress import reporter
from fathom.training.ranks import Ranks

# What a training that has ended recorded along the way.
SERIES = ("spec.yaml", "metrics.tsv", "diagnostics/*.tsv.gz")
FINAL = (LAST, "update_*.pt")


def train(
    spec: Spec,
    seed: int,
    paths: TrainPaths,
    options: RuntimeOptions,
    report: Callable[[str], None],
) -> None:
    """Train one run with one seed, or resume it; training.json is written last.

    A run that has ended is left as it is, if its weights are those that were recorded.

    Args:
        spec: the run.
        seed: its seed.
        paths: the folders that are read and written.
        options: options that do not change the result.
        report: called with each line for the user.

    Raises:
        FathomError: another process trains this run.
        Stopped: a signal stopped the training.
    """
    folder = paths.run
    # First, since the rest takes seconds; other processes of the same run write nothing.
    first = Ranks.joins_first()
    with only_writer(folder, report) if first else nullcontext():
        if ended := training_file.already_ended(folder / "training.json"):
            report(f"{spec.folder}: {ended}")
            return
        lost = (folder / "training.json").exists()
        if first:
            # Before the other processes join, and read it.
            complete_save(folder / "checkpoints")
        # Read now: an edit during the training does not change the code that trains.
        origin = sources()
        log = reporter(report, folder / "train.log")
        training = Training(spec, seed, load(paths.tensors), paths, options, log)
        if lost:
            if training.ranks.first:
                prepare_to_resume(folder, log.line)
            # The others wait for this before they read what is left.
            training.ranks.largest(0)
        training.resume()
        if not training.ranks.first:
            training.run()
            return
        settings = yaml.safe_dump(spec.described, allow_unicode=True, sort_keys=False)
        write_text(folder / "spec.yaml", settings)
        attempts = Attempts(folder / "attempts.json", log.line)
        outcome = _attempt(training, attempts)
        if outcome.finished and not (training.checkpoints / LAST).exists():
            training.save()
        patterns = [*SERIES, *(WEIGHTS + name for name in FINAL if outcome.finished)]
        content = described(training) | origin | {"files": hashes(folder, *patterns)}
        content |= {"attempts": attempts.all, "recipe": attempts.recipe}
        _write(spec, seed, folder, content | {"outcome": outcome.model_dump()})
        kind = outcome.kind.replace("_", " ")
        log.line(f"{spec.folder}: {kind} at update {outcome.update} ({outcome.reason})")


def _attempt(training: Training, attempts: Attempts) -> Ended:
    """Train to the end, and record how this attempt ended."""
    attempts.start(training.update, RECIPE["training"])
    try:
        outcome = training.run()
    except Stopped as stopped:
        attempts.end(training.update, "stopped")
        training.reporter.write(f"{training.spec.folder}: {stopped}")
        raise
    attempts.end(training.update, outcome.kind)
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
        "device": environment.device_facts(training.device) | training.network.arithmetic.record(),
        "versions": environment.versions(),
    }


def _write(spec: Spec, seed: int, folder: Path, content: dict[str, Any]) -> None:
    """Write what the training measured, and training.json last."""
    path = folder / "training.json"
    ended = training_file.checked_content(content, path)
    name = measurements.file_name("training", spec)
    file = training_file.measured(ended, spec, seed)
    measurements.write(folder / "measurements" / f"{name}.json", file)
    training_file.write(path, ended)

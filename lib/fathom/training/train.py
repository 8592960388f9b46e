"""One training, from its specification to training.json."""

import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from fathom.batches.tensors import load
from fathom.io.files import write_text
from fathom.io.locks import only_writer
from fathom.models import size
from fathom.provenance import measurements, training_file
from fathom.provenance.recipe import RECIPE
from fathom.provenance.sources import sources
from fathom.runs.spec import Spec
from fathom.training import environment
from fathom.training.attempts import Attempts
from fathom.training.loop import Launch, Places, Stopped, Training


def train(
    spec: Spec,
    seed: int,
    places: Places,
    launch: Launch,
    report: Callable[[str], None],
) -> None:
    """Train one run with one seed, or go on with it; ends with training.json.

    Args:
        spec: the run.
        seed: its seed.
        places: where it reads and writes.
        launch: wishes that do not change the result.
        report: called with each line for the user.

    Raises:
        FathomError: another process trains this run.
        Stopped: a signal asked for it.
    """
    folder = places.run
    if ended := training_file.already_ended(folder / "training.json"):
        report(f"{spec.folder}: {ended}")
        return
    # Read now: an edit while the run trains is not the code that trains it.
    origin = sources()
    training = Training(spec, seed, load(places.tensors), places, launch, kept(report, folder))
    if not training.ranks.first:
        training.resume()
        training.run()
        return
    with only_writer(folder / "lock"):
        write_text(folder / "spec.yaml", yaml.safe_dump(_plain(asdict(spec)), allow_unicode=True))
        training.resume()
        attempts = Attempts(folder / "attempts.json")
        attempts.begin(training.update, RECIPE["training"])
        try:
            ending = training.run()
        except Stopped:
            attempts.end(training.update, "stopped")
            raise
        attempts.end(training.update, ending.kind)
        content = {"outcome": asdict(ending), "attempts": attempts.all, "recipe": attempts.recipe}
        _write(spec, seed, folder, content | origin | facts(training))
        word = ending.kind.replace("_", " ")
        training.report(f"{spec.folder}: {word} at update {ending.update} ({ending.reason})")


def kept(report: Callable[[str], None], folder: Path) -> Callable[[str], None]:
    """Return a `report` that keeps its lines in train.log too, those of every attempt."""
    folder.mkdir(parents=True, exist_ok=True)

    def both(line: str) -> None:
        report(line)
        with open(folder / "train.log", "a", encoding="utf-8", newline="\n") as stream:
            stream.write(f"{line}\n")

    return both


def _write(spec: Spec, seed: int, folder: Path, content: dict[str, Any]) -> None:
    """Write what the training measured, and training.json last."""
    done = folder / "training.json"
    ended = training_file.checked_content(content, done)
    name = measurements.file_name("training", spec)
    file = training_file.measured(ended, spec, seed)
    measurements.write(folder / "measurements" / f"{name}.json", file)
    training_file.write(done, ended)


def facts(training: Training) -> dict[str, Any]:
    """Return what training.json says of a training besides its outcome."""
    tasks, validation = training.tensors.tasks, training.validation
    return {
        "parameters": size.parts(training.network),
        "validation": {
            "nll": validation.nll,
            "by_task": dict(zip(tasks, validation.by_task, strict=True)),
        }
        if validation and math.isfinite(validation.nll)
        else None,
        "unigram_nll": training.feed.unigram_nll,
        "totals": {
            "updates": training.update,
            "target_tokens": training.tokens,
            "seconds": round(training.seconds, 3),
        },
        "device": environment.device_facts(training.device),
        "versions": environment.versions(),
    }


def _plain(value: Any) -> Any:
    """Return a value whose tuples are lists, as YAML has them."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return value

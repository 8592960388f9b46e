"""training.json: how a training ended, and what its measurements and its manifest repeat."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import BaseModel, Field

from fathom.config.schema.section import Section
from fathom.io.commands import again
from fathom.io.errors import FathomError
from fathom.io.integrity import Recorded, read_record, write_record
from fathom.results import measurements
from fathom.results.measurements import (
    FINISHED,
    SCHEMA,
    Measurements,
    Number,
    Outcome,
    Record,
    checked,
)

NATS = "nats"
WEIGHTS = "checkpoints/"


class Run(Protocol):
    """What a training's files say of its run."""

    @property
    def name(self) -> str:
        """The run's name, `<paper>/<run>`."""
        ...

    @cached_property
    def identity(self) -> str:
        """The SHA-256 of what determines the training."""
        ...


class Ended(Section):
    """How a training ended.

    Attributes:
        kind: finished, diverged or failed_to_train; each is a result.
        update: the update of Θ at which it ended.
        reason: what shows that it ended so.
    """

    kind: Outcome
    update: int
    reason: str

    @property
    def finished(self) -> bool:
        """Whether it made all its updates and learnt something."""
        return self.kind == FINISHED

    @property
    def words(self) -> str:
        """The kind and the reason in words."""
        return f"{self.kind.replace('_', ' ')} ({self.reason})"


class Validation(Section):
    """The last validation: NLL in nats a token over all tasks, and by task."""

    nll: float
    by_task: dict[str, float]


class Totals(Section):
    """What all attempts together took; target tokens without padding."""

    updates: int
    target_tokens: int
    seconds: float


def device_seconds(totals: Totals, device: Mapping[str, Any]) -> float:
    """Return the seconds of all devices that shared a training, by their number at its end."""
    return totals.seconds * device.get("count", 1)


class TrainingFile(BaseModel):
    """The content of training.json.

    Attributes:
        schema_: the version of this form; `schema` in the file.
        outcome: how the training ended.
        recipe: the lowest recipe of its attempts (results/recipe.py).
        commit: of the sources when it began; None outside a clone.
        sources_sha256: one hash of those sources.
        parameters: counts by part.
        validation: the last one; a run that diverged may have none.
        unigram_nll: NLL of the unigram baseline on the same targets, in nats a token.
        totals: what it took.
        device: what it ran on, by property.
        versions: of packages.
        attempts: where each began and how it ended, the oldest first.
        corpus_sha256: the hash of the corpus.json of the text that was encoded.
        tensors_sha256: the hash of tensors.json, which names and hashes the encoded text.
        files: SHA-256 of the run's files: settings, series and, where it finished, weights.
    """

    model_config = Section.model_config

    schema_: Literal[2] = Field(default=SCHEMA, alias="schema")
    outcome: Ended
    recipe: int
    commit: str | None
    sources_sha256: str
    parameters: dict[str, int]
    validation: Validation | None
    unigram_nll: float
    totals: Totals
    device: dict[str, Any]
    versions: dict[str, str]
    attempts: list[dict[str, Any]]
    corpus_sha256: str
    tensors_sha256: str
    files: dict[str, str]

    @property
    def weights(self) -> dict[str, str]:
        """SHA-256 of each file of weights that may be decoded, by its name in checkpoints/."""
        return {
            name.removeprefix(WEIGHTS): digest
            for name, digest in self.files.items()
            if name.startswith(WEIGHTS)
        }


def read(path: Path) -> TrainingFile:
    """Read a training.json.

    Raises:
        FathomError: the file is missing or damaged, or has another schema.
        Findings: keys or values that do not fit.
    """
    return checked(TrainingFile, read_record(path), path, again(path))


def unfit_weights(path: Path, file: TrainingFile) -> dict[str, str]:
    """Return why files of weights cannot be used, by their path from the run's folder.

    Args:
        path: of training.json.
        file: its content.
    """
    recorded = Recorded(path, file.files)
    reasons = {f"{WEIGHTS}{name}": recorded.unfit(f"{WEIGHTS}{name}") for name in file.weights}
    return {name: reason for name, reason in reasons.items() if reason}


def already_ended(path: Path) -> str | None:
    """Return a line that says how a training ended; None where it must train or train again.

    It must, where training.json or the weights are missing or not those that were recorded.

    Args:
        path: its training.json.
    """
    try:
        file = read(path)
    except FathomError:
        return None
    if unfit_weights(path, file):
        return None
    if not file.outcome.finished:
        return f"already ended: {file.outcome.words}; see {path}"
    nll = f" (validation NLL {file.validation.nll:.2f})" if file.validation else ""
    return f"already finished{nll}; see {path}"


def checked_content(content: dict[str, Any], path: Path) -> TrainingFile:
    """Return what is to be written to `path`, with all of TrainingFile's keys but `schema`."""
    return checked(TrainingFile, content | {"schema": SCHEMA}, path, "report this")


def write(path: Path, training: TrainingFile) -> None:
    """Write a training.json atomically."""
    write_record(path, training.model_dump(by_alias=True))


def measured(training: TrainingFile, run: Run, seed: int) -> Measurements:
    """Return what a training measures by itself: parameters, last validation, unigram baseline.

    Parameters are there whatever the outcome.

    Args:
        training: its training.json.
        run: the run's spec.
        seed: of the training.
    """
    total, validation = float(training.parameters["total"]), training.validation
    parts = {name: float(count) for name, count in training.parameters.items() if name != "total"}
    records = {"parameters": Record(all=Number(value=total), parts=parts)}
    if training.outcome.finished:
        records["unigram_nll"] = Record(unit=NATS, all=Number(value=training.unigram_nll))
        if validation:
            tasks = {task: Number(value=value) for task, value in validation.by_task.items()}
            every = Number(value=validation.nll)
            records["last_validation"] = Record(unit=NATS, tasks=tasks, all=every)
    return of_run(training, run, seed, "training", {}, records)


def restore_measured(path: Path, run: Run, seed: int) -> None:
    """Write again what a training measured by itself, where that file is lost or damaged.

    Args:
        path: of training.json.
        run: the run's spec.
        seed: of the training.
    """
    expected, place = measured(read(path), run, seed), path.parent / "measurements/training.json"
    try:
        same = measurements.read(place) == expected
    except FathomError:
        same = False
    if not same:
        measurements.write(place, expected)


def of_run(
    training: TrainingFile,
    run: Run,
    seed: int,
    rule: str,
    recipe: Mapping[str, int],
    records: dict[str, Record],
    settings: dict[str, Any] | None = None,
) -> Measurements:
    """Return a measurement file of a training, with its outcome.

    Args:
        training: its training.json.
        run: the run's spec.
        seed: of the training.
        rule: what measured.
        recipe: of each stage after the training.
        records: by key; none where the training has no result.
        settings: what the rule was run with.
    """
    return Measurements(
        rule=rule,
        recipe={"training": training.recipe, **recipe},
        run=run.name,
        identity=run.identity,
        seed=seed,
        outcome=training.outcome.kind,
        update=training.outcome.update,
        reason="" if training.outcome.finished else training.outcome.reason,
        settings=settings or {},
        measurements=records,
    )

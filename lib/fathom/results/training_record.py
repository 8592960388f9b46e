"""training.json: how a training ended; and the measurement files of a training."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from fathom.config import plugins
from fathom.config.measurement_keys import file_name
from fathom.config.paths import Paths
from fathom.config.schema.section import Section
from fathom.config.spec import Spec
from fathom.config.yaml_values import as_blocks
from fathom.io.commands import again
from fathom.io.errors import FathomError
from fathom.io.files import is_there
from fathom.io.records import Recorded, read_record, write_record
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
from fathom.results.recipe import RECIPE

NATS = "nats"
SETTINGS = "spec.yaml"
LOST = "lost.json"  # of an earlier version: which files of a training are lost, and why
# What to do about text that is not that of a training, whose weights stay as they are.
OTHER_TEXT = "bring that text back, or train the run in another folder: --results"
WEIGHTS = "checkpoints/"  # the folder of a run's weights
_COPIES = "code/"  # the folder where earlier versions kept a plugin's files, with their SHA-256


class Ended(Section):
    """How a training ended."""

    kind: Outcome  # each is a result
    update: int  # of Θ, at which it ended
    reason: str  # what shows that it ended so

    @property
    def finished(self) -> bool:
        """Whether it made all its updates and learnt something."""
        return self.kind == FINISHED

    @property
    def words(self) -> str:
        """The kind and the reason in words."""
        return f"{self.kind.replace('_', ' ')} ({self.reason})"


class Validation(Section):
    """The last validation: NLL in nats per token over all tasks, and by task."""

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


def in_tf32(device: Mapping[str, Any]) -> bool:
    """Return whether a training multiplied float32 matrices in TF32."""
    allowed = device.get("products", {}).get("precision") == "high"
    return allowed or device.get("tf32_override") == "1"


class TrainingRecord(BaseModel):
    """The content of training.json."""

    model_config = Section.model_config

    schema_: Literal[2] = Field(default=SCHEMA, alias="schema")
    outcome: Ended
    recipe: int  # the lowest of its attempts (results/recipe.py)
    commit: str | None  # of the sources when it began; None outside a clone
    sources_sha256: str
    parameters: dict[str, int]  # counts by part
    validation: Validation | None  # a run that diverged may have none
    unigram_nll: float  # of the unigram baseline on the same targets, in nats per token
    totals: Totals
    device: dict[str, Any]  # what it ran on, by property
    versions: dict[str, str]  # of packages
    attempts: list[dict[str, Any]]  # when each began and how it ended, the oldest first
    corpus_sha256: str  # of the corpus.json of the text that was encoded
    tensors_sha256: str  # of tensors.json, which names and hashes the encoded text
    files: dict[str, str]  # SHA-256 of settings, series and, where it finished, weights
    # SHA-256 of each file of the plugin that brings its method, by its path in the plugin's folder.
    plugin: dict[str, str] = Field(default_factory=dict)

    @property
    def device_words(self) -> str:
        """What it was trained on, with the number of threads or TF32."""
        words, threads = str(self.device.get("name", "unknown")), self.device.get("threads")
        threads = f"{threads} thread{'s' if threads > 1 else ''}" if threads else ""
        tf32 = "products in TF32" if in_tf32(self.device) else ""
        return ", ".join(filter(None, (words, threads, tf32)))

    @property
    def commit_words(self) -> str:
        """The commit in short, and whether files had changed since; empty outside a clone."""
        name, _, changed = (self.commit or "").partition("-")
        return f"{name[:8]} with uncommitted changes" if changed else name[:8]

    @property
    def weights(self) -> dict[str, str]:
        """SHA-256 of each file of weights that may be decoded, by its name in checkpoints/."""
        return {
            name.removeprefix(WEIGHTS): digest
            for name, digest in self.files.items()
            if name.startswith(WEIGHTS)
        }


def stale_code(path: Path, method: str) -> str:
    """Return that a plugin's method has other code than at a training; else an empty text."""
    if not (plugins.is_plugin("methods", method) and is_there(path)):
        return ""
    record = read(path)
    files = record.files.items()
    copies = {name.removeprefix(_COPIES): sha for name, sha in files if name.startswith(_COPIES)}
    changed = plugins.has_changed(method, record.plugin or copies)
    return f"training: the code of {method} has changed since" if changed else ""


def settings_text(spec: Spec) -> str:
    """Return the content of a run's spec.yaml."""
    return as_blocks(spec.described)


def read(path: Path) -> TrainingRecord:
    """Read a training.json.

    Raises:
        FathomError: If it is missing or damaged, has another schema, or values that do not fit.
    """
    return checked(TrainingRecord, read_record(path), path, again(path))


def unfit_weights(path: Path, record: TrainingRecord) -> dict[str, str]:
    """Return why files of weights cannot be used, by their path from the run's folder."""
    recorded = Recorded(path, record.files)
    reasons = {f"{WEIGHTS}{name}": recorded.unfit(f"{WEIGHTS}{name}") for name in record.weights}
    return {name: reason for name, reason in reasons.items() if reason}


def already_ended(path: Path) -> str | None:
    """Return a line that says how a training ended; None where it must train or train again.

    It must, where training.json or the weights are missing or not those that were recorded.
    """
    try:
        record = read(path)
    except FathomError:
        return None
    if unfit_weights(path, record):
        return None
    if not record.outcome.finished:
        return f"already ended: {record.outcome.words}; see {path}"
    nll = f" (validation NLL {record.validation.nll:.2f})" if record.validation else ""
    return f"already finished{nll}; see {path}"


def write_ended(path: Path, content: dict[str, Any], spec: Spec, seed: int) -> None:
    """Write what a training measured by itself, and its training.json at `path` last.

    `content` has all of TrainingRecord's keys but `schema`.
    """
    record = checked(TrainingRecord, content | {"schema": SCHEMA}, path, "report this")
    measurements.write(_measured_path(path), measured(record, spec, seed))
    without = set() if record.plugin else {"plugin"}
    write_record(path, record.model_dump(by_alias=True, exclude=without))


def restore_measured(path: Path, spec: Spec, seed: int) -> None:
    """Write again what an ended training measured, where that file is lost or damaged."""
    expected, place = measured(read(path), spec, seed), _measured_path(path)
    try:
        same = measurements.read(place) == expected
    except FathomError:
        same = False
    if not same:
        measurements.write(place, expected)


def _measured_path(path: Path) -> Path:
    return path.parent / "measurements" / "training.json"


def measured(training: TrainingRecord, spec: Spec, seed: int) -> Measurements:
    """Return what a training measures by itself: parameters, last validation, unigram baseline.

    Parameters are there whatever the outcome.
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
    return _file(training, spec, seed, "training", records)


def _file(
    training: TrainingRecord, spec: Spec, seed: int, rule: str, records: dict[str, Record]
) -> Measurements:
    """Return the content of a measurement file of a training, with its outcome."""
    validation, finished = training.validation, training.outcome.finished
    return Measurements(
        rule=rule,
        recipe={"training": training.recipe},
        run=spec.name,
        identity=spec.identity,
        seed=seed,
        outcome=training.outcome.kind,
        update=training.outcome.update,
        reason="" if finished else training.outcome.reason,
        above_unigram=validation.nll - training.unigram_nll
        if validation and not finished
        else None,
        measurements=records,
    )


@dataclass(frozen=True)
class MeasurementFile:
    """The file of what one rule measures of a training."""

    spec: Spec
    seed: int
    paths: Paths
    rule: str
    split: str | None = None  # "valid" or "test", where the rule measures one
    gates: str | None = None  # "plain", "soft" or "hard", where the measurement depends on them

    @property
    def path(self) -> Path:
        """The place of the file."""
        name = file_name(self.rule, self.spec, self.split, self.gates)
        return self.paths.measurements(self.spec, self.seed, name)

    def measure(
        self,
        records: Callable[[], dict[str, Record]],
        report: Callable[[str], None],
        settings: dict[str, Any] | None = None,
    ) -> Measurements:
        """Measure, or record how a training without a result ended; return what was written.

        An older file is deleted first: should measuring fail, it may be of other weights.

        `records` returns them by key, and is called where the training finished; `settings` are
        what the rule is run with.
        """
        outcome = read(self.paths.training(self.spec, self.seed)).outcome
        self.path.unlink(missing_ok=True)
        if not outcome.finished:
            report(outcome.words)
        measured = records() if outcome.finished else {}
        for task, reason in next(iter(measured.values()), Record()).missing.items():
            report(f"{task}: {reason}")
        self.write(measured, settings)
        report(str(self.path))
        return measurements.read(self.path)

    def write(
        self,
        records: dict[str, Record],
        settings: dict[str, Any] | None = None,
        decoding_recipe: int | None = None,
    ) -> None:
        """Write the file; a training without a result has no records.

        `settings` are what the rule was run with, and `decoding_recipe` that of the translations.
        """
        training = read(self.paths.training(self.spec, self.seed))
        file = _file(training, self.spec, self.seed, self.rule, records)
        decoding = {} if decoding_recipe is None else {"decoding": decoding_recipe}
        recipe = file.recipe | {"scoring": RECIPE["scoring"]} | decoding
        complete = {"recipe": recipe, "settings": settings or {}}
        measurements.write(self.path, file.model_copy(update=complete))

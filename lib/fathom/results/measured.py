"""What a rule measured of a training, written into its measurement file."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fathom.config.measurement_keys import file_name
from fathom.config.paths import Paths
from fathom.config.spec import Spec
from fathom.results import measurements, training_record
from fathom.results.measurements import Measurements, Record
from fathom.results.recipe import RECIPE


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

        Args:
            records: returns the records by key; called where the training finished.
            report: called with a line about the outcome or the missing tasks, and the file.
            settings: what the rule is run with.
        """
        outcome = training_record.read(self.paths.training(self.spec, self.seed)).outcome
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
        """Write the file.

        Args:
            records: by key; none where the training has no result.
            settings: what the rule was run with.
            decoding_recipe: of the translations that were measured.
        """
        training = training_record.read(self.paths.training(self.spec, self.seed))
        recipe = {"scoring": RECIPE["scoring"]}
        if decoding_recipe is not None:
            recipe["decoding"] = decoding_recipe
        file = training_record.of_training(
            training, self.spec, self.seed, self.rule, records, recipe, settings
        )
        measurements.write(self.path, file)

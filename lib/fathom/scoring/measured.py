"""Write what was measured of a run into its measurement file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fathom.config.paths import Paths
from fathom.config.spec import Spec
from fathom.results import measurements, training_file
from fathom.results.measurements import Measurements, Record
from fathom.results.recipe import RECIPE


def measure(
    spec: Spec,
    seed: int,
    paths: Paths,
    rule: str,
    records: Callable[[], dict[str, Record]],
    report: Callable[[str], None],
    split: str | None = None,
    gates: str | None = None,
    settings: dict[str, Any] | None = None,
) -> Measurements:
    """Measure a training, or record how one without a result ended; return what was written.

    An older file is deleted first: should measuring fail, it may be of other weights.

    Args:
        spec: the run.
        seed: of the training.
        paths: where all files are.
        rule: what measures, such as "likelihood".
        records: returns the records by key; called where the training finished.
        report: called with a line about the outcome or the missing tasks, and the file.
        split: "valid" or "test", where the rule measures one.
        gates: "plain", "soft" or "hard", where the measurement depends on them.
        settings: what the rule is run with.

    Raises:
        FathomError: the training has not ended.
    """
    outcome = training_file.read(paths.training(spec, seed)).outcome
    path = path_of(spec, seed, paths, rule, split, gates)
    path.unlink(missing_ok=True)
    if not outcome.finished:
        report(outcome.words)
    measured = records() if outcome.finished else {}
    for task, reason in next(iter(measured.values()), Record()).missing.items():
        report(f"{task}: {reason}")
    write(spec, seed, paths, rule, measured, split, gates, settings)
    report(str(path))
    return measurements.read(path)


def write(
    spec: Spec,
    seed: int,
    paths: Paths,
    rule: str,
    records: dict[str, Record],
    split: str | None = None,
    gates: str | None = None,
    settings: dict[str, Any] | None = None,
    decoding_recipe: int | None = None,
) -> Path:
    """Write a measurement file, and return its path.

    Args:
        spec: the run.
        seed: of the training.
        paths: where all files are.
        rule: what measured, such as "likelihood".
        records: by key; none where the training has no result.
        split: "valid" or "test", where the rule measures one.
        gates: "plain", "soft" or "hard", where the measurement depends on them.
        settings: what the rule was run with.
        decoding_recipe: of the translations that were measured.

    Raises:
        FathomError: the training has not ended.
    """
    training = training_file.read(paths.training(spec, seed))
    recipe = {"scoring": RECIPE["scoring"]}
    if decoding_recipe is not None:
        recipe["decoding"] = decoding_recipe
    file = training_file.of_run(training, spec, seed, rule, recipe, records, settings)
    path = path_of(spec, seed, paths, rule, split, gates)
    measurements.write(path, file)
    return path


def path_of(
    spec: Spec,
    seed: int,
    paths: Paths,
    rule: str,
    split: str | None = None,
    gates: str | None = None,
) -> Path:
    """Return the path of a rule's measurement file; the arguments are those of `write`."""
    return paths.measurements(spec, seed, measurements.file_name(rule, spec, split, gates))

"""Gather what is known of a run into its manifest."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from fathom.config.paths import Paths
from fathom.config.spec import Spec
from fathom.config.vocabulary import QUALIFIERS
from fathom.decode.ready import averaged
from fathom.io.commands import again
from fathom.io.errors import FathomError
from fathom.io.integrity import Recorded, hashes, read_record
from fathom.results import decoding_file, manifest, measurements, training_file
from fathom.results.measurements import RULES, Measurements

DECODING_FILES = ("decoding.json", "scoring.json", "scores.tsv")
SPLITS = ("valid", "test")


def summarise(spec: Spec, seed: int, paths: Paths, report: Callable[[str], None]) -> None:
    """Write a run's manifest from its training and from the measurement files that exist.

    Decodings of other settings have other folders, and are left out.

    Args:
        spec: the run.
        seed: of the training.
        paths: where all files are.
        report: called with a line about the outcome, and one for each stage that is stale.

    Raises:
        FathomError: the training has not ended, or a measurement does not fit it or has changed.
    """
    training = training_file.read(paths.training(spec, seed))
    # It follows from training.json, so that it can be made again where it was lost.
    own = paths.measurements(spec, seed, measurements.file_name("training", spec))
    measurements.write(own, training_file.measured(training, spec, seed))
    measured = list(_measured(spec, seed, paths))
    folders = list(_decodings(spec, seed, paths))
    recipes, versions = [{"training": training.recipe}], dict(training.versions)
    for folder, gates in folders:
        decoded = decoding_file.read(folder, spec, gates, training.outcome)
        scored = _scored(folder)
        versions = scored["versions"] | decoded.versions | versions
        recipes.append({"decoding": decoded.recipe})
    recipes += [file.recipe for file in measured]
    content = {
        "run": spec.name,
        "identity": spec.identity,
        "seed": seed,
        "outcome": training.outcome.model_dump(),
        "measurements": {
            key: record.model_dump()
            for file in measured
            for key, record in file.measurements.items()
        },
        "data": {
            "dataset": spec.data.dataset,
            "direction": spec.data.direction,
            "corpus_sha256": training.corpus_sha256,
            "tensors_sha256": training.tensors_sha256,
        },
        "recipe": _oldest(recipes),
        "versions": versions,
        "totals": training.totals.model_dump(),
        "files": training.files | _files(paths.run(spec, seed), [folder for folder, _ in folders]),
    }
    same = ("commit", "sources_sha256", "device", "attempts")
    content |= {key: getattr(training, key) for key in same}
    path = paths.manifest(spec, seed)
    manifest.write(path, content)
    report(f"{training.outcome.words}: {path}")
    for stage, reason in manifest.read(path).stale.items():
        report(f"stale: {stage}: {reason}")


def _oldest(recipes: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Return the lowest recipe of each stage."""
    stages = sorted({stage for recipe in recipes for stage in recipe})
    return {stage: min(recipe[stage] for recipe in recipes if stage in recipe) for stage in stages}


def _measured(spec: Spec, seed: int, paths: Paths) -> Iterator[Measurements]:
    """Yield the measurement files of a run that exist and belong to its decoding settings."""
    for name in _names(spec):
        path = paths.measurements(spec, seed, name)
        if path.is_file():
            file = measurements.read(path)
            if (file.identity, file.seed) != (spec.identity, seed):
                what = f"measured of {file.run}-{file.identity[:8]} seed {file.seed}"
                raise FathomError(what, str(path), again(path))
            # The names of these files do not tell which weights they are of.
            if file.settings.get("average_of", averaged(spec)) != averaged(spec):
                raise FathomError("measured with other weights", str(path), again(path))
            yield file


def _names(spec: Spec) -> Iterator[str]:
    """Yield the name of every measurement file that a run may have."""
    for rule in RULES:
        if rule in ("scores", "likelihood", "window"):
            splits = ("test",) if rule == "window" else SPLITS
            for split, gates in product(splits, QUALIFIERS["gates"] or ()):
                yield measurements.file_name(rule, spec, split, gates)
        elif rule != "statistics":
            yield measurements.file_name(rule, spec)


def _decodings(spec: Spec, seed: int, paths: Paths) -> Iterator[tuple[Path, str]]:
    """Yield the folder and the gates of each decoding that was scored."""
    for split, gates in product(SPLITS, QUALIFIERS["gates"] or ()):
        folder = paths.decoding(spec, seed, split, gates)
        if (folder / "scoring.json").is_file():
            yield folder, gates


def _scored(folder: Path) -> dict[str, Any]:
    """Read a scoring.json that belongs to the decoding next to it."""
    path = folder / "scoring.json"
    scored = read_record(path)
    files = Recorded(path, scored["files"])
    if files.unfit("decoding.json"):
        raise FathomError("scored before it was decoded again", str(path), again(path))
    files.require("scores.tsv")
    return scored


def _files(run: Path, decodings: list[Path]) -> dict[str, str]:
    """Return the SHA-256 of a run's records; those of a decoding name and hash the rest of it."""
    names = [folder / name for folder in decodings for name in DECODING_FILES]
    return hashes(run, "training.json", *(path.relative_to(run).as_posix() for path in names))

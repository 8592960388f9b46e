"""Manifests as cells need them: outcome in words, a score by task, a number by path."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fathom.errors import FathomError
from fathom.io.hashes import short
from fathom.papers.paper import Artefact
from fathom.project.project import Catalog
from fathom.provenance import manifest as records
from fathom.runs.paths import Paths


@dataclass(frozen=True)
class Row:
    """A line of a table: its id as printed, the run's folder, and a manifest's place by seed."""

    name: str
    run: str
    manifests: dict[int, Path]

    @property
    def missing(self) -> tuple[int, ...]:
        """The seeds without a manifest."""
        return tuple(seed for seed, path in self.manifests.items() if not path.is_file())


@dataclass(frozen=True)
class Score:
    """One metric of one task; `half_width` is half of the 95 % bootstrap interval."""

    value: float
    half_width: float | None
    stderr: float | None
    sentences: int
    signature: str


@dataclass(frozen=True)
class Manifest:
    """What one seed of a run ended with."""

    seed: int
    value: dict[str, Any]

    @property
    def finished(self) -> bool:
        """Whether the training has a result."""
        return self.value["outcome"]["kind"] == records.FINISHED

    @property
    def outcome(self) -> str:
        """The words that a cell prints in place of a number; empty where there is a result."""
        outcome = self.value["outcome"]
        if self.finished:
            return ""
        if outcome["kind"] == "diverged":
            return f"diverged at update {outcome['update']}"
        return outcome["kind"].replace("_", " ")

    @property
    def gates(self) -> str:
        """The gates of the compared score: plain, soft or hard."""
        return self.value["compared"]["gates"]

    @property
    def metric(self) -> str:
        """The id of the compared metric."""
        return self.value["compared"]["metric"]

    @property
    def tasks(self) -> tuple[str, ...]:
        """Every task that has a score or was left without a layer."""
        scored = {task for tasks in self.value["scores"].values() for task in tasks}
        empty = {task for tasks in self.value["no_layer"].values() for task in tasks}
        return tuple(sorted(scored | empty))

    def score(self, gates: str, task: str, metric: str) -> Score | None:
        """Return a score, or None where there is none."""
        decoded = self.value["scores"].get(gates, {}).get(task)
        if decoded is None or metric not in decoded["metrics"]:
            return None
        found = decoded["metrics"][metric]
        low, high = found.get("low"), found.get("high")
        return Score(
            value=found["value"],
            half_width=None if low is None or high is None else (high - low) / 2,
            stderr=found.get("stderr"),
            sentences=decoded["sentences"],
            signature=found["signature"],
        )

    def without_layer(self, gates: str, task: str) -> bool:
        """Return whether the gates left a task without a single layer."""
        return task in self.value["no_layer"].get(gates, [])

    def number(self, path: tuple[str, ...]) -> float | None:
        """Return the number at a path of keys, or None where the manifest has none there."""
        place: Any = self.value
        for key in path:
            if not isinstance(place, dict) or key not in place:
                return None
            place = place[key]
        number = isinstance(place, int | float) and not isinstance(place, bool)
        return place if number else None

    def keys(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """Return the sorted keys of the mapping at a path; none where there is no mapping."""
        place: Any = self.value
        for key in path:
            place = place.get(key) if isinstance(place, dict) else None
        return tuple(sorted(place)) if isinstance(place, dict) else ()


def rows_of(artefact: Artefact, catalog: Catalog, paths: Paths) -> tuple[Row, ...]:
    """Return the rows of an artefact at the scale of `paths`, in the paper's order."""
    rows = []
    for name, run in artefact.rows.items():
        spec = catalog.spec(run, paths.scale)
        seeds = catalog.seeds(run, paths.scale)
        rows.append(Row(name, spec.folder, {seed: paths.manifest(spec, seed) for seed in seeds}))
    return tuple(rows)


def require(rows: Iterable[Row], target: str, verb: str, scale: str) -> None:
    """Refuse to draw rows of which manifests are missing.

    Args:
        rows: the rows.
        target: `<paper>_<artefact>`, for the message.
        verb: the command that can draw what is there.
        scale: the scale's name, for the message.

    Raises:
        FathomError: with the command that trains them and the one that draws without them.
    """
    missing = [f"{row.run} seed {seed}" for row in rows for seed in row.missing]
    if missing:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise FathomError(
            f"no manifest of {', '.join(missing[:3])}{more}",
            f"{target}, scale {scale}",
            f"train with `snakemake {target} --config scale={scale}`, or draw what is there with "
            f"`fathom {verb} {target} --scale {scale} --partial`",
        )


def read(row: Row, scale: str) -> tuple[Manifest, ...]:
    """Read the manifests of a row that exist, in the order of its seeds.

    Raises:
        FathomError: a manifest is none of this schema, or is of another scale, run or seed.
    """
    found = []
    for seed, path in row.manifests.items():
        if not path.is_file():
            continue
        value = records.read(path)
        if value["scale"] != scale:
            raise FathomError(
                f"a manifest of scale {value['scale']} among those of {scale}",
                str(path),
                "move it to its own scale's folder",
            )
        folder = f"{value['run']}-{short(value['identity'])}"
        if (folder, value["seed"]) != (row.run, seed):
            raise FathomError(
                f"the manifest of {folder} seed {value['seed']}, not of {row.run} seed {seed}",
                str(path),
                "move it to its own run's folder",
            )
        found.append(Manifest(seed, value))
    return tuple(found)

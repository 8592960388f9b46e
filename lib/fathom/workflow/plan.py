"""What a target will cost: arithmetic, seconds on a device, disk, downloads.

Hours are an estimate by what binds of arithmetic, memory and launches on a device that is named; as
soon as trainings have run, what was measured replaces it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import median

from fathom.config.demand import (
    DEVICES,
    SENTENCE,
    Device,
    layers,
    operations_per_token,
    seconds_per_update,
    vocabulary,
)
from fathom.config.schema.dataset import BuiltDataset
from fathom.config.schema.source import LocalFiles, Source
from fathom.config.spec import Spec, into_pivot
from fathom.config.tables import Table
from fathom.io.errors import FathomError
from fathom.results import training_record
from fathom.results.run_state import RunState, run_state, series
from fathom.workflow.targets import ALL, ROW, Targets

DEFAULT = "h200"
# Two states with weights and two moments in fp32, and saved weights.
_STATE, _WEIGHTS = 2 * 12, 4
# Updates after which a rate is known.
_ENOUGH = 200


@dataclass(frozen=True)
class Cost:
    """What one training costs."""

    # Of Θ. An update of φ uses the gradients of the last of its inner updates, so it adds no pass
    # through the network.
    updates: int
    tokens: int  # target tokens of all updates, as the batches are asked for
    operations: float  # of matrix products
    disk: int  # bytes of its checkpoints


@dataclass(frozen=True)
class Planned:
    """A training, run and seed, with its cost and how far it is."""

    cost: Cost
    state: RunState
    seconds: float  # of all its updates, measured or expected

    @property
    def left(self) -> float:
        """The share that is not made yet."""
        made = self.cost.updates if self.state.ended else self.state.update or 0
        return max(0.0, 1 - made / self.cost.updates)


class Plan:
    """The trainings of targets, with their costs."""

    def __init__(self, targets: Targets, gpu: str | None):
        device = device_of(gpu or DEFAULT)
        self.targets = targets
        self._specs = {name: targets.spec(name) for name in targets.built}
        self._costs = {name: cost(spec, self._lines(spec)) for name, spec in self._specs.items()}
        self._kinds = {name: _kind(spec) for name, spec in self._specs.items()}
        self._estimates = {
            name: cost.updates
            * seconds_per_update(
                self._specs[name],
                _entries(self._specs[name]),
                cost.tokens // cost.updates,
                device,
                targets.project.switches.matmul == "tf32",
            )
            for name, cost in self._costs.items()
        }
        # Seconds per update of each training that has made enough of them; where the user names a
        # device, only of those that ended on such a device.
        self.measured = {
            (name, seed): seconds
            for name, spec in self._specs.items()
            for seed in targets.seeds(name)
            if (seconds := measured_seconds(targets.paths.run(spec, seed), gpu)) is not None
        }
        # The measured time over the estimate, by the kind of network; at "" of all.
        ratios: dict[str, list[float]] = {}
        for (name, _), seconds in self.measured.items():
            ratio = seconds * self._costs[name].updates / self._estimates[name]
            for kind in (self._kinds[name], ""):
                ratios.setdefault(kind, []).append(ratio)
        self._factors = {kind: median(of_kind) for kind, of_kind in ratios.items()}

    def _lines(self, spec: Spec) -> int | None:
        """Return the lines of a run's training text, as config expects them."""
        dataset = self.targets.project.datasets[spec.data.dataset]
        return dataset.training_lines() if isinstance(dataset, BuiltDataset) else None

    def _seconds(self, name: str, seed: int) -> float:
        """Return how long a training takes or took, by what is measured of it or of others."""
        if measured := self.measured.get((name, seed)):
            return measured * self._costs[name].updates
        of_all = self._factors.get("", 1.0)
        return self._estimates[name] * self._factors.get(self._kinds[name], of_all)

    def trainings(self, names: Iterable[str]) -> dict[tuple[str, int], Planned]:
        """Return the trainings of runs and of those that they start from, by run and seed.

        A run comes after the run that it starts from.
        """
        names = dict.fromkeys(run for name in names for run in self.targets.with_start(name))
        return {
            (self._specs[name].name, seed): Planned(
                self._costs[name],
                run_state(self.targets.paths.run(self._specs[name], seed)),
                self._seconds(name, seed),
            )
            for name in names
            for seed in self.targets.seeds(name)
        }

    def groups(self, target: str, by_table: bool) -> dict[str, list[str]]:
        """Return the runs of a target by paper, or by table and figure."""
        names = self.targets.names_of(target)
        groups: dict[str, list[str]] = {}
        if not by_table:
            for name in names:
                groups.setdefault(self._specs[name].paper, []).append(name)
            return groups
        for title, artefact in self.targets.artefacts.items():
            shown = [name for name in artefact.runs if name in names]
            if shown and target in (ALL, artefact.paper.name, title, f"{title}{ROW}"):
                groups[title] = shown
        return groups

    def downloads(self, names: Iterable[str]) -> list[Source]:
        """Return the sources that runs need and that are not there."""
        project, paths = self.targets.project, self.targets.paths
        datasets = (project.datasets[self._specs[name].data.dataset] for name in names)
        built = (dataset for dataset in datasets if isinstance(dataset, BuiltDataset))
        sources = dict.fromkeys(source for dataset in built for source in dataset.sources)
        return [
            project.sources[source]
            for source in sources
            if not (paths.source(source) / "source.json").exists()
            and not isinstance(project.sources[source], LocalFiles)
        ]

    def first(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Return the rows that papers' tables say are trained first, where any run is left."""
        requested, rows = {*names}, {}
        for title, artefact in self.targets.artefacts.items():
            first = artefact.spec.settings.first if isinstance(artefact.spec, Table) else None
            runs = [run for run in artefact.rows[first.row] if run in requested] if first else []
            left = [each for each in self.trainings(runs).values() if not each.state.ended]
            if first and left:
                rows[f"{title}, row {first.row}"] = runs
        return rows


def cost(spec: Spec, lines: int | None) -> Cost:
    """Return what a training costs.

    `lines` are those of the training text, all tasks; None where config does not know them.
    """
    batch, updates = spec.training.batch, spec.training.updates
    per_update = batch.tokens * (len(spec.data.tasks) if batch.per == "task" else 1)
    if isinstance(updates, str):
        if lines is None:
            remedy = "write the number of its lines under `expected`"
            raise FathomError("the size of the text is not known", spec.data.dataset, remedy)
        updates = ceil(int(updates.split()[0]) * lines * SENTENCE / per_update)
    width, subwords, training = spec.model.width, spec.data.subwords, spec.training
    stored = layers(spec.model) + 2 * vocabulary(subwords, len(spec.data.tasks)) * width
    saved, every = training.keep_weights, training.save_every or training.validate_every
    if isinstance(every, int):
        saved = min(saved, updates // every)
    return Cost(
        updates=updates,
        tokens=updates * per_update,
        operations=updates * per_update * operations_per_token(spec, _entries(spec)),
        disk=stored * (_STATE + _WEIGHTS * saved),
    )


def _entries(spec: Spec) -> int:
    """Return the pieces of the target dictionary, as far as config says."""
    data, subwords = spec.data, spec.data.subwords
    stated = subwords.joint
    if stated is None and into_pivot(data.definition, data.direction):
        stated = subwords.english
    elif stated is None:
        stated = subwords.foreign or (subwords.per_task or 0) * len(data.tasks)
    return stated or vocabulary(subwords, 1)


def _kind(spec: Spec) -> str:
    """Return the kind of network whose trainings are slower than an estimate by a like factor."""
    if spec.model.ffn is None:
        return "recurrent"
    deep = spec.model.encoder_layers + spec.model.decoder_layers >= 48
    return "wide" if spec.model.width >= 1024 else "deep" if deep else "plain"


def device_of(name: str) -> Device:
    """Return a device of `DEVICES`, or one of a number of 10¹² operations/s."""
    if device := DEVICES.get(name.lower()):
        return device
    try:
        peak = float(name)
    except ValueError:
        peak = 0.0
    if not 0 < peak < float("inf"):
        remedy = f"choose one of {', '.join(DEVICES)}, or write its 10¹² operations/s, as 312"
        raise FathomError(f"no device '{name}'", "--gpu", remedy)
    return Device(peak, peak, peak, launch=0.0)


def measured_seconds(folder: Path, device: str | None = None) -> float | None:
    """Return the device-seconds per update of a training; None before enough updates were made.

    `device` is the type or name of the device on which it must have been trained, which is not
    recorded before it has ended; None for any device.
    """
    try:
        ended = training_record.read(folder / "training.json")
    except (FathomError, OSError):
        return None if device else _early_seconds(folder / "times.tsv")
    names = (str(ended.device.get(key, "")).lower() for key in ("type", "name"))
    if device and not any(device.lower() in name for name in names):
        return None
    seconds = training_record.device_seconds(ended.totals, ended.device)
    return seconds / ended.totals.updates if ended.totals.updates else None


def _early_seconds(path: Path) -> float | None:
    """Return the seconds per update at the first row with enough of them; None without one."""
    for row in series(path):
        update, seconds = row.get("update"), row.get("seconds")
        if update and seconds and update >= _ENOUGH:
            return seconds / update
    return None

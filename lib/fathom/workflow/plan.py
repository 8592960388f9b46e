"""What a target will cost: arithmetic, seconds on a device, disk, downloads.

Hours are an estimate by what binds of arithmetic, memory and launches on a device that is named, up
to `SLOWEST` times as much. What the trainings here have measured replaces it.
"""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import median
from typing import Any

from fathom.artefacts.needs import sources_of
from fathom.config import demand
from fathom.config.demand import DEVICES, SENTENCE, SLOWEST, Device, entries_of, kind_of
from fathom.config.measurement_keys import SCORES, is_metric
from fathom.config.schema.dataset import BuiltDataset
from fathom.config.schema.source import ByHand, LocalFiles, Source
from fathom.config.spec import Spec
from fathom.io.errors import FathomError
from fathom.results import training_record
from fathom.results.clean import size
from fathom.results.run_state import RunState, run_state, series
from fathom.workflow.targets import ROW, Targets

DEFAULT = "h200"
TRAIN, TRANSLATE = "train_run", "translate_run"
WINDOW, LIKELIHOOD = "find_best_window", "measure_likelihood"
RULES = (TRAIN, TRANSLATE, WINDOW, LIKELIHOOD)
# The rules of files of measurements that a network is needed for, beside scores of translations.
_AFTER = {"window": WINDOW, "likelihood": LIKELIHOOD}
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
class DeviceJob:
    """A job on a device, with the time that it takes, measured or expected."""

    rule: str
    run: str  # the run's full name; of a run of a study that is trained as another, that one's
    seed: int
    path: Path  # the last file that it makes
    seconds: float
    slowest: float  # seconds at most; the same once it is measured
    left: float = 1.0  # the share that is not made yet; of a training, by its last saved update

    @property
    def hours_left(self) -> tuple[float, float]:
        """Hours on one device until it is made, and at most."""
        return self.left * self.seconds / 3600, self.left * self.slowest / 3600


@dataclass(frozen=True)
class Planned:
    """A training, run and seed, with its cost and how far it is."""

    cost: Cost
    state: RunState
    job: DeviceJob


class Plan:
    """The trainings of targets, with their costs."""

    def __init__(self, targets: Targets, gpu: str | None):
        self.device = device_of(gpu or DEFAULT)
        self.targets = targets
        tf32 = targets.project.switches.matmul == "tf32"
        self._specs = {name: targets.spec(name) for name in targets.built}
        self._costs = {name: cost(spec, self._lines(spec)) for name, spec in self._specs.items()}
        self._kinds = {name: kind_of(spec.model) for name, spec in self._specs.items()}
        self._estimates = {
            name: demand.seconds_per_update(
                self._specs[name],
                entries_of(self._specs[name]),
                demand.tokens_of_update(self._specs[name]),
                self.device,
                tf32,
            )
            for name in self._specs
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
            for kind in (self._kinds[name], ""):
                ratios.setdefault(kind, []).append(seconds / self._estimates[name])
        self._factors = {kind: median(of_kind) for kind, of_kind in ratios.items()}

    def _lines(self, spec: Spec, split: str = "train") -> int | None:
        """Return the lines of a split of a run's text, as config expects them."""
        dataset = self.targets.project.datasets[spec.data.dataset]
        return dataset.lines(split) if isinstance(dataset, BuiltDataset) else None

    def seconds(self, rule: str, name: str, seed: int, split: str = "valid") -> tuple[float, float]:
        """Return how long a job takes or took on a device, and at most, by what is measured.

        What comes after a training is never measured. It is slower than estimates as trainings of
        its kind. `split` is that of a likelihood.
        """
        updates = self._costs[name].updates
        if rule != TRAIN:
            seconds = self._seconds_after(rule, name, split)
            return seconds, SLOWEST * seconds
        if measured := self.measured.get((name, seed)):
            return measured * updates, measured * updates
        seconds = self._estimates[name] * self._factor(name) * updates
        return seconds, seconds * (1 if self._kinds[name] in self._factors else SLOWEST)

    def _factor(self, name: str) -> float:
        return self._factors.get(self._kinds[name], self._factors.get("", 1.0))

    def trainings(self, names: Iterable[str]) -> dict[tuple[str, int], Planned]:
        """Return the trainings of runs and of those that they start from, by run and seed.

        A run comes after the run that it starts from.
        """
        names = dict.fromkeys(run for name in names for run in self.targets.with_start(name))
        return {
            (self._specs[name].name, seed): self._planned(name, seed)
            for name in names
            for seed in self.targets.seeds(name)
        }

    def _planned(self, name: str, seed: int) -> Planned:
        spec, known = self._specs[name], self._costs[name]
        state = run_state(self.targets.paths.run(spec, seed))
        updates = state.updates or known.updates
        # Of what has not ended, an update is left at least.
        left = 0.0 if state.ended else max(1, updates - (state.update or 0)) / updates
        if state.ended and self._again(name, seed):
            left = 1.0
        path = self.targets.paths.training(spec, seed)
        seconds = self.seconds(TRAIN, name, seed)
        return Planned(known, state, DeviceJob(TRAIN, spec.name, seed, path, *seconds, left))

    def _again(self, name: str, seed: int) -> bool:
        """Return whether a finished training is trained again from nothing."""
        return bool(self.targets.retrain(self._specs[name], seed))

    def jobs(self, target: str) -> list[DeviceJob]:
        """Return the jobs on devices of a target: its trainings, then those after them."""
        trainings = self.trainings(self.targets.names_of(target)).values()
        return [*(each.job for each in trainings), *self.others(target)]

    def others(self, target: str) -> list[DeviceJob]:
        """Return the jobs of a target after its trainings: translations, windows, likelihoods."""
        names = {
            self.targets.paths.run(spec, seed) / "measurements": (name, seed)
            for name, spec in self._specs.items()
            for seed in self.targets.seeds(name)
        }
        # Of each job its rule, run, seed, and the words of the file that it makes.
        jobs: dict[tuple[str, str, int, tuple[str, ...]], tuple[Path, bool]] = {}
        for path in self.targets.files(target):
            rule, *words = path.stem.split(".")
            if path.parent not in names:
                continue
            name, seed = names[path.parent]
            if rule in _AFTER:
                jobs[_AFTER[rule], name, seed, tuple(words)] = path, path.exists()
            elif rule == SCORES or is_metric(rule):
                asked = self.targets.decodings_done(self._specs[name], seed)
                key = TRANSLATE, name, seed, ()
                made = jobs.get(key, (asked, True))[1] and (path.exists() or asked.exists())
                jobs[key] = asked, made
        return [
            DeviceJob(
                rule,
                self._specs[name].name,
                seed,
                path,
                *self.seconds(rule, name, seed, *words[:1]),
                left=not made or self._again(name, seed),
            )
            for (rule, name, seed, words), (path, made) in jobs.items()
        ]

    def _seconds_after(self, rule: str, name: str, split: str) -> float:
        spec, of_each = self._specs[name], entries_of(self._specs[name])
        held_out = {split: self._lines(spec, split) or 0 for split in ("valid", "test")}
        if rule == LIKELIHOOD:
            seconds = demand.seconds_of_likelihood(spec, of_each, held_out[split], self.device)
        else:
            sentences = sum(held_out[split] for split, _ in self.targets.decodings(name))
            if rule == WINDOW:
                saved, inside = saved_weights(spec, self._costs[name].updates), 1
                if spec.decoding and spec.decoding.window:
                    inside = min(saved, spec.decoding.window)
                sentences = saved * held_out["valid"] + inside * held_out["test"]
            seconds = demand.seconds_of_translation(spec, of_each, sentences, self.device)
        return seconds * self._factor(name)

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
            named = target in (title, f"{title}{ROW}")
            if shown and (named or self.targets.has_part(target, artefact)):
                groups[title] = shown
        return groups

    def downloads(self, names: Iterable[str]) -> list[Source]:
        """Return the sources that runs need and that are not there, nor put by hand."""
        paths = self.targets.paths
        return [
            source
            for source in sources_of(self.targets.project, self.targets.texts(*names))
            if not (paths.source(source.name) / "source.json").exists()
            and not isinstance(source, LocalFiles)
            and not all(
                source.place_by_hand(file, paths.by_hand).exists() for file in source.contents
            )
        ]

    def fetched(self, names: Iterable[str]) -> Iterator[str]:
        """Yield what is downloaded for runs, and each file that the user must put by hand."""
        sources = self.downloads(names)
        by_hand = [source for source in sources if isinstance(source, ByHand)]
        fetched = [source for source in sources if not isinstance(source, ByHand)]
        line = f"downloads: {len(fetched) or 'none'}"
        if fetched:
            known = [source.about for source in fetched if source.about is not None]
            about = "about " if any(source.size is None for source in fetched) else ""
            line += f", {about}{gigabytes(sum(known))}"
            unknown = len(fetched) - len(known)
            line += f" and {unknown} of unknown size" if unknown else ""
        if by_hand:
            line += f"; {len(by_hand)} files by hand: {', '.join(each.file for each in by_hand)}"
        yield line
        # A corpus in several files has the same steps for each.
        of_steps: dict[str, list[str]] = {}
        for each in by_hand:
            of_steps.setdefault(each.steps, []).append(each.file)
        yield from (f"  {', '.join(files)}: {steps}" for steps, files in of_steps.items())

    def written(self, names: Iterable[str]) -> Counter[str]:
        """Return the bytes that trainings still write, by run; checkpoints are most of it."""
        sizes: Counter[str] = Counter()
        for (run, seed), each in self.trainings(names).items():
            if not each.state.ended:
                spec = self.targets.spec(run)
                there = size(self.targets.paths.run(spec, seed)) if each.state.update else 0
                sizes[run] += max(each.cost.disk - there, 0)
        return sizes

    def disk(self, names: Iterable[str]) -> str:
        """Return what trainings still write, the run that writes most, and the room for it."""
        sizes = self.written(names)
        if not sizes.total():
            return "disk: nothing more"
        [(most, of_it)] = sizes.most_common(1)
        free, results = free_space(self.targets.paths.results), self.targets.paths.results
        room = "" if sizes.total() < free else "; not enough"
        return (
            f"disk: {gigabytes(sizes.total())}, of which {most} takes most ({gigabytes(of_it)}); "
            f"{gigabytes(free)} free in {results}{room}"
        )


def cost(spec: Spec, lines: int | None) -> Cost:
    """Return what a training costs.

    `lines` are those of the training text, all tasks; None where config does not know them.
    """
    updates, per_update = spec.training.updates, demand.tokens_of_update(spec)
    if isinstance(updates, str):
        if lines is None:
            remedy = "write the number of its lines under `expected`"
            raise FathomError("the size of the text is not known", spec.data.dataset, remedy)
        updates = ceil(int(updates.split()[0]) * lines * SENTENCE / per_update)
    entries = demand.vocabulary(spec.data.subwords, len(spec.data.tasks))
    stored = demand.layers(spec.model) + 2 * entries * spec.model.width
    return Cost(
        updates=updates,
        tokens=updates * per_update,
        operations=updates * per_update * demand.operations_per_token(spec, entries_of(spec)),
        disk=stored * (_STATE + _WEIGHTS * saved_weights(spec, updates)),
    )


def saved_weights(spec: Spec, updates: int) -> int:
    """Return how many saved weights a training keeps."""
    every = spec.training.save_every or spec.training.validate_every
    kept = spec.training.keep_weights
    return min(kept, updates // every) if isinstance(every, int) else kept


def free_space(folder: Path) -> int:
    """Return the bytes that are free where a folder is, or will be."""
    places = (folder.absolute(), *folder.absolute().parents)
    return shutil.disk_usage(next(each for each in places if each.is_dir())).free


def gigabytes(size: float) -> str:
    """Return bytes in GB with three digits that count."""
    number = size / 1e9
    return f"{number:,.3g} GB" if number < 100 else f"{number:,.0f} GB"


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
    if not _is_on(ended.device, device):
        return None
    seconds = training_record.device_seconds(ended.totals, ended.device)
    return seconds / ended.totals.updates if ended.totals.updates else None


def _is_on(facts: Mapping[str, Any], device: str | None) -> bool:
    """Return whether the type or name of a device is the named one; any is where None is named."""
    names = (str(facts.get(key)).lower() for key in ("type", "name"))
    return device is None or any(device.lower() in name for name in names)


def _early_seconds(path: Path) -> float | None:
    """Return the seconds per update at the first row with enough of them; None without one."""
    for row in series(path):
        update, seconds = row.get("update"), row.get("seconds")
        if update and seconds and update >= _ENOUGH:
            return seconds / update
    return None

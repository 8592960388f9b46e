"""The runs of a page: trainings, what they took, settings that differ from the paper's, logs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.deviations import applying
from fathom.artefacts.table.comparison import ComparedTable
from fathom.artefacts.table.sources import NOT_RUN, ResultSource
from fathom.config.deviations import Deviation
from fathom.config.paper import Paper
from fathom.config.show import Setting, describe
from fathom.config.spec import full_name
from fathom.results import training_record
from fathom.results.training_record import TrainingRecord, device_seconds

WATTS_OF_A_THREAD = 8.0
WATTS_OF_A_GPU = 400.0
# Power of a board by its maker's data sheet, by a word of the device's name.
WATTS_BY_NAME = {"B200": 1000.0, "H200": 700.0, "H100": 700.0, "A100": 400.0, "V100": 300.0}
BUILDING = 1.2  # energy of the building for each unit that computes
HOUR = 3600
ASSUMPTION = (
    f"Nothing was metered. Assumed: {WATTS_OF_A_THREAD:g} W for a busy thread of a CPU; for a GPU "
    "the power on its data sheet "
    f"({', '.join(f'{name} {watts:g} W' for name, watts in WATTS_BY_NAME.items())}, others "
    f"{WATTS_OF_A_GPU:g} W); times {BUILDING:g} for the building."
)


@dataclass(frozen=True)
class PageTraining:
    """One training of a run."""

    seed: int
    folder: Path
    file: TrainingRecord | None  # None before it has ended
    logs: tuple[Path, ...]  # what its jobs printed

    @property
    def below_unigram(self) -> float | None:
        """By how much the last validation NLL is below the unigram baseline, in nats per token."""
        if self.file is None or self.file.validation is None:
            return None
        return self.file.unigram_nll - self.file.validation.nll


@dataclass(frozen=True)
class PageRun:
    """A run that a table or figure of the paper shows."""

    name: str  # `<paper>/<run>`
    identity: str  # SHA-256 of its settings
    comparable: bool  # whether all of its settings are the paper's
    trainings: tuple[PageTraining, ...]  # by seed
    differing: tuple[Setting, ...]  # the settings that are not the paper's
    deviations: tuple[Deviation, ...]  # the entries that apply to it
    source: ResultSource

    @property
    def fragment(self) -> str:
        """The id of its details on the page."""
        return f"run-{self.name.replace('/', '-')}"

    @property
    def short_name(self) -> str:
        """Its name without the paper's."""
        return self.name.rpartition("/")[2]

    @cached_property
    def ended(self) -> tuple[PageTraining, ...]:
        """The trainings that have ended."""
        return tuple(training for training in self.trainings if training.file)

    @property
    def below_unigram(self) -> float | None:
        """The mean over its trainings that have a validation; None without one."""
        nats = [item.below_unigram for item in self.ended if item.below_unigram is not None]
        return fmean(nats) if nats else None

    @property
    def learned(self) -> bool:
        """Whether every training that has ended is below the unigram baseline."""
        return bool(self.ended) and all((item.below_unigram or 0) > 0 for item in self.ended)

    @property
    def words(self) -> str:
        """How it ended, where it has no number of nats."""
        kinds = dict.fromkeys(item.file.outcome.kind for item in self.ended if item.file)
        return ", ".join(kind.replace("_", " ") for kind in kinds) or NOT_RUN


@dataclass(frozen=True)
class TrainingCost:
    """What one or several trainings took."""

    name: str  # the run, or the device
    device: str  # what it ran on
    trainings: int
    seconds: float  # of all devices together; loading and validation included
    tokens: int  # target tokens without padding
    watt_hours: float  # of energy, under the assumption

    @property
    def hours(self) -> float:
        """Hours of the device."""
        return self.seconds / HOUR

    @property
    def pace(self) -> float | None:
        """Target tokens per second."""
        return self.tokens / self.seconds if self.seconds else None


def runs_of(
    artefacts: Artefacts, paper: Paper, tables: Mapping[str, ComparedTable]
) -> dict[str, PageRun]:
    """Return the runs that a paper's tables and figures show, by full name.

    Raises:
        FathomError: If a file of a training is damaged.
    """
    shown: dict[str, list[str]] = {}
    for name, table in tables.items():
        for item in table.cells:
            if item.result.cell.kind == "run":
                shown.setdefault(item.result.cell.source, []).append(name)
    for figure in paper.figures.values():
        for run in figure.settings.runs:
            shown.setdefault(full_name(paper.name, run), []).append(figure.name)
    return {name: _run(artefacts, paper, name, names) for name, names in shown.items()}


def costs(runs: Iterable[PageRun]) -> list[TrainingCost]:
    """Return what each run took, in the order of the runs; those that did not run are left out."""
    return [cost for run in runs for cost in _costs(run.ended, run.short_name)]


def costs_by_device(runs: Iterable[PageRun]) -> list[TrainingCost]:
    """Return what all runs together took, on each device."""
    trainings = [training for run in runs for training in run.ended]
    return list(_costs(trainings))


def _run(artefacts: Artefacts, paper: Paper, name: str, shown: list[str]) -> PageRun:
    """Return a run; `shown` names the tables and figures that show it."""
    project, source = artefacts.project, artefacts.source(name)
    names = {*shown, *project.entries[name].ancestors, project.run(name).method.name}
    settings = describe(project, name, artefacts.scale)
    return PageRun(
        name=name,
        identity=source.identity,
        comparable=source.comparable,
        trainings=tuple(_training(artefacts, name, seed) for seed in source.folders),
        differing=tuple(setting for setting in settings if setting.changed),
        deviations=applying(paper, names),
        source=source,
    )


def _training(artefacts: Artefacts, name: str, seed: int) -> PageTraining:
    spec, paths = artefacts.project.spec(name, artefacts.scale), artefacts.paths
    path = paths.training(spec, seed)
    file = training_record.read(path) if path.is_file() else None
    # Snakemake's logs have the names of the rule, the paper, and the run's folder with the seed.
    job = f"logs/*/{spec.paper}/{spec.folder}.{seed}"
    printed = sorted((*paths.results.glob(f"{job}.log"), *paths.results.glob(f"{job}.*.log")))
    log = path.with_name("train.log")
    logs = [log, *printed] if log.is_file() else printed
    return PageTraining(seed, path.parent, file, tuple(logs))


def _device(device: Mapping[str, Any]) -> str:
    """Return a device in words."""
    threads, words = device.get("threads"), str(device.get("name", "unknown"))
    return f"{words}, {threads} thread{'s' if threads > 1 else ''}" if threads else words


def _costs(trainings: Iterable[PageTraining], name: str = "") -> Iterator[TrainingCost]:
    """Yield what trainings took on each device; without a name the device is the name."""
    files: dict[str, list[TrainingRecord]] = {}
    for training in trainings:
        if training.file:
            files.setdefault(_device(training.file.device), []).append(training.file)
    for device, alike in files.items():
        seconds = [device_seconds(file.totals, file.device) for file in alike]
        joules = [_watts(file.device) * of for file, of in zip(alike, seconds, strict=True)]
        yield TrainingCost(
            name=name or device,
            device=device,
            trainings=len(alike),
            seconds=sum(seconds),
            tokens=sum(file.totals.target_tokens for file in alike),
            watt_hours=sum(joules) / HOUR,
        )


def _watts(device: dict) -> float:
    """Return the power that a device is assumed to take, the building's included."""
    if device.get("type") == "cpu":
        return WATTS_OF_A_THREAD * (device.get("threads") or 1) * BUILDING
    name = str(device.get("name", ""))
    watts = (watts for word, watts in WATTS_BY_NAME.items() if word in name)
    return next(watts, WATTS_OF_A_GPU) * BUILDING

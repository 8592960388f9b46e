"""The runs of a page: trainings, what they took, settings that differ from the paper's, logs."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from statistics import fmean

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.deviations import applying
from fathom.artefacts.table.comparison import ComparedTable
from fathom.artefacts.table.sources import ResultSource
from fathom.config.deviations import Deviation
from fathom.config.paper import Paper
from fathom.config.show import Setting, describe
from fathom.config.spec import Spec, full_name
from fathom.io.files import is_there
from fathom.results import training_record
from fathom.results.training_record import TrainingRecord, device_seconds

HOUR = 3600
HASH = 12  # digits that are shown


@dataclass(frozen=True)
class PageTraining:
    """One training of a run."""

    seed: int
    folder: Path
    file: TrainingRecord | None  # None before it has ended


@dataclass(frozen=True)
class PageRun:
    """A run that a table or figure of the paper shows."""

    source: ResultSource
    spec: Spec  # at the page's scale
    trainings: tuple[PageTraining, ...]  # by seed
    differing: tuple[Setting, ...]  # the settings that are not the paper's
    deviations: tuple[Deviation, ...]  # the entries that apply to it

    @property
    def short_name(self) -> str:
        """Its name without the paper's."""
        return self.source.name.rpartition("/")[2]

    @cached_property
    def ended(self) -> tuple[PageTraining, ...]:
        """The trainings that have ended."""
        return tuple(training for training in self.trainings if training.file)

    @property
    def has_other_width(self) -> bool:
        """Whether its network is not as wide as the paper's."""
        return any(setting.path == "model.width" for setting in self.differing)

    @cached_property
    def facts(self) -> dict[str, str]:
        """Settings with the value here and, in brackets, the paper's; what trainings recorded.

        What differs between seeds names them.
        """
        text = partial(json.dumps, allow_nan=False)
        facts = {each.path: f"{text(each.value)} ({text(each.paper)})" for each in self.differing}
        seeds: dict[str, dict[str, list[str]]] = {}
        for training in self.ended:
            for name, value in _recorded(training.file).items() if training.file else ():
                seeds.setdefault(name, {}).setdefault(value, []).append(str(training.seed))
        for name, of in seeds.items():
            several = (f"{value} (seed {', '.join(some)})" for value, some in of.items())
            facts[name] = "; ".join(several if len(of) > 1 else of)
        return facts

    def unusual(self, usual: Mapping[str, str]) -> dict[str, str]:
        """Return its facts that are not the usual ones, and the names of those that it lacks."""
        lacking = ", ".join(name for name in usual if name not in self.facts)
        rest = {name: text for name, text in self.facts.items() if usual.get(name) != text}
        return rest | ({"unchanged:": lacking} if lacking else {})

    @cached_property
    def nats(self) -> list[float | None]:
        """By how much the last NLL of each that ended is below the unigram baseline, per token."""
        files = [item.file for item in self.ended if item.file]
        return [file.validation and file.unigram_nll - file.validation.nll for file in files]

    @property
    def below_unigram(self) -> float | None:
        """The mean over its trainings that have a validation; None without one."""
        nats = [value for value in self.nats if value is not None]
        return fmean(nats) if nats else None

    @property
    def learned(self) -> bool:
        """Whether every training that has ended is below the unigram baseline."""
        return bool(self.nats) and all((value or 0) > 0 for value in self.nats)

    @property
    def words(self) -> str:
        """How it ended, where it has no number of nats."""
        kinds = dict.fromkeys(item.file.outcome.kind for item in self.ended if item.file)
        return ", ".join(kind.replace("_", " ") for kind in kinds) or self.source.missing()


@dataclass(frozen=True)
class TrainingCost:
    """What the trainings on a device took."""

    device: str
    trainings: int
    hours: float  # of all devices together; loading and validation included
    tokens: int  # target tokens without padding

    @property
    def pace(self) -> float | None:
        """Target tokens per second."""
        return self.tokens / (self.hours * HOUR) if self.hours else None


def runs_of(
    artefacts: Artefacts, paper: Paper, tables: Mapping[str, ComparedTable]
) -> dict[str, PageRun]:
    """Return the runs that a paper's tables and figures show, by full name."""
    shown: dict[str, list[str]] = {}
    for name, table in tables.items():
        for item in table.cells:
            if item.result.cell.kind == "run":
                shown.setdefault(item.result.cell.source, []).append(name)
    for figure in paper.figures.values():
        for run in figure.settings.runs:
            shown.setdefault(full_name(paper.name, run), []).append(figure.name)
    project, runs = artefacts.project, {}
    for name, artefact_names in shown.items():
        source, method = artefacts.source(name), project.run(name).method.name
        settings = describe(project, name, artefacts.scale)
        runs[name] = PageRun(
            source=source,
            spec=project.spec(name, artefacts.scale),
            trainings=tuple(_training(artefacts, name, seed) for seed in source.folders),
            differing=tuple(setting for setting in settings if setting.changed),
            deviations=applying(
                paper, {*artefact_names, *project.ancestors_in(paper.name, name), method}
            ),
        )
    return runs


def _training(artefacts: Artefacts, name: str, seed: int) -> PageTraining:
    spec, paths = artefacts.project.spec(name, artefacts.scale), artefacts.paths
    path = paths.training(spec, seed)
    file = training_record.read(path) if is_there(path) else None
    return PageTraining(seed, path.parent, file)


def _recorded(file: TrainingRecord) -> dict[str, str]:
    """Return what a training read and ran with, as its record says."""
    return {
        "corpus": file.corpus_sha256[:HASH],
        "encoded text": file.tensors_sha256[:HASH],
        "code": file.sources_sha256[:HASH] + (f", commit {file.commit}" if file.commit else ""),
        "recipe": str(file.recipe),
        "versions": ", ".join(f"{name} {version}" for name, version in file.versions.items()),
        "device": file.device_words,
    }


def usual_facts(runs: Iterable[PageRun]) -> dict[str, dict[str, str]]:
    """Return the facts that most runs on a data set have, by its name; none where there is one."""
    usual = {}
    for dataset, alike in _by_text(runs).items():
        names = dict.fromkeys(name for run in alike for name in run.facts)
        most = {name: Counter(run.facts.get(name, "") for run in alike) for name in names}
        common = {name: values.most_common(1)[0][0] for name, values in most.items()}
        usual[dataset] = {name: text for name, text in common.items() if text and len(alike) > 1}
    return usual


def shared_deviations(runs: Iterable[PageRun]) -> dict[str, tuple[Deviation, ...]]:
    """Return the deviations that all runs on a data set have, by its name; none where one is."""
    return {
        dataset: tuple(
            each
            for each in alike[0].deviations
            if len(alike) > 1 and all(each in run.deviations for run in alike)
        )
        for dataset, alike in _by_text(runs).items()
    }


def _by_text(runs: Iterable[PageRun]) -> dict[str, list[PageRun]]:
    on: dict[str, list[PageRun]] = {}
    for run in runs:
        on.setdefault(run.spec.data.dataset, []).append(run)
    return on


def costs(trainings: Iterable[PageTraining]) -> Iterator[TrainingCost]:
    """Yield what ended trainings took on each device."""
    files: dict[str, list[TrainingRecord]] = {}
    for training in trainings:
        if training.file:
            files.setdefault(training.file.device_words, []).append(training.file)
    for device, alike in files.items():
        yield TrainingCost(
            device=device,
            trainings=len(alike),
            hours=sum(device_seconds(file.totals, file.device) for file in alike) / HOUR,
            tokens=sum(file.totals.target_tokens for file in alike),
        )

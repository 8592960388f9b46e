"""The runs of a page: trainings, settings that differ from the paper's, deviations, logs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.page.deviations import applying
from fathom.artefacts.table.comparison import ComparedTable
from fathom.artefacts.table.sources import NOT_RUN, Source
from fathom.config.deviations import Deviation
from fathom.config.paper import Paper
from fathom.config.show import Setting, describe
from fathom.config.spec import full_name
from fathom.results import training_file
from fathom.results.training_file import TrainingFile


@dataclass(frozen=True)
class Training:
    """One training of a run.

    Attributes:
        seed: its seed.
        folder: the folder of the training.
        file: its training.json; None before it has ended.
        logs: what its jobs printed.
    """

    seed: int
    folder: Path
    file: TrainingFile | None
    logs: tuple[Path, ...]

    @property
    def below_unigram(self) -> float | None:
        """By how much the last validation NLL is below the unigram baseline, in nats a token."""
        if self.file is None or self.file.validation is None:
            return None
        return self.file.unigram_nll - self.file.validation.nll


@dataclass(frozen=True)
class Run:
    """A run that a table or figure of the paper shows.

    Attributes:
        name: `<paper>/<run>`.
        identity: SHA-256 of its settings.
        comparable: whether all of its settings are the paper's.
        trainings: by seed.
        differing: the settings that are not the paper's.
        deviations: the entries that apply to it.
        source: its measurements.
    """

    name: str
    identity: str
    comparable: bool
    trainings: tuple[Training, ...]
    differing: tuple[Setting, ...]
    deviations: tuple[Deviation, ...]
    source: Source

    @property
    def fragment(self) -> str:
        """The id of its details on the page."""
        return f"run-{self.name.replace('/', '-')}"

    @property
    def short_name(self) -> str:
        """Its name without the paper's."""
        return self.name.rpartition("/")[2]

    @cached_property
    def ended(self) -> tuple[Training, ...]:
        """The trainings that have ended."""
        return tuple(training for training in self.trainings if training.file)

    @property
    def below_unigram(self) -> float | None:
        """The mean over its trainings that have a validation; None without one."""
        known = [item.below_unigram for item in self.ended if item.below_unigram is not None]
        return fmean(known) if known else None

    @property
    def learned(self) -> bool:
        """Whether every training that has ended is below the unigram baseline."""
        return bool(self.ended) and all((item.below_unigram or 0) > 0 for item in self.ended)

    @property
    def words(self) -> str:
        """How it ended, where it has no number of nats."""
        kinds = dict.fromkeys(item.file.outcome.kind for item in self.ended if item.file)
        return ", ".join(kind.replace("_", " ") for kind in kinds) or NOT_RUN


def runs_of(
    artefacts: Artefacts, paper: Paper, tables: Mapping[str, ComparedTable]
) -> dict[str, Run]:
    """Return the runs that tables and figures of a paper show, by full name.

    Args:
        artefacts: where all files are.
        paper: the paper.
        tables: its tables by name.

    Raises:
        FathomError: a file of a training is damaged.
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


def _run(artefacts: Artefacts, paper: Paper, name: str, shown: list[str]) -> Run:
    project, source = artefacts.project, artefacts.source(name)
    names = {*shown, *project.entries[name].ancestors, project.run(name).method.name}
    settings = describe(project, name, artefacts.scale)
    return Run(
        name=name,
        identity=source.identity,
        comparable=source.comparable,
        trainings=tuple(_training(artefacts, name, seed) for seed in source.folders),
        differing=tuple(setting for setting in settings if setting.changed),
        deviations=applying(paper, names),
        source=source,
    )


def _training(artefacts: Artefacts, name: str, seed: int) -> Training:
    spec, paths = artefacts.project.spec(name, artefacts.scale), artefacts.paths
    path = paths.training(spec, seed)
    file = training_file.read(path) if path.is_file() else None
    # Snakemake's logs have the names of the rule, the paper, and the run's folder with the seed.
    job = f"logs/*/{spec.paper}/{spec.folder}.{seed}"
    printed = sorted((*paths.results.glob(f"{job}.log"), *paths.results.glob(f"{job}.*.log")))
    own = path.with_name("train.log")
    logs = [own, *printed] if own.is_file() else printed
    return Training(seed, path.parent, file, tuple(logs))

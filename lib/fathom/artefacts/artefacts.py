"""What tables and figures are drawn from: the files of runs and corpora at a scale."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

from fathom.artefacts.figures.inputs import Inputs, RunFiles
from fathom.artefacts.needs import Needs, by_hand
from fathom.artefacts.parameters import untrained_size
from fathom.artefacts.table.comparison import ComparedTable, compare_table
from fathom.artefacts.table.sources import CORPUS, ResultSource
from fathom.config.measurement_keys import SCORES, file_of, is_metric
from fathom.config.paper import Figure, Paper
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.config.schema.dataset import (
    Dataset,
    ParallelDataset,
    TalkDataset,
    WikipediaDataset,
)
from fathom.config.spec import Spec, full_name
from fathom.config.switches import seeds_text
from fathom.config.tables import Cell, Table, setting_numbers
from fathom.io.errors import FathomError
from fathom.io.files import is_there, sha256
from fathom.io.records import read_record

NAMED = 3  # missing runs that a message names


@dataclass(frozen=True)
class Artefacts:
    """Tables and figures at one scale, with the places of what they show."""

    project: Project
    paths: Paths
    # In place of the seeds that runs have at the scale; "all": these and all others that are
    # trained.
    seeds: tuple[int, ...] | Literal["all"] | None = None
    _sources: dict[str, ResultSource] = field(default_factory=dict, repr=False, compare=False)

    @property
    def scale(self) -> str:
        """The scale's name."""
        return self.paths.scale

    def source(self, name: str) -> ResultSource:
        """Return a run, `<paper>/<run>`, or a data set, with the places of its measurements."""
        if name not in self._sources:
            is_text = name in self.project.datasets
            self._sources[name] = (
                self.corpus(name, self._needs.dataset(name)) if is_text else self._run(name)
            )
        return self._sources[name]

    @property
    def _needs(self) -> Needs:
        return Needs(self.project, self.scale)

    @property
    def files_read(self) -> list[Path]:
        """The measurement files that tables and figures were drawn from so far."""
        return [path for source in self._sources.values() for path in source.files_read]

    @property
    def decodings_gone(self) -> int:
        """How many decodings are not there of which scores were read."""
        files = (
            (path.parents[1] / "decodings", *path.stem.partition(".")) for path in self.files_read
        )
        places = {at / name for at, rule, _, name in files if rule == SCORES or is_metric(rule)}
        return sum(not place.is_dir() for place in places)

    def with_seeds(self, seeds: tuple[int, ...] | None) -> "Artefacts":
        """Return the same with other seeds; None leaves those that there are."""
        return replace(self, seeds=seeds, _sources={}) if seeds else self

    def _run(self, name: str) -> ResultSource:
        spec, seeds = self.project.spec(name, self.scale), self.seeds_of(name)
        trained = self._trained(name)
        shown = (self.paths.training(spec, seed) for seed in trained if seed in seeds)
        text_of, unproved = self._proof(spec.data.dataset, shown)
        comparable = self.project.comparable(name, self.scale, text_of)
        dataset = self.project.datasets[spec.data.dataset]
        is_papers = comparable or self.project.spec(name).data.dataset == spec.data.dataset
        return ResultSource(
            name,
            {seed: self.paths.run(spec, seed) / "measurements" for seed in seeds},
            stem=partial(file_of, spec=spec),
            identity=spec.identity,
            comparable=comparable,
            unproved=unproved,
            rebuilt=comparable and _is_rebuilt(dataset),
            needs=self.awaited(self._needs.texts(name)),
            unused=tuple(seed for seed in trained if seed not in seeds),
            decoding=partial(self.paths.decoding, spec),
            shown_as=dataset.shown_as,
            text="" if is_papers else dataset.title,
            layers=spec.model.depth,
            updates=spec.training.updates,
            paper_layers=self.project.spec(name).model.depth,
            hard_gates=_hard_gates(spec),
            average_of=spec.decoding.average_of if spec.decoding else 1,
            method=spec.method.name,
            settings=partial(setting_numbers, self.project.run(name, self.scale)),
            untrained_size=partial(untrained_size, self.project, self.paths, name),
        )

    def seeds_of(self, name: str) -> tuple[int, ...]:
        """Return the seeds of a run that are shown."""
        of_scale = self.project.seeds(name, self.scale)
        if self.seeds == "all":
            return tuple(sorted(self._trained(name))) or of_scale
        return self.seeds or of_scale

    def cells(self, table: Table) -> tuple[Cell, ...]:
        """Return a table's cells; tasks are those of the data at the scale."""
        return self.project.cells(table, self.scale)

    def compared(self, paper: Paper, table: Table) -> ComparedTable:
        """Return a table with all of its cells, from the measurements that exist."""
        cells = self.cells(table)
        targets = dict.fromkeys(full_name(table.paper, mark.to) for mark in table.marks.values())
        # In the order of the cells: notes list what sources say.
        names = dict.fromkeys(cell.source for cell in cells if cell.source)
        names |= {name: None for name in targets if self.project.has_run(name)}
        sources = {name: self.source(name) for name in names}
        printed = paper.printed(table.name, self.project.cells(table))
        return compare_table(table, cells, printed, sources, self.scale)

    def inputs(self, paper: Paper, figure: Figure) -> Inputs:
        """Return everything that a figure is drawn from."""
        tables = {name: paper.tables[name] for name in figure.settings.tables}
        return Inputs(
            reference=paper.about.reference,
            scale=self.scale,
            runs={name: self.run(full_name(paper.name, name)) for name in figure.settings.runs},
            tables={name: self.compared(paper, table) for name, table in tables.items()},
            sentences=self.project.sentences(paper.name, figure.name),
        )

    def run(self, name: str) -> RunFiles:
        """Return the trainings of a run, which figures draw."""
        return RunFiles(self.source(name), self.project.spec(name, self.scale).training.updates)

    def require(self, paper: Paper, spec: Table | Figure) -> None:
        """Refuse to draw what has missing files.

        The error has the command that trains them, or why they cannot be trained yet, and the
        command that draws the rest.
        """
        artefact, missing = self._needs.of(paper, spec), {}
        for cell in artefact.cells:
            for seed, path in self.source(cell.source).files(cell.key).items():
                if not is_there(path):
                    missing[cell.source if seed == CORPUS else f"{cell.source} seed {seed}"] = None
        for name in artefact.series:
            for run in self.run(name).trainings:
                if not is_there(run.folder / "training.json"):
                    missing[f"{run.name} seed {run.seed}"] = None
        if not missing:
            return
        target = artefact.target
        seeds = seeds_text(self.seeds) if isinstance(self.seeds, tuple) else self.seeds
        draw = self.paths.command(artefact.verb, target) + (f" --seeds {seeds}" if seeds else "")
        partial = f"draw the rest with `{draw} --partial`"
        if reason := self._needs.not_built(artefact):
            raise FathomError(f"cannot be made yet: {reason}", target, partial)
        names = [*missing]
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        what = f"no measurements of {', '.join(names[:NAMED])}{more} in {self.paths.searched}"
        train = f"train with `{self.paths.target(target, None if seeds == 'all' else seeds)}`"
        raise FathomError(what, f"{target}, scale {self.scale}", f"{train}, or {partial}")

    def stem(self, paper: Paper, artefact: Table | Figure) -> Path:
        """Return the common path, without suffix, of an artefact's files."""
        return self.paths.artefact(paper.name, artefact.name, "csv").with_suffix("")

    def corpus(self, name: str, here: str) -> ResultSource:
        """Return a data set with the place of what was counted in it; `here` takes its place."""
        dataset = self.project.datasets[here]
        drawn = isinstance(dataset, WikipediaDataset) and dataset.split.train
        folder = self.paths.corpus_named(dataset.corpus_folder(self.project.sources))
        text_of, unproved = self._proof(here)
        comparable = name in (here, text_of)
        return ResultSource(
            name,
            {CORPUS: folder},
            stem=lambda _: "statistics",
            comparable=comparable,
            unproved=unproved,
            rebuilt=comparable and _is_rebuilt(dataset),
            needs=self.awaited([here]),
            shown_as=dataset.shown_as,
            text="" if comparable else dataset.title,
            by_construction=("sentences.train",) if drawn else (),
        )

    def awaited(self, datasets: Iterable[str]) -> str:
        """Return the name of the file that data sets wait for, which only the user can get."""
        file = by_hand(self.project, self.paths, datasets)
        return file.file if file else ""

    def _proof(self, dataset: str, trainings: Iterable[Path] = ()) -> tuple[str | None, str]:
        """Return the data set whose text a data set's is proved to be, or why it is not proved.

        The counts prove nothing of a training that read another corpus.json. Text that is rebuilt
        by its card needs no proof: a verdict on it says so.
        """
        card = self.project.datasets[dataset]
        if isinstance(card, TalkDataset):
            return card.rebuilds, ""
        if not isinstance(card, ParallelDataset) or card.proof is None:
            return None, ""
        folder = self.paths.corpus_named(card.corpus_folder(self.project.sources))
        path = folder / "corpus.json"
        found = read_record(path).get("proof", {}).get("found", {}) if is_there(path) else {}
        doubt = card.proof.doubt(found)
        records = (read_record(each) if is_there(each) else {} for each in trainings)
        if not doubt and any(each.get("corpus_sha256") != sha256(path) for each in records):
            doubt = f"its training read other text than {folder.name} has now; train it again"
        return (None, doubt) if doubt else (card.proof.text_of, "")

    def _trained(self, name: str) -> list[int]:
        """Return the seeds with which a run was trained, whoever asked for them."""
        folder = self.paths.run(self.project.spec(name, self.scale), 0).parent
        names = (path.parents[1].name for path in folder.glob("*/measurements/training.json"))
        return sorted(int(seed) for seed in names if seed.isdecimal())


def _is_rebuilt(card: Dataset) -> bool:
    """Return whether a data set's text is that of another one but for some lines."""
    return isinstance(card, TalkDataset) and card.rebuilds is not None


def _hard_gates(spec: Spec) -> str:
    """Return which layers the hard gates of a run leave out, in words."""
    threshold = spec.method.settings.get("hard_threshold")
    if threshold is None:
        return ""
    most = spec.decoding.hard_at_least if spec.decoding else 0
    but = {0: "", 1: " but for the likeliest one"}.get(most, f" but for the {most} likeliest")
    return f"layers with p < {threshold:g}{but}"

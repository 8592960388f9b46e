"""Targets that a user can request, and the look-ups of the rules that make their files."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import filter as fitting
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from fathom.artefacts.needs import Artefact, Needs, by_hand
from fathom.config.measurement_keys import file_name, file_of
from fathom.config.paths import Paths
from fathom.config.schema.dataset import Dataset
from fathom.config.spec import DataSpec, Spec
from fathom.io.errors import FathomError, nearest, unknown
from fathom.io.files import is_there
from fathom.io.records import identity, read_record, short
from fathom.results.recipe import RECIPE
from fathom.results.tree import SEEDS

T = TypeVar("T")
ENDINGS = {
    "table": (".csv", SEEDS, ".md", ".tex", ".html"),
    "figure": (".csv", ".pdf", ".png"),
}
ALL, COMPARE, CLAIMS, PAGE = "all", "compare", "claims", "page"
STATISTICS, ROW, RUN = "data_statistics", "_row", "run"
# Targets that read what exists and wait for nothing.
READING = (COMPARE, CLAIMS, PAGE)
TRAINING = "training"


@dataclass(frozen=True)
class Targets(Needs):
    """The targets at a scale, and the files of each.

    Rules know runs and text by folders: `<paper>/<run>-<hash8>` and `<data set>-<hash8>`. A look-up
    of what cannot be made yet, or of a name or folder that is not there, raises a FathomError.
    """

    paths: Paths
    gpus: int = 0  # GPUs that a training asks Snakemake for
    # Whether what waits for a file that only the user can get is left out, as a start does.
    ready_only: bool = False

    # What a user can type, and what it needs.

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every target that a user can type."""
        rows = tuple(f"{target}{ROW}" for target in self.tables)
        return (
            ALL,
            *READING,
            STATISTICS,
            RUN,
            *self.project.papers,
            *self.artefacts,
            *rows,
        )

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """The targets of tables whose rows are runs, which can be made row by row."""
        return tuple(
            name for name, item in self.artefacts.items() if item.verb == "table" and item.rows
        )

    def unknown(self, target: str) -> FathomError:
        """Return the message about a mistyped target."""
        missing = self.project.files.absent_for(target)
        return missing or unknown("target", target, "command line", self.names)

    def artefact(self, target: str) -> Artefact:
        """Return a table or figure that can be made."""
        if target not in self.artefacts:
            raise self.unknown(target)
        if target in self.artefacts_not_built:
            what = f"cannot be made yet: {self.artefacts_not_built[target]}"
            raise FathomError(what, target, "ask for another target: `fathom list artefacts`")
        return self.artefacts[target]

    @cached_property
    def artefacts_not_built(self) -> dict[str, str]:
        """Why a table or figure cannot be made yet, by target; what is built is left out."""
        reasons = {
            name: self.not_built(item)
            or next((self.waiting[run] for run in item.runs if run in self.waiting), "")
            or self._step(map(self.dataset, item.corpora))
            for name, item in self.artefacts.items()
        }
        return {name: reason for name, reason in reasons.items() if reason}

    def artefacts_of(self, target: str) -> list[Artefact]:
        """Return the tables and figures of a target that can be made."""
        if target in self.artefacts:
            return [self.artefacts[target]]
        built = [
            item
            for name, item in self.artefacts.items()
            if name not in self.artefacts_not_built
            and (self.has_part(target, item) or (target == STATISTICS and not item.runs))
        ]
        if target in self.project.papers and not built:
            what = "none of its tables and figures is built yet"
            raise FathomError(what, target, "`fathom list artefacts` shows what each waits for")
        return built

    def has_part(self, target: str, item: Artefact) -> bool:
        """Return whether a target is `all`, or a paper, of which a table or figure is a part."""
        return target in (ALL, item.paper.name) and not item.is_control

    def names_of(self, target: str) -> list[str]:
        """Return the full names of the runs that a target needs, those that are built."""
        key = "run" if target == RUN else "row" if target.endswith(ROW) else ""
        switches = {each: getattr(self.project.switches, each) for each in ("row", "run")}
        for each, value in switches.items():
            if each != key and value is not None:
                by_row = each == "row" and target in self.artefacts
                remedy = f"write {target}{ROW}" if by_row else "delete it"
                raise FathomError(f"{each}={value} has no effect", target, remedy)
        if target == ALL:
            return self.names_of_all
        if target in (*READING, STATISTICS):
            return []
        if target in self.project.papers:
            return self._runs_of_paper(target)
        if target in self.artefacts:
            return list(self.artefact(target).runs)
        if switches[key] is None:
            remedy = f"add --config {key}=<{key}> at the end"
            raise FathomError(f"no {key} is named", target, remedy)
        names = list(dict.fromkeys(self._chosen(target, switches[key])))
        for name in names:
            self._require_built(name)
        return names

    @cached_property
    def names_of_all(self) -> list[str]:
        """The full names of the runs of `all`, those that are built."""
        return [name for name in self.built if name not in self.of_controls]

    def _chosen(self, target: str, text: str) -> Iterable[str]:
        """Return the runs of a row, or those that `run` names: in full, in short or by patterns."""
        if target == RUN:
            parts = map(str.strip, text.split(","))
            # A pattern that fits no run is a mistyped name.
            found = [fitting(self.runs, each) or [self.project.run_name(each)] for each in parts]
            return [name for names in found for name in names]
        rows = self.artefacts[target.removesuffix(ROW)].rows
        if text not in rows:
            raise unknown("row", text, target, rows)
        return rows[text]

    def _runs_of_paper(self, paper: str) -> list[str]:
        items = [item for item in self.artefacts.values() if self.has_part(paper, item)]
        runs = dict.fromkeys(run for item in items for run in item.runs)
        return [run for run in runs if run in self.built]

    def files(self, target: str) -> list[Path]:
        """Return the files of a target.

        Those that a table is drawn from are among them: Snakemake makes a lost file again only
        where it is asked for.
        """
        drawn = self.artefacts.get(target)
        names = self.names_of(target)
        # A figure needs what its series name, and no translation.
        names = [] if drawn and drawn.verb == "figure" else names
        files = [path for name in names for path in self.results(name)]
        for artefact in self.artefacts_of(target):
            files += [*self.artefact_files(artefact), *self.measured(artefact)]
        if target == ALL:
            pages = map(self.paths.page, self.project.papers)
            files += [self.paths.compare, self.paths.claims, *pages]
        return list(dict.fromkeys(files))

    # Runs: by full names, `<paper>/<run>`, and by folders.

    @cached_property
    def runs_not_built(self) -> dict[str, str]:
        """Why a run cannot be trained yet, by its full name; what is built is left out."""
        reasons = {
            name: self.project.not_built(name, self.scale) or self.waiting.get(name)
            for name in self.runs
        }
        return {name: reason for name, reason in reasons.items() if reason}

    @cached_property
    def waiting(self) -> dict[str, str]:
        """What the user must do before a run can be trained, by its full name, for a start."""
        steps = {name: self._step(self.texts(name)) for name in self.runs}
        return {name: step for name, step in steps.items() if step}

    @cached_property
    def fetched_at(self) -> dict[str, str]:
        """The scale that has text to download for a run that waits, by the run's full name.

        Such a scale differs from this one in the data sets that it puts in place of others.
        """
        here = self.project.scale(self.scale)
        scales: dict[str, str] = {}
        for name, scale in self.project.scales.items() if self.waiting else ():
            names = {"title": here.title, "like": here.like, "datasets": here.datasets}
            if scale.model_copy(update=names) != here:
                continue
            for run in self.waiting:
                texts = [scale.datasets.get(text, text) for text in self.texts(run)]
                if not self._step(texts):
                    scales[run] = name
        return scales

    def _step(self, datasets: Iterable[str]) -> str:
        """Return what the user must do before data sets can be made, for a start."""
        file = by_hand(self.project, self.paths, datasets) if self.ready_only else None
        return f"put {file.file} into {self.paths.by_hand}: {file.steps}" if file else ""

    def lacks_text(self, dataset: str) -> bool:
        """Return whether a data set has not been prepared yet."""
        folder = self.project.datasets[dataset].corpus_folder(self.project.sources)
        return not (self.paths.corpus_named(folder) / "corpus.json").exists()

    @cached_property
    def built(self) -> tuple[str, ...]:
        """The full names of the runs that can be trained."""
        return tuple(name for name in self.runs if name not in self.runs_not_built)

    @cached_property
    def of_controls(self) -> frozenset[str]:
        """The full names of the runs that controls show, and no other table or figure."""
        shown: dict[bool, set[str]] = {True: set(), False: set()}
        for item in self.artefacts.values():
            shown[item.is_control].update(item.runs)
        return frozenset(shown[True] - shown[False])

    def _require_built(self, name: str) -> None:
        if name in self.runs_not_built:
            what = f"cannot be trained yet: {self.runs_not_built[name]}"
            raise FathomError(what, f"run {name}", "choose another run")

    def spec(self, name: str) -> Spec:
        """Return a run's spec by its full name."""
        return self.project.spec(name, self.scale)

    def with_start(self, name: str) -> tuple[str, ...]:
        """Return the run that a run starts from, if it starts from one, and the run."""
        start = self.project.start_name(name)
        return (start, name) if start else (name,)

    def seeds(self, name: str) -> tuple[int, ...]:
        """Return the seeds with which a run is trained."""
        return self.project.seeds(name, self.scale)

    def _measured(self, name: str, seed: int, keys: Iterable[str], series: bool) -> Iterator[Path]:
        """Yield the files with measurements of a training, and with its `series` if asked.

        Of what a training measures by itself, training.json, its only output, is the file.
        """
        spec = self.spec(name)
        stems = [TRAINING] if series else []
        for stem in dict.fromkeys([*stems, *(file_of(key, spec) for key in keys if key)]):
            if stem == TRAINING:
                yield self.paths.training(spec, seed)
            else:
                yield self.paths.measurements(spec, seed, stem)

    def results(self, name: str) -> list[Path]:
        """Return the last files of a run, all seeds: its record, and all that config asks for."""
        spec, keys = self.spec(name), self.keys.get(name, ())
        scores = [file_name("scores", spec, *pair) for pair in self.decodings(name)]
        files: list[Path] = []
        for seed in self.seeds(name):
            files += self._measured(name, seed, keys, series=True)
            files += [self.paths.measurements(spec, seed, stem) for stem in scores]
        return list(dict.fromkeys(files))

    @cached_property
    def all_results(self) -> list[Path]:
        """The last files of the runs of `all`."""
        return [path for name in self.names_of_all for path in self.results(name)]

    @cached_property
    def all_results_hash(self) -> str:
        """The hash of the list of these files: another list is compared again."""
        return short(identity([str(path) for path in self.all_results]))

    @cached_property
    def _run_folders(self) -> dict[str, str]:
        specs = {name: self.spec(name) for name in self.runs}
        return {f"{spec.paper}/{spec.folder}": name for name, spec in specs.items()}

    def run(self, folder: str) -> Spec:
        """Return a run that can be trained by its folder."""
        name = _by_folder(f"run of scale {self.scale}", folder, self._run_folders)
        self._require_built(name)
        return self.spec(name)

    def decodings_done(self, spec: Spec, seed: int) -> Path:
        """Return the file that is written when every decoding that config asks for is made."""
        return self.paths.asked(spec, seed, self.decodings(spec.name))

    def _recorded_recipe(self, spec: Spec, seed: int) -> int:
        """Return the recipe of a finished training; today's of one that has not finished."""
        path = self.paths.training(spec, seed)
        return int(read_record(path)["recipe"]) if is_there(path) else RECIPE[TRAINING]

    def is_stale(self, spec: Spec, seed: int) -> bool:
        """Return whether a finished training has an older recipe than today's."""
        return self._recorded_recipe(spec, seed) != RECIPE[TRAINING]

    def recipe(self, spec: Spec, seed: int) -> int:
        """Return the recipe of a training: the recorded one, unless the user retrains stale runs.

        A recipe is a param of the rule, and another param trains again: a finished run of an older
        recipe stays until `--config retrain=stale`.
        """
        again = self.project.switches.retrain == "stale"
        return RECIPE[TRAINING] if again else self._recorded_recipe(spec, seed)

    def retrain(self, spec: Spec, seed: int) -> list[Path]:
        """Return a file that is newer than a stale training, if the user retrains those.

        The recipe as a param is not enough: Snakemake knows the params of its own jobs alone, and
        not those of results that were copied.
        """
        again = self.project.switches.retrain == "stale" and self.is_stale(spec, seed)
        return [self.paths.retrain] if again else []

    # Text, by folders.

    @cached_property
    def _data(self) -> dict[str, DataSpec]:
        return self.project.data_folders(self.scale)

    def data(self, folder: str) -> DataSpec:
        """Return the data of a folder of subwords or tensors."""
        return _by_folder(f"data of scale {self.scale}", folder, self._data)

    @cached_property
    def _corpora(self) -> dict[str, Dataset]:
        sources = self.project.sources
        return {item.corpus_folder(sources): item for item in self.project.datasets.values()}

    def sources(self, corpus: str, task: str | None = None) -> list[Path]:
        """Return the sources of a corpus that can be made, or of one of its independent tasks."""
        dataset = _by_folder("data set", corpus, self._corpora).built()
        dataset = dataset.alone(task) if task else dataset
        return [self.paths.source(source) / "source.json" for source in dataset.sources]

    def prepared_alone(self, corpus: str) -> list[Path]:
        """Return the records of the tasks that a corpus joins; none if one job makes it."""
        dataset = _by_folder("data set", corpus, self._corpora).built()
        tasks = dataset.tasks if dataset.independent else ()
        return [self.paths.corpus_named(corpus) / task / "task.json" for task in tasks]

    def statistics(self, dataset: str) -> Path:
        """Return the statistics of a data set, or of the one that replaces it at this scale."""
        used = self.project.datasets[self.dataset(dataset)]
        folder = used.corpus_folder(self.project.sources)
        return self.paths.corpus_named(folder) / "statistics.json"

    # Tables, figures and pages.

    def artefact_files(self, artefact: Artefact) -> list[Path]:
        """Return the files of a table or figure."""
        folder, name = self.paths.top / artefact.paper.name, artefact.spec.name
        return [folder / f"{name}{ending}" for ending in ENDINGS[artefact.verb]]

    def measured(self, artefact: Artefact) -> list[Path]:
        """Return the files of runs and corpora that a table or figure shows, all seeds."""
        files = [
            path
            for name, keys in artefact.keys.items()
            for seed in self.seeds(name)
            for path in self._measured(name, seed, keys, series=name in artefact.series)
        ]
        files += [self.statistics(name) for name in artefact.corpora]
        return list(dict.fromkeys(files))

    def is_drawn(self, artefact: Artefact) -> bool:
        """Return whether a table or figure was drawn: it is there, and nothing it shows is newer.

        Runs and text whose settings have changed since have other folders.
        """
        files = self.artefact_files(artefact)
        folders = [self.paths.run(self.spec(name), 1).parent for name in artefact.runs]
        folders += [self.statistics(name).parent for name in artefact.corpora]
        are_there = all(map(is_there, [*files, *folders]))
        return are_there and not newer(self.measured(artefact), files)

    def outdated(self) -> Iterator[FathomError]:
        """Yield what was drawn or listed from files of results that are newer, with its command."""
        drawn: dict[tuple[str, ...], tuple[list[Path], list[Path]]] = {
            (artefact.verb, name, "--partial"): (
                self.artefact_files(artefact),
                self.measured(artefact),
            )
            for name, artefact in self.artefacts.items()
        }
        drawn[(COMPARE,)] = [self.paths.compare], self.all_results
        controls = [path for name in self.of_controls for path in self.results(name)]
        drawn[(CLAIMS,)] = [self.paths.claims], [*self.all_results, *controls]
        for paper in self.project.papers:
            drawn[PAGE, paper] = [self.paths.page(paper)], self.page_results(paper)
        for words, (files, shown) in drawn.items():
            if changed := newer(shown, files):
                more = f" and {len(changed) - 1} more of its inputs" if len(changed) > 1 else ""
                what = f"older than {changed[0]}{more}"
                command = self.paths.fathom(*words, "--scale", self.scale)
                yield FathomError(what, str(files[0]), f"run `{command}`")

    @cached_property
    def table_names(self) -> str:
        """A pattern of the names of all tables."""
        names = {item.spec.name for item in self.artefacts.values() if item.verb == "table"}
        return "|".join(sorted(map(re.escape, names))) or "none"

    @property
    def other_names(self) -> str:
        """A pattern of all other names: figures, and what `artefact` refuses."""
        return rf"(?!(?:{self.table_names})(?:{SEEDS}|\.|$))[a-z0-9_]+"

    def definition(self, artefact: Artefact) -> str:
        """Return the hash of an artefact's definition: a changed one is drawn again."""
        files = [str(path) for path in self.measured(artefact)]
        cells = [[cell.id, cell.column, cell.source, cell.key] for cell in artefact.cells]
        sentences = self.project.sentences(artefact.paper.name, artefact.spec.name)
        reference = artefact.paper.about.reference
        return short(identity([artefact.spec.values.plain, reference, files, cells, *sentences]))

    def page_results(self, paper: str) -> list[Path]:
        """Return the files of results that a paper's page is made of, those that are built."""
        files = [path for name in self._runs_of_paper(paper) for path in self.results(name)]
        for name, artefact in self.artefacts.items():
            if self.has_part(paper, artefact) and name not in self.artefacts_not_built:
                files += self.measured(artefact)
        return list(dict.fromkeys(files))

    # Files of config, relative where they are below the working folder.

    def printed(self, artefact: Artefact) -> list[Path]:
        """Return the files of config that a table or figure is drawn from."""
        return self._config([artefact.paper.reported(name) for name in artefact.tables])

    def judged_by(self, papers: Iterable[str], *kinds: str) -> list[Path]:
        """Return the files by which papers' cells are judged, and those of more `kinds`."""
        files = []
        for paper in map(self.project.papers.__getitem__, papers):
            names = ("study", "paper", "tables", "deviations", *kinds)
            files += [paper.folder / f"{name}.yaml" for name in names]
            files += [paper.reported(table) for table in paper.tables]
        return self._config(files)

    def _config(self, files: list[Path]) -> list[Path]:
        here = Path.cwd()
        return [
            path.relative_to(here) if path.is_relative_to(here) else path
            for path in (self.project.root / "config" / "columns.yaml", *files)
            if path.exists()
        ]


def newer(inputs: Iterable[Path], files: Iterable[Path]) -> list[Path]:
    """Return the inputs that are newer than the oldest of some files, as far as both are there."""
    oldest = min((path.stat().st_mtime_ns for path in files if path.exists()), default=None)
    there = filter(Path.exists, inputs if oldest is not None else ())
    return [path for path in there if path.stat().st_mtime_ns > (oldest or 0)]


def _by_folder(kind: str, folder: str, places: Mapping[str, T]) -> T:
    """Return what a folder is of, or refuse a folder that is of nothing."""
    if folder not in places:
        raise FathomError(f"no {kind} has this folder", folder, nearest(folder, places))
    return places[folder]

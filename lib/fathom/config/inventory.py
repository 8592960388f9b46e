"""What there is to train, resolved: runs at a scale, data sets, sources, methods.

A part of config is read and checked when it is first asked for, so that a mistake elsewhere does
not stop what does not need it. `load` with `check` asks for all of it.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

from fathom.config import plugins
from fathom.config.check import check, checked
from fathom.config.files import ConfigFiles, Parts, data_of, with_study
from fathom.config.merge import NAME, NAME_RULE, Entry, Lender, combinations, fill, placeholders
from fathom.config.rules import faults, start_faults
from fathom.config.runs import Resolved, RunsFile, lent_entries, read_runs, resolve
from fathom.config.scales import UPDATES, gives_updates, layered, scaled
from fathom.config.schema import dataset as datasets
from fathom.config.schema import source as sources
from fathom.config.schema.dataset import BuiltDataset, Dataset
from fathom.config.schema.method import MethodCard, read_method
from fathom.config.schema.run import RunSettings
from fathom.config.schema.scale import Scale
from fathom.config.schema.section import Section
from fathom.config.schema.source import Source
from fathom.config.spec import DataSpec, Spec, StartSpec, full_name
from fathom.config.switches import Switches
from fathom.config.yaml_values import Key, Value
from fathom.io.errors import (
    FathomError,
    Findings,
    brief,
    closest,
    nearest,
    refuse,
    shortened,
    unknown,
)

_NO_RUNS = RunsFile({}, {})
_HASH = re.compile(r"[0-9a-f]{8}")
MOST_NAMES = 12  # that a message lists where none is near
MethodT = TypeVar("MethodT", bound=Callable[..., Any])
SectionT = TypeVar("SectionT", bound=Section)


def kept(method: MethodT) -> MethodT:
    """Keep in the object what a method returns for its arguments; a last one may be left out."""
    name = f"_kept_{method.__name__}"

    @wraps(method)
    def keeping(self: Any, *arguments: Any) -> Any:
        results = vars(self).setdefault(name, {})
        key = arguments[:-1] if arguments[-1] is None else arguments
        if key not in results:
            results[key] = method(self, *arguments)
        return results[key]

    return cast("MethodT", keeping)


class Inventory:
    """What a user may switch, and every run, data set, source, method and scale by name."""

    def __init__(self, root: Path, files: ConfigFiles, switches: Switches):
        self.root = root  # the project's folder
        self.files = files
        self.switches = switches  # scale, results, device and the like
        self.methods: Parts[MethodCard] = Parts(files.names("method"), self._method)
        self.scales: Parts[Scale] = Parts(files.names("scale"), self.scale)
        self.datasets: Parts[Dataset] = Parts(files.names("dataset"), self._dataset)
        self.runs_files: Parts[RunsFile] = Parts(
            files.names("runs"),
            lambda paper: read_runs(files.read("runs", paper), self.lender(paper)),
        )

    # Parts of config

    def _method(self, name: str) -> MethodCard:
        return read_method(name, self.files.read("method", name))

    def _dataset(self, name: str) -> Dataset:
        file = self.files.read("dataset", name)
        if "not_built" in file.value:
            card: Dataset = _card(Dataset, name, file)
        else:
            formats = Parts(plugins.names("readers"), _format)
            card = _card_of_kind(formats, "format", name, file)
        card._file = file
        return card

    @cached_property
    def sources(self) -> Parts[Source]:
        """The sources by name; of a card with `for`, one for each combination.

        A source of several is called like the card's file and the first value that is chosen.
        """
        cards: dict[str, tuple[str, dict[str, Any]]] = {}
        for card in self.files.names("source"):
            try:
                choices = self.files.read("source", card).find("for")
                chosen = [{}] if choices is None else combinations(choices)
            except FathomError:
                chosen = [{}]  # to ask for the source says what is wrong
            for names in chosen:
                cards["_".join([card, *map(str, [*names.values()][:1])])] = card, names
        return Parts(cards, lambda name: self._source(name, *cards[name]))

    def _source(self, name: str, card: str, chosen: Mapping[str, Any]) -> Source:
        file = self.files.read("source", card)
        if (choices := file.find("for")) is not None:
            combinations(choices)
            if not NAME.fullmatch(name):
                what = f"'{brief(name)}': {NAME_RULE}"
                raise FathomError(what, choices.where, "choose other values")
            file = fill(file.without("for"), chosen)
            refuse(
                FathomError(f"`for` gives no <{missing}>", value.where, nearest(missing, chosen))
                for _, value in file.items()
                for missing in placeholders(value.plain)
            )
        source = _card_of_kind(sources.KINDS, "kind", name, file)
        if isinstance(source, sources.LocalFiles):
            source._folder = (self.root / file.file).parent
        return source

    @cached_property
    def entries(self) -> Mapping[str, Entry]:
        """The runs' entries by full name, `<paper>/<run>`; all runs.yaml are read."""
        refuse(self.runs_files.faults())
        return {
            f"{paper}/{name}": entry
            for paper, file in self.runs_files.items()
            for name, entry in file.runs.items()
        }

    @property
    def readable(self) -> list[str]:
        """The full names of runs, of papers whose runs.yaml has no mistake."""
        names: list[str] = []
        for paper in self.runs_files:
            with suppress(FathomError):
                names += self.runs_of(paper)
        return names

    @kept
    def scale(self, name: str, paper: str | None = None) -> Scale:
        """Return a scale by name, for the runs of a paper or for what is of no paper."""
        if name not in self.scales:
            raise FathomError(f"no scale '{name}'", "scale", nearest(name, self.scales))
        return checked(Scale, self.scale_values(name, paper))

    @kept
    def scale_values(self, name: str, paper: str | None = None) -> Value:
        """Return the values of a scale, for the runs of a paper or for what is of no paper."""
        return layered(name, self.files, paper)

    # Runs

    def lender(self, paper: str) -> Lender:
        """Return what a paper's entries may be like in other papers."""
        return Lender(paper, self.files.names("runs"), self._lent, self._adapted)

    def _adapted(self, paper: str, recipe: Value) -> Value:
        """Return a recipe with what a paper that is a study says of all its runs."""
        if not self.files.is_study(paper):
            return recipe
        study = self.files.read("study", paper)
        dataset = str(data_of(study).get("dataset"))
        text = self.files.read("dataset", dataset) if dataset in self.datasets else Value({})
        both_ways = text.get("pivot") is not None and text.get("translates") is None
        return with_study(recipe, study, both_ways)

    @kept
    def _lent(self, paper: str) -> dict[str, Value]:
        return lent_entries(self.files.read("runs", paper), paper)

    def entry(self, name: str) -> Entry:
        """Return the entry of a run or family by its full name; only its runs.yaml is read."""
        paper, _, run = name.partition("/")
        file = self.runs_files[paper]
        return file.runs[run] if run in file.runs else file.families[run]

    def ancestors_in(self, paper: str, run: str) -> tuple[str, ...]:
        """Return a run and what it is like, the run last, as a paper's files name them."""
        names = (full_name(run.partition("/")[0], each) for each in self.entry(run).ancestors)
        return tuple(name.removeprefix(f"{paper}/") for name in names)

    def has_run(self, name: str) -> bool:
        """Return whether there is a run of a full name."""
        paper, _, run = name.partition("/")
        return run in self.runs_files.get(paper, _NO_RUNS).runs

    def runs_of(self, paper: str) -> tuple[str, ...]:
        """Return the full names of a paper's runs."""
        return tuple(f"{paper}/{run}" for run in self.runs_files.get(paper, _NO_RUNS).runs)

    def families(self, paper: str) -> tuple[str, ...]:
        """Return the names of a paper's families."""
        return tuple(self.runs_files.get(paper, _NO_RUNS).families)

    def names_in(self, paper: str) -> list[str]:
        """Return the names by which a paper's files may call runs; the paper's come first."""
        names = [name.partition("/")[2] for name in self.runs_of(paper)]
        return [*names, *(name for name in self.readable if not name.startswith(f"{paper}/"))]

    def run_in(self, paper: str, run: str, where: str) -> str:
        """Return the full name of a run that a paper's file names at `where`."""
        name = full_name(paper, run)
        if self.has_run(name):
            return name
        if fault := self.files.absent_for(name):
            raise fault
        owner = name.partition("/")[0]
        if owner in self.files.papers and owner not in self.runs_files:
            raise self.files.missing("runs", owner, "tables or figures name its runs")
        raise unknown("run", run, where, self.names_in(paper))

    def run_name(self, text: str) -> str:
        """Return the full name of a run that a user names as `<paper>/<run>` or `<run>`."""
        if "/" in text and self.has_run(text):
            return text
        if fault := self.files.absent_for(text):
            raise fault
        names = [name for name in self.readable if name.partition("/")[2] == text]
        if len(names) == 1:
            return names[0]
        if names:
            what = f"'{text}' is a run of several papers or studies"
            raise FathomError(what, "run", f"write {' or '.join(names)}")
        if text in self.files.papers:
            remedy = f"its runs: {shortened(self.runs_of(text))}"
            raise FathomError(f"'{text}' is a paper", "run", remedy)
        names = [name if "/" in text else name.partition("/")[2] for name in self.entries]
        if text in names or closest(text, names) or len(names) <= MOST_NAMES:
            raise unknown("run", text, "run", sorted({*names}))
        counts = Counter(name.partition("/")[0] for name in self.entries)
        there = ", ".join(f"{count} of {paper}" for paper, count in counts.items())
        raise FathomError(f"no run '{brief(text)}'", "run", f"`fathom list runs` lists {there}")

    @kept
    def resolved(self, name: str, scale: str | None = None) -> Resolved:
        """Return a run's entry and checked settings at a scale, or (None) the papers' own."""
        if scale is None:
            return resolve(name, self.entry(name), self.methods, self.scaled_as(name) or "")
        papers = self.resolved(name)
        if not papers.paper:
            return papers
        values = self.scale_values(scale, papers.paper)
        entry = scaled(papers, self.scale(scale, papers.paper), values, self._lent_updates(name))
        if entry is papers.entry:
            return papers
        return resolve(name, entry, self.methods, papers.paper)

    def run(self, name: str, scale: str | None = None) -> RunSettings:
        """Return a run's checked settings."""
        return self.resolved(name, scale).run

    @kept
    def spec(self, name: str, scale: str | None = None) -> Spec:
        """Return what a run is at a scale, or (None) with the papers' own settings.

        A run of a study with the settings of a run that it is like is that run, trained once; a run
        of a `for` may be any run of its study.
        """
        run, values = self.run(name, scale), self.resolved(name, scale).entry.values
        card, data = self.methods[run.method.name], self._data(run, values)
        wrong = [*faults(run, data, card, self.datasets[data.dataset])]
        base, start = self.start_name(name), None
        if base is not None and run.start is not None:
            start = StartSpec.of(self.spec(base, scale), run.start.freeze)
        spec = Spec(
            *name.split("/"),
            data=data,
            model=run.model,
            method=run.method,
            training=run.training,
            outcome=run.outcome,
            masking=run.masking,
            start=start,
            gates=card.gates(run.method.settings),
            decoding=run.decoding,
            scoring=run.scoring,
        )
        if base is not None:
            wrong += start_faults(spec, self.spec(base, scale))
        places = self._place(name, values)
        if scale is None and self.files.is_study(name.partition("/")[0]):
            wrong = []  # what a study writes must go with the rest at the scale that is asked for
        refuse(FathomError(what, places(key), remedy) for key, what, remedy in wrong)
        return self._trained_as(spec, scale)

    def _trained_as(self, spec: Spec, scale: str | None) -> Spec:
        """Return the run as which a run of a study is trained at a scale, or the run itself."""
        if not self.files.is_study(spec.paper):
            return spec
        names = [*self.ancestors_in("", spec.name)[:-1]]
        if self._is_of_for(spec.name):
            # Without those that are like a run of a `for`, which might be like this run.
            names += [
                each
                for each in self.runs_of(spec.paper)
                if not any(map(self._is_of_for, self.ancestors_in("", each)))
            ]
        for name in filter(self.has_run, names):
            with suppress(FathomError):  # a mistake in another run
                equal = self.spec(name, scale)
                if equal == replace(spec, paper=equal.paper, run=equal.run):
                    return equal
        return spec

    def _is_of_for(self, name: str) -> bool:
        return "<" in str(self.entry(name).values.key)

    def _place(self, name: str, values: Value) -> Callable[[Key], str]:
        """Return what says where a setting of a run is; a study's is in the run, if it is lent."""
        run = self.entry(name).values
        study = self.files.is_study(name.partition("/")[0])
        return lambda key: (
            replace(run, key=(*run.key, *key)).where
            if study and values.at(key).file != run.file
            else values.place(*key)
        )

    def _data(self, run: RunSettings, values: Value) -> DataSpec:
        definitions: dict[str, Any] = {}
        for key in ("dataset", "pieces_of"):
            name = getattr(run.data, key)
            if name is not None and name not in self.datasets:
                raise unknown("data set", name, values.place("data", key), self.datasets)
            definitions[key] = name and self.definition(name)
        tasks = self.datasets[run.data.dataset].tasks
        return DataSpec(run.data, tasks, definitions["dataset"], definitions["pieces_of"])

    def scaled_as(self, name: str) -> str | None:
        """Return the paper whose scales a run has; None for a run that every scale uses as written.

        A study without scales of its own takes those of the papers that lend its recipes.
        """
        paper = name.partition("/")[0]
        if not self.files.is_study(paper) or self.files.read("scales", paper).value:
            return paper
        lenders = self._lenders(name)
        return self.scaled_as(lenders[-1]) if lenders else None

    def _lenders(self, name: str) -> list[str]:
        """Return what a run is like in other papers, by full names, the nearest last."""
        return [each for each in self.entry(name).ancestors if "/" in each]

    def _lent_updates(self, name: str) -> int | str | None:
        """Return the updates of the recipe that a run is like, before any study's."""
        found = (self.entry(each).values.find(*UPDATES) for each in reversed(self._lenders(name)))
        lent = (each for each in found if each and not each.file.endswith("study.yaml"))
        return next((each.plain for each in lent), None)

    def start_name(self, name: str) -> str | None:
        """Return the full name of the run that a run starts from, if it does."""
        start, paper = self.run(name).start, name.partition("/")[0]
        if start is None:
            return None
        where = self.entry(name).values.place("start", "run")
        base = self.run_in(paper, start.run, where)
        if self.entry(base).values.get("start") is not None:
            what = f"'{start.run}' starts from another run itself"
            raise FathomError(what, where, "name a run that starts from nothing")
        return base

    def seeds(self, name: str, scale: str | None) -> tuple[int, ...]:
        """Return the seeds of a run: the user's, the scale's or, without a scale, the paper's."""
        entry, paper = self.entry(name).values, name.partition("/")[0]
        given = entry.find("seeds") if self.files.is_study(paper) else None
        # The seeds that a study writes are those of every scale.
        written = given is not None and given.file == entry.file
        of_scale = self.scale(scale).seeds if scale and not written else None
        at_scale = (self.switches.seeds or of_scale) if scale else None
        seeds = self.run(name).seeds if at_scale is None else at_scale
        return tuple(range(1, seeds + 1)) if isinstance(seeds, int) else seeds

    def comparable(self, name: str, scale: str, text_of: str | None = None) -> bool:
        """Return whether a run's settings at a scale, seeds apart, are the paper's own.

        A run of a study has no paper from which it could differ. `text_of` names the data set whose
        text the run's is proved to be.
        """
        if self.files.is_study(name.partition("/")[0]):
            return True
        here, paper = self.spec(name, scale), self.spec(name)
        if text_of:
            here = replace(here, data=replace(here.data, definition=self.definition(text_of)))
        searches = [spec.decoding and spec.decoding.identity() for spec in (here, paper)]
        return here.identity == paper.identity and searches[0] == searches[1]

    def not_built(self, name: str, scale: str) -> str:
        """Return why a run cannot be trained yet at a scale; empty if it can."""
        return "; ".join(self._reasons(name, scale))

    def _reasons(self, name: str, scale: str) -> list[str]:
        """Return why a run is not built, then why only the run that it starts from is not."""
        run, paper = self.run(name, scale), self.scaled_as(name)
        reasons = [
            f"data set {dataset}: {self.datasets[dataset].not_built}"
            for dataset in (run.data.dataset, run.data.pieces_of)
            if dataset and self.datasets[dataset].not_built
        ]
        updates = self.scale(scale, paper).updates.get(paper, {}) if paper else {}
        if paper and run.group not in updates and (updates or gives_updates(scale, self.files)):
            what = f"scale {scale} gives its group '{run.group}' no updates"
            reasons.append(f"{what}; add them to scales.yaml of {paper}")
        if run.training.precision == "fp16" and self.scale(scale).for_cpu:
            reasons.append(f"training.precision: fp16 needs CUDA, and scale {scale} is for a CPU")
        if (base := self.start_name(name)) is not None:
            inherited = self._reasons(base, scale)
            reasons += [f"{base}: {reason}" for reason in inherited if reason not in reasons]
        return [*dict.fromkeys(reasons)]

    def run_named(self, text: str, scale: str) -> Spec:
        """Return the spec of a run as `run_name` names it, also by its folder `<run>-<hash8>`.

        A folder may be of another scale: its name fixes the settings.
        """
        run, _, digits = text.rpartition("-")
        if ":" in text or not _HASH.fullmatch(digits):
            return self.spec(self.run_name(text), scale)
        name = self.run_name(run)
        for of_scale in dict.fromkeys((scale, *self.scales)):
            if text.endswith(self.spec(name, of_scale).folder):
                return self.spec(name, of_scale)
        what = f"the settings of '{run}' are no longer those of {digits}"
        raise FathomError(what, f"run {text}", f"the run is now {self.spec(name, scale).folder}")

    # Data

    @kept
    def definition(self, dataset: str) -> dict[str, Any]:
        """Return what determines a data set's text."""
        card, file = self.datasets[dataset], self.files.read("dataset", dataset)
        wrong = [*card.faults(self.sources)]
        stands_for: dict[Key, str | None] = {}
        if isinstance(card, datasets.ParallelDataset) and card.proof:
            stands_for["proof", "text_of"] = card.proof.text_of
        if isinstance(card, datasets.TalkDataset):
            stands_for["rebuilds",] = card.rebuilds
        for key, name in stands_for.items():
            if name and name not in self.datasets:
                wrong.append((key, f"no data set '{name}'", nearest(name, self.datasets)))
        refuse(FathomError(what, file.place(*key), remedy) for key, what, remedy in wrong)
        return card.definition(self.sources)

    def data_folders(self, scale: str) -> dict[str, DataSpec]:
        """Return the data of all runs of a scale by the names of their folders."""
        folders: dict[str, DataSpec] = {}
        for name in self.entries:
            data = self.spec(name, scale).data
            for folder in (data.folder, data.corpus_folder, data.subwords_folder):
                folders.setdefault(folder, data)
        return folders


def _format(reader: str) -> type[BuiltDataset]:
    """Return the class of a reader's data sets, which a plugin's reader defines itself."""
    builtin = datasets.FORMATS.get(reader)
    return builtin or plugins.only_class(plugins.load("readers", reader), BuiltDataset)


def _card(model: type[SectionT], name: str, file: Value) -> SectionT:
    """Return a card, which is called like its file."""
    card, findings = check(model, file, also={"name": name})
    if "name" in file.value:
        remedy = "delete it: a card is called like its file"
        findings.append(FathomError("unknown key 'name'", file.place("name"), remedy))
    if card is None or findings:
        raise Findings(findings)
    return card


def _card_of_kind(
    models: Mapping[str, type[SectionT]], key: str, name: str, file: Value
) -> SectionT:
    """Return a card of the class that one of its keys chooses."""
    kind, where = file.get(key), file.place(key)
    if key not in file.value:
        raise FathomError("no value is given", where, f"write {key}: {' or '.join(models)}")
    if not isinstance(kind, str) or kind not in models:
        raise FathomError(f"'{brief(kind)}' is not possible here", where, nearest(kind, models))
    return _card(models[kind], name, file)

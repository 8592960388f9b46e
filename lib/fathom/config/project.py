"""Everything that config/ says, resolved: runs at a scale, papers, data sets, methods."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.config.contents import Contents
from fathom.config.files import ConfigFiles
from fathom.config.inheritance import Entry
from fathom.config.known import Known, KnownRun
from fathom.config.resolve import Resolved, resolve
from fathom.config.scales import Scale, scaled
from fathom.config.schema.dataset import Dataset
from fathom.config.schema.method import MethodCard
from fathom.config.schema.run import RunSettings
from fathom.config.schema.source import Source
from fathom.config.spec import DataSpec, Spec, StartSpec
from fathom.config.switches import Switches
from fathom.io.errors import FathomError, Findings, nearest, shortened, unknown

if TYPE_CHECKING:
    from fathom.config.claims import Claim
    from fathom.config.paper import Paper


@dataclass(frozen=True)
class Project:
    """All of config/, read and checked.

    Attributes:
        root: the project's folder.
        switches: what a user may switch: scale, results, device and the like.
        scales, sources, datasets, methods: by name.
        entries: the runs' entries by full name, `<paper>/<run>`.
        families: names of the families of each paper.
        contents: what papers print and claim.
        files: the files they were read from, by kind and name.
    """

    root: Path
    switches: Switches
    scales: Mapping[str, Scale]
    sources: Mapping[str, Source]
    datasets: Mapping[str, Dataset]
    methods: Mapping[str, MethodCard]
    entries: Mapping[str, Entry]
    families: Mapping[str, tuple[str, ...]]
    contents: Contents = field(repr=False)
    files: ConfigFiles = field(repr=False)

    @property
    def papers(self) -> "Mapping[str, Paper]":
        """The papers by name, each with its tables and figures."""
        return self.contents.papers

    @property
    def claims(self) -> "Mapping[str, Mapping[str, Claim]]":
        """The claims of each paper, by name."""
        return self.contents.claims

    # Runs

    def scale(self, name: str) -> Scale:
        """Return a scale by name.

        Raises:
            FathomError: there is none of that name.
        """
        if name not in self.scales:
            raise FathomError(f"no scale '{name}'", "scale", nearest(name, self.scales))
        return self.scales[name]

    def run_name(self, text: str) -> str:
        """Return the full name of a run that a user names as `<paper>/<run>` or `<run>`.

        Raises:
            FathomError: there is no such run, or several papers have one of that name.
        """
        if text in self.entries:
            return text
        names = [name for name in self.entries if name.rpartition("/")[2] == text]
        if len(names) > 1:
            raise FathomError(f"several papers have a run '{text}'", "run", " or ".join(names))
        if not names and text in self.papers:
            runs = [name for name in self.entries if name.startswith(f"{text}/")]
            raise FathomError(f"'{text}' is a paper", "run", f"its runs: {shortened(runs)}")
        if not names:
            known = self.entries if "/" in text else {n.rpartition("/")[2] for n in self.entries}
            raise unknown("run", text, "run", sorted(known))
        return names[0]

    def resolved(self, name: str, scale: str | None = None) -> Resolved:
        """Return a run's entry and settings; each is checked once, when it is first asked for.

        Args:
            name: its full name.
            scale: the scale; None for the papers' own settings.
        """
        if (name, None) not in self._resolved:
            self._resolved[name, None] = resolve(self.entries[name], self.methods)
        paper = self._resolved[name, None]
        if scale is None or paper.run is None:
            return paper
        if (name, scale) not in self._resolved:
            owner, _, run = name.partition("/")
            file = self.files["scale"][scale]
            entry = scaled(paper.entry, paper.run, (owner, run), self.scale(scale), file)
            same = entry is paper.entry
            self._resolved[name, scale] = paper if same else resolve(entry, self.methods)
        return self._resolved[name, scale]

    @cached_property
    def _resolved(self) -> dict[tuple[str, str | None], Resolved]:
        return {}

    def run(self, name: str, scale: str | None = None) -> RunSettings:
        """Return a run's checked settings.

        Raises:
            Findings: what is wrong with them.
        """
        resolved = self.resolved(name, scale)
        if resolved.run is None:
            raise Findings(resolved.findings)
        return resolved.run

    def spec(self, name: str, scale: str | None = None) -> Spec:
        """Return what a run is, resolved.

        Args:
            name: its full name.
            scale: the scale; None for the papers' own settings.

        Raises:
            FathomError: a setting is wrong, or a data set or run that it names does not exist.
        """
        key = (name, scale or "")
        if key not in self._specs:
            run = self.run(name, scale)
            paper, short_name = name.split("/")
            self._specs[key] = Spec(
                paper=paper,
                run=short_name,
                data=self._data(run, self.resolved(name, scale).entry),
                model=run.model,
                method=run.method,
                training=run.training,
                outcome=run.outcome,
                masking=run.masking,
                start=self._start(name, scale),
                gates=self.methods[run.method.name].gates(run.method.settings),
                decoding=run.decoding,
                scoring=run.scoring,
            )
        return self._specs[key]

    @cached_property
    def _specs(self) -> dict[tuple[str, str], Spec]:
        return {}

    def _data(self, run: RunSettings, entry: Entry) -> DataSpec:
        definitions = {}
        for key in ("dataset", "pieces_of"):
            name = getattr(run.data, key)
            if name is not None and name not in self.datasets:
                where = entry.where(("data", key))
                raise unknown("data set", name, where, self.datasets)
            definitions[key] = name and self.datasets[name].definition(self.sources)
        return DataSpec(
            run.data,
            self.datasets[run.data.dataset].tasks,
            definitions["dataset"],
            definitions["pieces_of"],
        )

    def start_name(self, name: str) -> str | None:
        """Return the full name of the run that a run starts from, if it does.

        Raises:
            FathomError: there is no such run, or it starts from another one itself.
        """
        start = self.run(name).start
        if start is None:
            return None
        paper = name.split("/")[0]
        full = start.run if "/" in start.run else f"{paper}/{start.run}"
        where = self.entries[name].where(("start", "run"))
        own = [known.removeprefix(f"{paper}/") for known in self.entries]
        if full not in self.entries:
            raise unknown("run", start.run, where, own, full)
        if self.entries[full].get(("start",)) is not None:
            what = f"'{start.run}' starts from another run itself"
            raise FathomError(what, where, "name a run that starts from nothing")
        return full

    def _start(self, name: str, scale: str | None) -> StartSpec | None:
        other, start = self.start_name(name), self.run(name, scale).start
        if other is None or start is None:
            return None
        spec = self.spec(other, scale)
        average_of = spec.decoding.average_of if spec.decoding else 1
        return StartSpec(spec.paper, spec.run, spec.identity, average_of, start.freeze)

    def seeds(self, name: str, scale: str) -> tuple[int, ...]:
        """Return the seeds with which a run is trained at a scale; the user's own come first."""
        own = self.switches.seeds or self.scale(scale).seeds
        seeds = self.run(name).seeds if own is None else own
        return tuple(range(1, seeds + 1)) if isinstance(seeds, int) else seeds

    def comparable(self, name: str, scale: str) -> bool:
        """Return whether a run's settings at a scale are the paper's own.

        Only then a verdict compares its cells with the paper's. Seeds do not count.
        """
        here, paper = self.spec(name, scale), self.spec(name)
        searches = [spec.decoding and spec.decoding.identity() for spec in (here, paper)]
        return here.identity == paper.identity and searches[0] == searches[1]

    def not_built(self, name: str, scale: str) -> str:
        """Return why a run cannot be trained yet at a scale; empty where it can."""
        return "; ".join(self._not_built(name, scale))

    def _not_built(self, name: str, scale: str) -> tuple[str, ...]:
        """Return the reasons of the run, then those that only the run it starts from has."""
        run = self.run(name, scale)
        reasons = [
            f"data set {dataset}: {self.datasets[dataset].not_built}"
            for dataset in (run.data.dataset, run.data.pieces_of)
            if dataset and self.datasets[dataset].not_built
        ]
        updates, paper = self.scale(scale).updates, name.partition("/")[0]
        if updates and run.group not in updates.get(paper, {}):
            what = f"scale {scale} gives its group '{run.group}' no updates"
            reasons.append(f"{what}; add them to scales.yaml of {paper}")
        other = self.start_name(name)
        inherited = self._not_built(other, scale) if other is not None else ()
        reasons += [f"{other}: {reason}" for reason in inherited if reason not in reasons]
        return tuple(dict.fromkeys(reasons))

    def run_named(self, text: str, scale: str) -> Spec:
        """Return the spec of a run that a user names, also by its folder `<run>-<hash8>`.

        A folder may be of another scale: its name fixes the settings.

        Raises:
            FathomError: no such run, or its settings are no longer those of the folder.
        """
        run, dash, digits = text.rpartition("-")
        if not dash:
            return self.spec(self.run_name(text), scale)
        name = self.run_name(run)
        for of_scale in dict.fromkeys((scale, *self.scales)):
            if text.endswith(self.spec(name, of_scale).folder):
                return self.spec(name, of_scale)
        what = f"the settings of '{run}' are no longer those of {digits}"
        raise FathomError(what, f"run {text}", f"the run is now {self.spec(name, scale).folder}")

    # Data

    def data_folders(self, scale: str) -> dict[str, DataSpec]:
        """Return the data of all runs of a scale by the names of their folders."""
        folders: dict[str, DataSpec] = {}
        for name in self.entries:
            data = self.spec(name, scale).data
            for folder in (data.folder, data.corpus_folder, data.subwords_folder):
                folders.setdefault(folder, data)
        return folders

    # What papers may name

    def known(self, scale: str | None = None) -> Known:
        """Return what tables, figures and claims may name, with what they need of each run."""
        runs = _KnownRuns(self, scale)
        corpora = {name: dataset.tasks for name, dataset in self.datasets.items()}
        return Known(runs, corpora, self.families, tuple(self.methods), runs.unresolved())


class _KnownRuns(Mapping[str, KnownRun]):
    """What tables and figures need of each run; a run is resolved when it is first named."""

    def __init__(self, project: Project, scale: str | None):
        """Resolve nothing yet."""
        self._project, self._scale = project, scale
        self._known: dict[str, KnownRun] = {}
        self._wrong: set[str] = set()

    def __getitem__(self, name: str) -> KnownRun:
        """Return what is known of a run.

        Raises:
            KeyError: there is no such run, or its settings are wrong.
        """
        new = name not in self._known and name not in self._wrong
        if new and name in self._project.entries:
            known = self._resolved(name)
            if known is None:
                self._wrong.add(name)
            else:
                self._known[name] = known
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the runs whose settings are right."""
        return (name for name in self._project.entries if name in self)

    def __len__(self) -> int:
        """Return how many runs have right settings."""
        return sum(1 for _ in self)

    def unresolved(self) -> "_Unresolved":
        """Return the names of the other runs."""
        return _Unresolved(self._project.entries, self)

    def _resolved(self, name: str) -> KnownRun | None:
        project = self._project
        run = project.resolved(name, self._scale).run
        if run is None or run.data.dataset not in project.datasets:
            return None
        card = project.methods[run.method.name]
        return KnownRun(
            tasks=project.datasets[run.data.dataset].tasks,
            group=run.group or "",
            updates=run.training.updates,
            seeds=project.seeds(name, self._scale) if self._scale else _seeds(run),
            gates=card.gates(run.method.settings),
            stacks=run.method.stacks if card.about.gates else (),
            layers={"encoder": run.model.encoder_layers, "decoder": run.model.decoder_layers},
        )


class _Unresolved(Collection[str]):
    """The names of the runs whose settings are wrong."""

    def __init__(self, entries: Mapping[str, Entry], known: _KnownRuns):
        """Resolve nothing yet."""
        self._entries, self._known = entries, known

    def __contains__(self, name: object) -> bool:
        """Return whether this is a run with wrong settings."""
        return name in self._entries and name not in self._known

    def __iter__(self) -> Iterator[str]:
        """Yield their names."""
        return filter(self.__contains__, self._entries)

    def __len__(self) -> int:
        """Return how many there are."""
        return sum(1 for _ in self)


def _seeds(run: RunSettings) -> tuple[int, ...]:
    return tuple(range(1, run.seeds + 1)) if isinstance(run.seeds, int) else run.seeds

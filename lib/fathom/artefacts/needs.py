"""What each table and figure depends on: runs, measurements, decodings, corpora."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from fathom.config.measurement_keys import ALWAYS_SCORED, is_metric
from fathom.config.paper import Figure, Paper
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.config.schema.dataset import BuiltDataset
from fathom.config.schema.source import ByHand, Source
from fathom.config.spec import full_name
from fathom.config.tables import Cell, Table, runs_by_row
from fathom.io.errors import FathomError

_WINDOW = "window"


@dataclass(frozen=True)
class Artefact:
    """A table or figure, with what it depends on."""

    paper: Paper
    spec: Table | Figure
    tables: tuple[str, ...]  # the names of those whose cells it shows
    cells: tuple[Cell, ...]  # of a table, or of a figure's tables; empty cells left out
    runs: tuple[str, ...]  # full names, in the order of the artefact
    keys: dict[str, tuple[str, ...]]  # the measurements of each run
    corpora: tuple[str, ...]  # data sets whose statistics it shows, as the paper names them

    @property
    def target(self) -> str:
        """What a user types: `<paper>_<table>`."""
        return f"{self.paper.name}_{self.spec.name}"

    @property
    def verb(self) -> str:
        """The command that draws it: table or figure."""
        return "table" if isinstance(self.spec, Table) else "figure"

    @property
    def is_control(self) -> bool:
        """Whether it is a table of ours, which is made only where it is asked for by name."""
        return isinstance(self.spec, Table) and self.spec.settings.control

    @property
    def series(self) -> tuple[str, ...]:
        """The full names of the runs of which a figure draws what training recorded."""
        runs = self.spec.settings.runs if isinstance(self.spec, Figure) else ()
        return tuple(full_name(self.paper.name, run) for run in runs)

    @property
    def rows(self) -> dict[str, tuple[str, ...]]:
        """The runs of each printed row."""
        return runs_by_row(self.cells)


@dataclass(frozen=True)
class Needs:
    """What the tables and figures of papers depend on at a scale."""

    project: Project
    scale: str
    # By name; None for all. A mistake in another paper is not looked for.
    papers: tuple[str, ...] | None = field(default=None, kw_only=True)

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """The full names of all runs, but for those with a mistake of papers that are left out."""
        runs = []
        for name in self.project.entries if self.papers is None else self.project.readable:
            try:
                self.project.spec(name, self.scale)
            except FathomError:
                if self.papers is None or name.partition("/")[0] in self.papers:
                    raise
            else:
                runs.append(name)
        return tuple(runs)

    @cached_property
    def artefacts(self) -> dict[str, Artefact]:
        """Every table and figure by its target, in the papers' order."""
        names = self.project.papers if self.papers is None else self.papers
        artefacts = [
            self.of(paper, spec)
            for paper in (self.project.papers[name] for name in names)
            for spec in (*paper.tables.values(), *paper.figures.values())
        ]
        return {artefact.target: artefact for artefact in artefacts}

    def of(self, paper: Paper, spec: Table | Figure) -> Artefact:
        """Return a table or figure with what its cells, or its own settings, depend on."""
        keys: dict[str, dict[str, None]] = {}
        tables = (spec.name,) if isinstance(spec, Table) else spec.settings.tables
        cells = tuple(
            cell
            for name in tables
            for cell in self.project.cells(paper.tables[name], self.scale)
            if cell.kind != "empty"
        )
        for cell in cells:
            if cell.kind == "run":
                keys.setdefault(cell.source, {})[cell.key] = None
        if isinstance(spec, Figure):
            for run in spec.settings.runs:
                needed = keys.setdefault(full_name(paper.name, run), {})
                needed.update(dict.fromkeys(spec.settings.measurements(run)))
        return Artefact(
            paper=paper,
            spec=spec,
            tables=tables,
            cells=cells,
            runs=tuple(keys),
            keys={run: tuple(needed) for run, needed in keys.items()},
            corpora=tuple(dict.fromkeys(cell.source for cell in cells if cell.kind != "run")),
        )

    @cached_property
    def keys(self) -> dict[str, tuple[str, ...]]:
        """The measurements that all artefacts together need of each run."""
        keys: dict[str, dict[str, None]] = {}
        for artefact in self.artefacts.values():
            for run, needed in artefact.keys.items():
                # A run of a study may be trained as another one.
                for name in {run, self.project.spec(run, self.scale).name}:
                    keys.setdefault(name, {}).update(dict.fromkeys(needed))
        return {run: tuple(needed) for run, needed in keys.items()}

    def decodings(self, run: str) -> tuple[tuple[str, str], ...]:
        """Return the decodings of a run that config asks for, as split and gates.

        A run that no artefact shows is decoded once: its test text with its first gates. The best
        window has translations of its own.
        """
        spec = self.project.spec(run, self.scale)
        if spec.decoding is None:
            return ()
        if not self.keys.get(run):
            return (("test", spec.gates[0]),)
        pairs = {}
        for key in self.keys[run]:
            name, *qualifiers = key.split(".")
            if is_metric(name) and _WINDOW not in qualifiers:
                pairs[(qualifiers[0], qualifiers[1])] = None
        return tuple(pairs)

    def metrics(self, run: str, *qualifiers: str) -> tuple[str, ...]:
        """Return the further metrics of a split and gates, and "window", that artefacts show."""
        keys = (key.partition(".") for key in self.keys.get(run, ()))
        shown = {name for name, _, words in keys if words == ".".join(qualifiers)}
        return tuple(sorted(filter(is_metric, shown - {*ALWAYS_SCORED})))

    def dataset(self, name: str) -> str:
        """Return the data set that this scale uses in the place of one that a paper names."""
        return self.project.scale(self.scale).datasets.get(name, name)

    def texts(self, *runs: str) -> Iterator[str]:
        """Yield the data sets of runs, of their pieces, and of the runs that they start from."""
        names = (name for run in runs for name in (self.project.start_name(run), run))
        for name in filter(None, names):
            text = self.project.run(name, self.scale).data
            yield from filter(None, (text.dataset, text.pieces_of))

    def shown_from(self, source: str) -> list[str]:
        """Return the tables and figures whose text, or part of it, is from a source."""
        return [
            artefact.target
            for artefact in self.artefacts.values()
            for texts in [(*self.texts(*artefact.runs), *map(self.dataset, artefact.corpora))]
            if source in [each.name for each in sources_of(self.project, texts)]
        ]

    def not_built(self, artefact: Artefact) -> str:
        """Return why an artefact cannot be made yet; empty where all of it can."""
        reasons: dict[str, list[str]] = {}
        for run in artefact.runs:
            if reason := self.project.not_built(run, self.scale):
                reasons.setdefault(reason, []).append(run)
        for corpus in artefact.corpora:
            if reason := self.project.datasets[self.dataset(corpus)].not_built:
                reasons.setdefault(f"data set {self.dataset(corpus)}: {reason}", [])
        every = len(artefact.runs)
        return "; ".join(
            f"{len(runs)} of {every} runs: {reason}" if runs else reason
            for reason, runs in reasons.items()
        )


def sources_of(project: Project, datasets: Iterable[str]) -> list[Source]:
    """Return the sources of data sets, each once."""
    cards = (project.datasets[name] for name in datasets)
    names = (name for card in cards if isinstance(card, BuiltDataset) for name in card.sources)
    return [project.sources[name] for name in dict.fromkeys(names)]


def by_hand(project: Project, paths: Paths, datasets: Iterable[str]) -> ByHand | None:
    """Return the first file that data sets wait for since only the user can get it."""
    for source in sources_of(project, datasets):
        record = paths.source(source.name) / "source.json"
        places = (record, *map(paths.by_hand.joinpath, source.contents))
        if isinstance(source, ByHand) and not any(place.exists() for place in places):
            return source
    return None

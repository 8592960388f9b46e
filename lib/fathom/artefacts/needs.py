"""What tables and figures ask of runs and corpora: which measurements, and so which decodings."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from fathom.config.cells import Cell
from fathom.config.figures import Figure
from fathom.config.known import full_name
from fathom.config.paper import Paper
from fathom.config.project import Project
from fathom.config.tables import Table

# Measurements of translations, whose keys name the split and the gates of a decoding.
_OF_TRANSLATIONS = ("bleu", "chrf")
_WINDOW = "window"


@dataclass(frozen=True)
class Artefact:
    """A table or figure, with what it asks for.

    Attributes:
        paper: the paper.
        drawn: the table or figure.
        cells: of a table, or of the tables that a figure is drawn from; empty cells left out.
        runs: full names of all runs, in the order of the artefact.
        keys: the measurements of each run by its full name.
        corpora: the data sets whose statistics it shows, as the paper names them.
    """

    paper: Paper
    drawn: Table | Figure
    cells: tuple[Cell, ...]
    runs: tuple[str, ...]
    keys: dict[str, tuple[str, ...]]
    corpora: tuple[str, ...]

    @property
    def target(self) -> str:
        """What a user types: `<paper>_<table>`."""
        return f"{self.paper.name}_{self.drawn.name}"

    @property
    def verb(self) -> str:
        """The command that draws it: table or figure."""
        return "table" if isinstance(self.drawn, Table) else "figure"

    @property
    def rows(self) -> dict[str, tuple[str, ...]]:
        """The runs of each printed row."""
        rows: dict[str, dict[str, None]] = {}
        for cell in self.cells:
            if cell.kind == "run":
                rows.setdefault(cell.id, {})[cell.source] = None
        return {row: tuple(runs) for row, runs in rows.items()}


@dataclass(frozen=True)
class Demands:
    """The artefacts of all papers at a scale.

    Attributes:
        project: the project.
        scale: the scale's name.
    """

    project: Project
    scale: str

    @cached_property
    def artefacts(self) -> dict[str, Artefact]:
        """Every table and figure by its target, in the papers' order."""
        known = self.project.known(self.scale)
        artefacts = {}
        for paper in self.project.papers.values():
            cells = {
                name: tuple(cell for cell in table.cells(known) if cell.kind != "empty")
                for name, table in paper.tables.items()
            }
            for table in paper.tables.values():
                artefact = _artefact(paper, table, cells[table.name])
                artefacts[artefact.target] = artefact
            for figure in paper.figures.values():
                shown = [cell for name in figure.settings.tables for cell in cells[name]]
                artefact = _artefact(paper, figure, shown)
                artefacts[artefact.target] = artefact
        return artefacts

    @cached_property
    def keys(self) -> dict[str, tuple[str, ...]]:
        """The measurements that all artefacts together ask of each run."""
        keys: dict[str, dict[str, None]] = {}
        for artefact in self.artefacts.values():
            for run, asked in artefact.keys.items():
                keys.setdefault(run, {}).update(dict.fromkeys(asked))
        return {run: tuple(asked) for run, asked in keys.items()}

    def decodings(self, run: str) -> tuple[tuple[str, str], ...]:
        """Return the decodings that config asks of a run, as split and gates.

        A run of which nothing is asked is decoded once: its test text with its first gates. The
        best window has translations of its own.

        Args:
            run: its full name.
        """
        spec = self.project.spec(run, self.scale)
        if spec.decoding is None:
            return ()
        pairs = {}
        for key in self.keys.get(run, ()):
            name, *qualifiers = key.split(".")
            if name in _OF_TRANSLATIONS and _WINDOW not in qualifiers:
                pairs[(qualifiers[0], qualifiers[1])] = None
        return tuple(pairs) if self.keys.get(run) else (("test", spec.gates[0]),)

    def dataset(self, name: str) -> str:
        """Return the data set that replaces another one at this scale."""
        return self.project.scale(self.scale).datasets.get(name, name)

    def not_built(self, artefact: Artefact) -> str:
        """Return why an artefact cannot be made yet; empty where all of it can."""
        reasons: dict[str, list[str]] = {}
        for run in artefact.runs:
            reason = self.project.not_built(run, self.scale)
            if reason:
                reasons.setdefault(reason, []).append(run.rpartition("/")[2])
        for corpus in artefact.corpora:
            if reason := self.project.datasets[self.dataset(corpus)].not_built:
                reasons.setdefault(f"data set {self.dataset(corpus)}: {reason}", [])
        count = len(artefact.runs)
        return "; ".join(
            f"{len(runs)} of {count} runs: {reason}" if runs else reason
            for reason, runs in reasons.items()
        )


def _artefact(paper: Paper, drawn: Table | Figure, cells: Iterable[Cell]) -> Artefact:
    """Return an artefact with the runs and measurements of its cells, or of its own settings."""
    keys: dict[str, dict[str, None]] = {}
    corpora: dict[str, None] = {}
    cells = tuple(cells)
    for cell in cells:
        if cell.kind == "run":
            keys.setdefault(cell.source, {})[cell.key] = None
        else:
            corpora[cell.source] = None
    if isinstance(drawn, Figure):
        for run in drawn.settings.runs:
            asked = keys.setdefault(full_name(paper.name, run), {})
            asked.update(dict.fromkeys(drawn.settings.measurements(run)))
    return Artefact(
        paper=paper,
        drawn=drawn,
        cells=cells,
        runs=tuple(keys),
        keys={run: tuple(asked) for run, asked in keys.items()},
        corpora=tuple(corpora),
    )

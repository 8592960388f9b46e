"""The claims of a paper, judged on the results of a scale and on the paper's own cells."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from fathom.claims.claims import ClaimPart
from fathom.claims.curves import curve
from fathom.claims.expressions import Reference
from fathom.claims.judged import Judged, judge_claims
from fathom.claims.printed import Printed, PrintedTable
from fathom.claims.quantities import Quantity
from fathom.claims.references import places
from fathom.claims.results import Results
from fathom.figures import kinds
from fathom.figures.inputs import RunFiles
from fathom.papers.figures import Figure
from fathom.papers.known import full_name
from fathom.papers.paper import Paper
from fathom.papers.tables import Table
from fathom.project.artefacts import Artefacts
from fathom.tables.sources import NOT_RUN

if TYPE_CHECKING:
    from pandas import DataFrame

# Which setting of a figure names the axis of a column of its csv.
_AXES = {"x": "x", "row": "rows", "column": "columns"}


def judged(artefacts: Artefacts, paper: Paper) -> tuple[Judged, ...]:
    """Return each part of a paper's claims with its answers, in the order of claims.yaml.

    Args:
        artefacts: tables and figures at a scale.
        paper: the paper.

    Raises:
        FathomError: a claim does not fit its tables or figures, or a file cannot be used.
    """
    claims = artefacts.project.claims.get(paper.name, {}).values()
    names = dict.fromkeys(name for claim in claims for name in claim.artefacts)
    tables = {name: paper.tables[name] for name in names if name in paper.tables}
    compared = {name: artefacts.compared(paper, table) for name, table in tables.items()}
    ours = Results(compared, _Curves(artefacts, paper))
    comparable = partial(_comparable, artefacts, paper)
    printed = printed_cells(artefacts, paper, tables)
    return tuple(judge_claims(claims, ours, printed, artefacts.scale, comparable))


def printed_cells(artefacts: Artefacts, paper: Paper, tables: Mapping[str, Table]) -> Printed:
    """Return what a paper prints in some of its tables."""
    known = artefacts.project.known()
    return Printed(
        {
            name: PrintedTable(table, table.cells(known), artefacts.reported(paper, table))
            for name, table in tables.items()
        }
    )


def _comparable(artefacts: Artefacts, paper: Paper, part: ClaimPart) -> bool:
    """Return whether all that a claim shows has the paper's own settings."""
    sources: dict[str, None] = {}
    for shown in part.shown():
        if shown.artefact in paper.tables:
            cells = artefacts.cells(paper.tables[shown.artefact])
            meant = {*places(shown, cells)}
            sources |= {cell.source: None for cell in cells if (cell.id, cell.column) in meant}
        else:
            runs = paper.figures[shown.artefact].settings.runs
            sources |= {full_name(paper.name, run): None for run in runs}
    return all(artefacts.source(name).comparable for name in sources)


@dataclass(frozen=True)
class _Curves:
    """The curves of a paper's figures; the points of a figure are read once."""

    artefacts: Artefacts
    paper: Paper
    _points: "dict[str, dict[int, DataFrame]]" = field(default_factory=dict)

    def __call__(self, reference: Reference) -> Quantity:
        """Return the curve that labels name."""
        figure = self.paper.figures[reference.artefact]
        if figure.name not in self._points:
            self._points[figure.name] = self._by_seed(figure)
        values = figure.entry.values
        axes = {column: str(values[key]) for column, key in _AXES.items() if key in values}
        return curve(reference, self._points[figure.name], axes)

    def _by_seed(self, figure: Figure) -> "dict[int, DataFrame]":
        """Return a figure's points of each seed, of the trainings that have ended."""
        inputs = self.artefacts.inputs(self.paper, figure)
        seeds = {seed for run in inputs.runs.values() for seed in run.source.folders}
        frames = {}
        for seed in sorted(seeds):
            runs = {name: _with_seed(run, seed) for name, run in inputs.runs.items()}
            points = kinds.rows(figure, replace(inputs, runs=runs))
            under_way = [run.name for run in runs.values() if run.source.training(run.seed) is None]
            points.loc[points["run"].isin(under_way), "words"] = NOT_RUN
            frames[seed] = points.loc[points["seed"] == seed]
        return frames


def _with_seed(run: RunFiles, seed: int) -> RunFiles:
    """Return a run with one of its seeds, or with its first where it has no such seed."""
    seed = seed if seed in run.source.folders else run.seed
    folders = {seed: run.source.folders[seed]}
    return replace(run, source=replace(run.source, folders=folders))

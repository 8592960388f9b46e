"""The claims of a paper, judged on the results of a scale and on the paper's own cells."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.claims.curves import curve
from fathom.artefacts.claims.expressions import Reference, shown
from fathom.artefacts.claims.judged import Judged, judge_claims
from fathom.artefacts.claims.quantities import Quantity
from fathom.artefacts.claims.references import places
from fathom.artefacts.claims.results import Results
from fathom.artefacts.claims.shapes import named
from fathom.artefacts.figures import points
from fathom.artefacts.printed import printed_cells, tables_of
from fathom.config.claims import ClaimPart
from fathom.config.paper import Paper
from fathom.config.spec import full_name


def judged(artefacts: Artefacts, paper: Paper) -> tuple[Judged, ...]:
    """Return each part of a paper's claims with its answers, in the order of claims.yaml.

    Args:
        artefacts: tables and figures at a scale.
        paper: the paper.

    Raises:
        FathomError: a claim does not fit its tables or figures, or a file cannot be used.
    """
    claims = artefacts.project.claims.get(paper.name, {}).values()
    tables = tables_of(claims, paper)
    compared = {name: artefacts.compared(paper, table) for name, table in tables.items()}
    ours = Results(compared, _Curves(artefacts, paper))
    comparable = partial(_comparable, artefacts, paper)
    printed = printed_cells(artefacts.project, paper)
    return tuple(judge_claims(claims, ours, printed, artefacts.scale, comparable))


def _comparable(artefacts: Artefacts, paper: Paper, part: ClaimPart) -> bool:
    """Return whether all that a claim shows has the paper's own settings."""
    sources: dict[str, None] = {}
    for each in shown(part):
        if each.artefact in paper.tables:
            cells = artefacts.cells(paper.tables[each.artefact])
            meant = {*places(each, cells)}
            sources |= {cell.source: None for cell in cells if (cell.id, cell.column) in meant}
        else:
            runs = paper.figures[each.artefact].settings.runs
            sources |= {full_name(paper.name, run): None for run in runs}
    # Where a scale has none of them, there is nothing to compare.
    return bool(sources) and all(artefacts.source(name).comparable for name in sources)


@dataclass(frozen=True)
class _Curves:
    """The curves of a paper's figures; the points of a figure are read once."""

    artefacts: Artefacts
    paper: Paper
    _points: dict[str, Any] = field(default_factory=dict)

    def __call__(self, reference: Reference) -> Quantity:
        """Return the curve that labels name."""
        figure = self.paper.figures[reference.artefact]
        if figure.name not in self._points:
            inputs = self.artefacts.inputs(self.paper, figure)
            self._points[figure.name] = points.by_seed(figure, inputs)
        own = self._points[figure.name]
        (drawn, *_), _ = named(figure, reference)
        return curve(reference, own, points.axes(drawn), points.worst(figure))

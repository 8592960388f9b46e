"""The paper's own cells as numbers of claims: the printed ± decides, or the digits.

Misprints count as corrected. Curves have no printed numbers.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from fathom.artefacts.claims.evidence import Interval
from fathom.artefacts.claims.expressions import Reference
from fathom.artefacts.claims.quantities import Curve, Quantity, Sum, Term
from fathom.artefacts.claims.references import name_of, places, quantity, worst
from fathom.config.reported import Reported
from fathom.config.schema.table import GAIN
from fathom.config.tables import Cell, Table

NOT_PRINTED = "not printed"
DIGITS = "digits as printed"
PRINTED = "1.96 printed standard errors"
Z = 1.96


@dataclass(frozen=True)
class PrintedTable:
    """A table with what the paper prints.

    Attributes:
        table: the table.
        cells: its cells at the paper's own settings.
        reported: what is printed.
    """

    table: Table
    cells: tuple[Cell, ...]
    reported: tuple[Reported, ...]


@dataclass(frozen=True)
class Printed:
    """The numbers that a paper prints.

    Attributes:
        tables: the tables that claims show, by name.
    """

    tables: Mapping[str, PrintedTable]
    _terms: dict[tuple[str, str, str], Term] = field(default_factory=dict, repr=False)
    _marked: set[Term] = field(default_factory=set, repr=False)

    def shown(self, reference: Reference) -> Quantity:
        """Return printed cells; of a figure, that nothing is printed."""
        if reference.artefact not in self.tables:
            return Curve(reference.artefact, "", {}, NOT_PRINTED, missing=True)
        cells = self.tables[reference.artefact].cells
        terms = [self._term(reference, place) for place in places(reference, cells)]
        return quantity(reference, [Sum({term: 1.0}) for term in terms])

    def interval(self, weights: Mapping[Term, float]) -> Interval:
        """Return 1.96 printed standard errors, or that the digits decide."""
        known = [factor * term.stderr for term, factor in weights.items() if term.stderr]
        return Interval(Z * math.hypot(*known), PRINTED) if known else Interval(None, DIGITS)

    def gains(self, term: Term) -> bool:
        """Return whether a cell has the mark of a significant gain."""
        return term in self._marked

    def _term(self, reference: Reference, place: tuple[str, str]) -> Term:
        key = (reference.artefact, *place)
        if key not in self._terms:
            printed = self.tables[reference.artefact]
            cells = {(cell.id, cell.column): cell for cell in printed.cells}
            reported = {(item.row, item.column): item for item in printed.reported}
            item, name = reported.get(place), name_of(reference, place)
            row = f"{reference.artefact}/{place[0]}"
            if item is None or not (item.value or item.outcome):
                self._terms[key] = Term(name, math.nan, NOT_PRINTED, missing=True, source=row)
            elif item.number is None:
                bad = worst(cells[place], printed.table.vocabulary)
                self._terms[key] = Term(name, bad, item.outcome, source=row)
            else:
                self._terms[key] = Term(name, item.number, stderr=item.deviation, source=row)
                mark = printed.table.marks.get(item.mark)
                if mark is not None and mark.means == GAIN:
                    self._marked.add(self._terms[key])
        return self._terms[key]

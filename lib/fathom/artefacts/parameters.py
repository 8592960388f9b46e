"""The parameter counts that papers print, each with the network that it describes.

The printed counts are cells of the tables. parameters.yaml adds what the tables do not say: the
sizes of the dictionaries, and why a printed count is no count of the network.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from fathom.config import reported
from fathom.config.paper import Paper
from fathom.config.project import Project
from fathom.config.reported import Reported
from fathom.config.schema.parameters import Parameters, VocabularySizes
from fathom.config.spec import Spec, full_name
from fathom.config.tables import Cell, Table
from fathom.config.yaml_values import Value
from fathom.io.errors import FathomError, unknown

KEY = "parameters"
# A share of the printed number.
AGREEMENT = 0.01
_MILLION = 1_000_000
_ADDED = "difference"


@dataclass(frozen=True)
class Printed:
    """A count as a paper prints it.

    Attributes:
        paper, table: where it is printed.
        cell: the reported cell; in millions.
        spec: the run whose network it counts.
        added_to: the run whose network is taken off, where the number counts only what is added.
        source_entries, target_entries: sizes of the two dictionaries.
        reason: why the number is no count of the network; empty where it is.
    """

    paper: str
    table: str
    cell: Reported
    spec: Spec
    added_to: Spec | None
    source_entries: int
    target_entries: int
    reason: str

    def difference(self, ours: int) -> float | None:
        """Return by which share of the printed number ours is larger; None where 0 is printed."""
        printed = float(self.cell.value) * _MILLION
        return ours / printed - 1 if printed else None

    def verdict(self, ours: int) -> str:
        """Judge a printed number by the network's count.

        Args:
            ours: the parameters of the network, or those that it adds.

        Returns:
            "agrees" (within 1 %, or the same digits: few are printed of what is added), "misprint"
            (the corrected number agrees), "unexplained" or "differs".
        """
        if _agrees(self.cell.value, ours):
            return "agrees"
        if self.cell.right:
            return "misprint" if _agrees(self.cell.right, ours) else "differs"
        return "unexplained" if self.reason else "differs"


def _agrees(millions: str, ours: int) -> bool:
    printed, decimals = float(millions) * _MILLION, len(millions.partition(".")[2])
    same_digits = f"{ours / _MILLION:.{decimals}f}" == millions
    return same_digits or abs(ours - printed) <= AGREEMENT * printed


def printed(project: Project) -> Iterator[Printed]:
    """Yield the printed counts of all papers, at the papers' own settings.

    Raises:
        Findings: a reported cell or a parameters.yaml is wrong.
    """
    for paper in project.papers.values():
        for table in paper.tables.values():
            cells = {(cell.id, cell.column): cell for cell in project.cells(table)}
            for item in reported.read(paper.reported(table.name), cells.values(), project.root):
                cell = cells[item.row, item.column]
                if cell.key == KEY and item.value:
                    yield _printed(project, paper, table, cell, item, cells)


def _printed(
    project: Project,
    paper: Paper,
    table: Table,
    cell: Cell,
    item: Reported,
    cells: dict[tuple[str, str], Cell],
) -> Printed:
    mark = table.marks.get(item.mark)
    added_to = None
    if mark is not None and mark.means == _ADDED:
        rows = (other for other in cells.values() if other.block == cell.block)
        source = next((other.source for other in rows if other.row == mark.to), "")
        added_to = project.spec(source or full_name(paper.name, mark.to))
    sizes = vocabulary(project, paper, cell.source)
    return Printed(
        paper=paper.name,
        table=table.name,
        cell=item,
        spec=project.spec(cell.source),
        added_to=added_to,
        source_entries=sizes.source,
        target_entries=sizes.target,
        reason=_reason(paper.parameters, table.name, item.column),
    )


def vocabulary(project: Project, paper: Paper, run: str) -> VocabularySizes:
    """Return the sizes of a run's dictionaries: those of the last family that the run is like.

    Args:
        paper: whose parameters.yaml says it.
        run: the run's full name.

    Raises:
        FathomError: If there are none.
    """
    ancestors = project.entry(run).ancestors
    fitting = [sizes for sizes in paper.parameters.vocabularies if sizes.like in ancestors]
    if not fitting:
        where = (paper.file("parameters") or Value(None)).place("vocabularies")
        raise FathomError(f"no sizes of dictionaries for {run}", where, "add an entry")
    return fitting[-1]


def findings(project: Project) -> Iterator[FathomError]:
    """Yield families and tables in the papers' parameters.yaml that do not exist."""
    for paper in project.papers.values():
        if (file := paper.file("parameters")) is None:
            continue
        families = project.families(paper.name)
        for number, sizes in enumerate(paper.parameters.vocabularies):
            if sizes.like not in families:
                where = file.place("vocabularies", number, "like")
                yield unknown("family", sizes.like, where, families)
        for number, item in enumerate(paper.parameters.unexplained):
            for table in item.tables:
                if table not in paper.tables:
                    where = file.place("unexplained", number, "tables")
                    yield unknown("table", table, where, paper.tables)


def _reason(parameters: Parameters, table: str, column: str) -> str:
    fitting = (
        item.reason
        for item in parameters.unexplained
        if table in item.tables and (not item.columns or column in item.columns)
    )
    return next(fitting, "")

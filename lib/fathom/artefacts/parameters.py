"""The parameter counts that papers print, each with the network that it describes.

The printed counts are cells of the tables. parameters.yaml adds what the tables do not say: the
sizes of the dictionaries, and why a printed count is not a count of the network.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from fathom.artefacts.table.verdicts import allowed_difference, is_within
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.config.reported import Reported
from fathom.config.schema.columns import Tolerance
from fathom.config.schema.paper import VocabularySizes
from fathom.config.schema.table import DIFFERENCE
from fathom.config.spec import Spec, full_name
from fathom.config.tables import Cell, Table
from fathom.io.errors import FathomError, unknown
from fathom.io.files import is_there
from fathom.io.records import read_record

KEY = "parameters"
_MILLION = 1_000_000


@dataclass(frozen=True)
class PrintedCount:
    """A count as a paper prints it."""

    paper: str
    table: str
    cell: Reported  # in millions
    spec: Spec  # the run whose network it counts
    added_to: Spec | None  # whose network is taken off, where it counts only what is added
    source_entries: int  # of the source dictionary
    target_entries: int
    reason: str  # why the number is not a count of the network; empty where it is
    tolerance: Tolerance | None
    finding: str = ""  # of the reason, what is known for certain

    def ours(self) -> int:
        """Return the parameters of the network, or those that it adds, without making tensors."""
        entries = (self.source_entries, self.target_entries)
        added_to = network_size(self.added_to, *entries) if self.added_to else 0
        return network_size(self.spec, *entries) - added_to

    def difference(self, ours: int) -> float | None:
        """Return by which share of the printed number ours is larger; None where 0 is printed."""
        printed = float(self.cell.value) * _MILLION
        return ours / printed - 1 if printed else None

    def verdict(self, ours: int) -> str:
        """Return "agrees", "misprint" (the corrected number agrees), "unexplained" or "differs"."""
        number = self.cell.number or 0.0
        allowed = allowed_difference(self.tolerance, number, self.cell.decimals)
        if is_within(ours / _MILLION - number, allowed):
            return "misprint" if self.cell.right else "agrees"
        return "unexplained" if self.reason and not self.cell.right else "differs"


def printed_counts(
    project: Project, without_sizes: list[FathomError], papers: Iterable[str] | None = None
) -> Iterator[PrintedCount]:
    """Yield the printed counts of some papers, or of all, at the papers' own settings.

    Counts of runs whose dictionaries have no sizes are left out; `without_sizes` gets why.
    """
    for name in project.papers if papers is None else papers:
        paper = project.papers[name]
        for table in paper.tables.values():
            cells = {(cell.id, cell.column): cell for cell in project.cells(table)}
            for item in paper.printed(table.name, cells.values()):
                cell = cells[item.row, item.column]
                if cell.value is None or cell.key != KEY or not item.value:
                    continue
                try:
                    sizes = vocabulary(project, cell.source)
                except FathomError as error:
                    without_sizes.append(error)
                    continue
                fitting = (
                    each
                    for each in paper.parameters.unexplained
                    if table.name in each.tables and item.column in (each.columns or [item.column])
                )
                unexplained = next(fitting, None)
                yield PrintedCount(
                    paper=paper.name,
                    table=table.name,
                    cell=item,
                    spec=project.spec(cell.source),
                    added_to=_added_to(project, table, cell, item, cells.values()),
                    source_entries=sizes.source,
                    target_entries=sizes.target,
                    reason=unexplained.reason if unexplained else "",
                    tolerance=table.vocabulary.measurement(cell.value).tolerance(cell.task),
                    finding=unexplained.finding if unexplained else "",
                )


def _added_to(
    project: Project, table: Table, cell: Cell, item: Reported, cells: Iterable[Cell]
) -> Spec | None:
    """Return the run whose network a count leaves out: the mark names a row of its block, or it."""
    mark = table.marks.get(item.mark)
    if mark is None or mark.means != DIFFERENCE:
        return None
    rows = [each.source for each in cells if (each.block, each.row) == (cell.block, mark.to)]
    return project.spec(next(filter(None, rows), full_name(table.paper, mark.to)))


def vocabulary(project: Project, run: str) -> VocabularySizes:
    """Return the sizes of a run's dictionaries, from the parameters.yaml of its paper.

    They are those of the last entry that names the run or what it is like; without one it raises.
    """
    paper, ancestors = project.papers[run.partition("/")[0]], project.entry(run).ancestors
    fitting = [sizes for sizes in paper.parameters.vocabularies if sizes.like in ancestors]
    if not fitting:
        path = f"{project.files.name_of(paper.folder)}/parameters.yaml"
        where = path if (file := paper.file("parameters")) is None else file.place("vocabularies")
        raise FathomError(f"no sizes of dictionaries for {run}", where, "add an entry")
    return fitting[-1]


def network_size(spec: Spec, source: int, target: int) -> int:
    """Return the parameters of a run's network with dictionaries of these sizes."""
    from fathom.methods.build import count

    return count(spec.model, spec.method, len(spec.data.tasks), source, target)["total"]


def untrained_size(project: Project, paths: Paths, name: str) -> int | None:
    """Return the parameters of a run's network; None where its dictionaries are not known.

    Their sizes are those of the run's encoded text, or else, with the paper's own settings, those
    of parameters.yaml.
    """
    spec = project.spec(name, paths.scale)
    record = paths.tensors(spec.data) / "tensors.json"
    if is_there(record):
        sizes = [*read_record(record)["dictionaries"].values()]
        return network_size(spec, sizes[0], sizes[-1])
    if not project.comparable(name, paths.scale):
        return None
    try:
        entries = vocabulary(project, name)
    except FathomError:
        return None
    return network_size(spec, entries.source, entries.target)


def findings(project: Project) -> list[FathomError]:
    """Return unknown names in the papers' parameters.yaml, or else the runs without sizes."""
    wrong = [*_unknown_names(project)]
    if not wrong:
        deque(printed_counts(project, wrong), maxlen=0)
    return wrong


def _unknown_names(project: Project) -> Iterator[FathomError]:
    for paper in project.papers.values():
        if (file := paper.file("parameters")) is None:
            continue
        likes = [project.entry(run).ancestors for run in project.runs_of(paper.name)]
        names = dict.fromkeys([*project.families(paper.name), *chain(*likes)])
        for number, sizes in enumerate(paper.parameters.vocabularies):
            if sizes.like not in names:
                where = file.place("vocabularies", number, "like")
                yield unknown("family", sizes.like, where, names)
        for number, item in enumerate(paper.parameters.unexplained):
            for table in item.tables:
                if table not in paper.tables:
                    where = file.place("unexplained", number, "tables")
                    yield unknown("table", table, where, paper.tables)

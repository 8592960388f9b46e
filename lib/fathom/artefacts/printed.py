"""What the papers' own cells answer, next to what claims.yaml says that they do."""

from collections.abc import Iterable, Iterator

from fathom.artefacts.claims.expressions import artefacts
from fathom.artefacts.claims.judged import on_printed
from fathom.artefacts.claims.printed import Printed, PrintedTable
from fathom.config import reported
from fathom.config.claims import Claim, ClaimPart
from fathom.config.paper import Paper
from fathom.config.project import Project
from fathom.config.tables import Table
from fathom.io.errors import FathomError


def tables_of(claims: Iterable[Claim], paper: Paper) -> dict[str, Table]:
    """Return the tables of a paper that some of its claims show."""
    names = dict.fromkeys(name for claim in claims for name in artefacts(claim))
    return {name: paper.tables[name] for name in names if name in paper.tables}


def printed_cells(project: Project, paper: Paper) -> Printed:
    """Return what a paper prints in the tables that its claims show.

    Raises:
        FathomError: the reported cells cannot be used.
    """
    tables = {}
    for name, table in tables_of(project.claims.get(paper.name, {}).values(), paper).items():
        cells = project.cells(table)
        printed = reported.read(paper.reported(name), cells, project.root)
        tables[name] = PrintedTable(table, cells, printed)
    return Printed(tables)


def findings(part: ClaimPart, cells: Printed) -> Iterator[FathomError]:
    """Yield that `supports` is not what the paper's own cells answer."""
    answer, evidence = on_printed(part, cells)
    if answer != part.supports:
        numbers = f" ({evidence[0].text})" if evidence else ""
        what = f"the paper's own cells answer '{answer}', not '{part.supports}'{numbers}"
        yield FathomError(what, part.supports_where, f"write {answer}, or correct the claim")

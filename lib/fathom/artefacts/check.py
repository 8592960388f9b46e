"""What figures, claims and parameter counts say, checked against tables, runs and printed cells."""

import re
from collections.abc import Collection, Iterator
from contextlib import suppress

from fathom.artefacts import parameters
from fathom.artefacts.claims import judged as claims
from fathom.artefacts.claims.worlds import Printed
from fathom.artefacts.figures import check as figures
from fathom.config.consistency import asking
from fathom.config.paper import Paper
from fathom.config.project import Project
from fathom.config.reported import reported_faults
from fathom.config.spec import full_name
from fathom.io.errors import FathomError, unknown


def findings(project: Project, paper: str | None = None) -> list[FathomError]:
    """Return what is wrong in figures and claims of a paper, or of all, each finding once.

    Those of all have parameters.yaml and runs that nothing uses. The config of the project must
    have no findings of its own.
    """
    papers = [project.papers[paper]] if paper else [*project.papers.values()]
    faults = [fault for each in papers for fault in _of_paper(project, each)]
    if paper is None:
        faults += parameters.findings(project)
        faults = faults or [*_unused_runs(project)]
    return [*{str(fault): fault for fault in faults}.values()]


def beyond_config(project: Project, wrong: Collection[FathomError]) -> Iterator[FathomError]:
    """Yield what figures, claims and reported cells add to what is wrong in config.

    After a finding of config, only tables whose rows and columns are certain are compared with
    their reported cells and with the claims that show them.
    """
    yield from () if wrong else findings(project)
    for paper in project.papers.values() if wrong else ():
        folder, found = project.files.name_of(paper.folder), []
        # Tasks are rows and columns, too.
        names = rf"/datasets/|{re.escape(folder)}/(paper|tables|figures)[.]yaml"
        if paper.is_study or any(re.search(names, finding.where) for finding in wrong):
            continue
        # What stops it, or has a place in another file, is in `wrong`.
        with suppress(FathomError):
            printed = Printed(project, paper)
            for name, table in paper.tables.items():
                cells, path = project.outlined(table), paper.reported(name)
                of_table = [*asking(reported_faults, path, table, cells, project)]
                printed.unread |= {name} if of_table else set()
                found += of_table
            found += _of_claims(printed)
        here = (f"{folder}/claims.yaml", f"{folder}/reported/")
        yield from (finding for finding in found if finding.where.startswith(here))


def _of_paper(project: Project, paper: Paper) -> Iterator[FathomError]:
    """Yield what is wrong in a paper's figures, and then in its claims."""
    for figure in paper.figures.values():
        yield from figures.findings(figure, project, paper.tables)
    yield from _of_claims(Printed(project, paper))


def _of_claims(printed: Printed) -> Iterator[FathomError]:
    """Yield what is wrong in claims; of unread tables no answers."""
    for claim in printed.project.claims.get(printed.paper.name, {}).values():
        for name, where in claim.figures.items():
            if name not in printed.paper.figures:
                yield unknown("figure", name, where, printed.paper.figures)
        for part in claim.parts:
            shown = claims.tables_of(part)
            for finding in claims.findings(claim, part, printed):
                if finding.where != part.supports_where or printed.unread.isdisjoint(shown):
                    yield finding


def _unused_runs(project: Project) -> Iterator[FathomError]:
    """Yield the runs that no table, no figure and no other run uses."""
    used = set()
    for name, entry in project.entries.items():
        start = entry.values.get("start", "run")
        if isinstance(start, str):
            used.add(full_name(name.split("/")[0], start))
    for paper in project.papers.values():
        used |= {cell.source for table in paper.tables.values() for cell in project.cells(table)}
        for figure in paper.figures.values():
            used |= {full_name(paper.name, run) for run in figure.settings.runs}
    for name, entry in project.entries.items():
        if name not in used and not project.files.is_study(name.partition("/")[0]):
            what, where = "no table and no figure uses this run", entry.values.where
            yield FathomError(what, where, "use it or delete it")

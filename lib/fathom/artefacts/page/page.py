"""One HTML file for a paper: tables, figures, curves, claims, deviations, data, cost, citation.

The file needs no network, and no other file but those that its links name.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from fathom.artefacts import deviations
from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.claims.judged import Judged
from fathom.artefacts.page.claims import OBSERVED, page_claims
from fathom.artefacts.page.data import data_of
from fathom.artefacts.page.figures import page_figures, table_curves
from fathom.artefacts.page.head import bibtex, head, software
from fathom.artefacts.page.runs import ASSUMPTION, costs, costs_by_device, runs_of
from fathom.artefacts.page.tables import (
    CellDetails,
    PageTable,
    details,
    minus,
    page_table,
    spoken,
)
from fathom.artefacts.rendering import environment
from fathom.artefacts.table.comparison import ComparedTable
from fathom.artefacts.table.view import label, place
from fathom.config.paper import Paper


def page(
    artefacts: Artefacts,
    paper: Paper,
    tables: Mapping[str, ComparedTable],
    claims: Sequence[Judged],
) -> str:
    """Return the page of a paper, made of the results that exist.

    Args:
        artefacts: where all files are.
        paper: the paper.
        tables: its tables by name, compared with what it reports.
        claims: the parts of its claims, judged.

    Raises:
        FathomError: If a file of a training, a measurement or a corpus cannot be used.
    """
    scale = artefacts.project.scale(artefacts.scale)
    runs = runs_of(artefacts, paper, tables)
    shown = [page_table(table, runs) for table in tables.values()]
    devices = costs_by_device(runs.values())
    home = artefacts.paths.page(paper.name).parent
    templates = environment(autoescape=True)
    templates.filters |= {
        "minus": minus,
        "spoken": spoken,
        "place": place,
        "number": lambda spec: label(spec.name, "").partition(" · ")[0],
    }
    return templates.get_template("page.html").render(
        head=head(tables, runs, devices, claims),
        scale=artefacts.scale,
        scale_title=scale.title.removeprefix(f"{artefacts.scale}: "),
        paper=paper,
        tables=shown,
        cells=_by_source(shown, scale.title),
        runs=runs,
        figures=page_figures(artefacts, paper, runs),
        curves=table_curves(artefacts, shown, runs),
        claims=page_claims(claims),
        observed=OBSERVED,
        data=data_of(artefacts, paper, runs),
        costs=costs(runs.values()),
        devices=devices,
        assumption=ASSUMPTION,
        deviation_parts=deviations.PARTS,
        deviation_fragment=deviations.fragment,
        bibtex=bibtex(paper.about),
        software=software(artefacts.scale, runs.values()),
        link=lambda path: link(path, home),
        inside=lambda path: path.relative_to(artefacts.paths.results).as_posix(),
    )


def link(path: Path, home: Path) -> str:
    """Return the address of a file of the results from the page's folder."""
    from urllib.parse import quote

    return quote(Path(os.path.relpath(path, home)).as_posix())


def _by_source(tables: list[PageTable], scale_title: str) -> dict[str, list[CellDetails]]:
    """Return the details of all cells by the run or corpus that they show."""
    cells: dict[str, list[CellDetails]] = {}
    for table in tables:
        for source, cell in details(table, scale_title):
            cells.setdefault(source, []).append(cell)
    return cells

"""Figures and learning curves on the page, as pictures inside it."""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.curves import LearningCurve, curve, pictures, run_labels
from fathom.artefacts.figures import kinds
from fathom.artefacts.page.runs import PageRun
from fathom.artefacts.page.tables import PageTable
from fathom.config.figures import Figure
from fathom.config.paper import Paper
from fathom.config.spec import full_name


@dataclass(frozen=True)
class PageFigure:
    """A figure of the page."""

    spec: Figure
    picture: str  # the bytes of a PNG as text; empty where none of its runs was trained
    missing: tuple[str, ...]  # the names of its runs that were not trained
    csv: Path | None  # the file of its numbers, where it was written


@dataclass(frozen=True)
class TableCurves:
    """The curves of a table's rows, those left out that an earlier table has."""

    table: PageTable
    pictures: tuple[tuple[LearningCurve, str], ...]  # of each run that was started, an SVG as text
    elsewhere: tuple[str, ...]  # the names of runs that an earlier table shows


def page_figures(
    artefacts: Artefacts, paper: Paper, runs: Mapping[str, PageRun]
) -> list[PageFigure]:
    """Return a paper's figures, drawn from what exists.

    Raises:
        FathomError: If a file that one is drawn from cannot be used.
    """
    drawn = []
    for figure in paper.figures.values():
        names = {full_name(paper.name, run): None for run in figure.settings.runs}
        for table in figure.settings.tables:
            cells = artefacts.cells(paper.tables[table])
            names |= {cell.source: None for cell in cells if cell.kind == "run"}
        missing = tuple(runs[name].short_name for name in names if not runs[name].ended)
        picture = ""
        if len(missing) < len(names):
            picture = _embedded(kinds.png(figure, artefacts.inputs(paper, figure)))
        csv = artefacts.stem(paper, figure).with_suffix(".csv")
        drawn.append(PageFigure(figure, picture, missing, csv if csv.is_file() else None))
    return drawn


def table_curves(
    artefacts: Artefacts, tables: Iterable[PageTable], runs: Mapping[str, PageRun]
) -> list[TableCurves]:
    """Return the curves of all tables whose cells show runs, each run once.

    Raises:
        FathomError: If a file of a training is damaged.
    """
    drawn: set[str] = set()
    shown = []
    for table in tables:
        names = run_labels(cell.item.result.cell for cell in table.cells)
        new = [name for name in names if name not in drawn]
        curves = [curve(names[name], runs[name].source, artefacts.updates(name)) for name in new]
        elsewhere = tuple(label for name, label in names.items() if name in drawn)
        drawn.update(new)
        if names:
            images = tuple((curve, _embedded(svg.encode())) for curve, svg in pictures(curves))
            shown.append(TableCurves(table, images, elsewhere))
    return shown


def _embedded(picture: bytes) -> str:
    return b64encode(picture).decode("ascii")

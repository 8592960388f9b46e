"""Figures on the page, as pictures inside it."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.figures import kinds
from fathom.artefacts.page.runs import Run
from fathom.artefacts.table.view import label, place
from fathom.config.figures import Figure
from fathom.config.paper import Paper
from fathom.config.spec import full_name


@dataclass(frozen=True)
class PageFigure:
    """A figure of the page.

    Attributes:
        name: its key in figures.yaml, and the id of its section.
        number, title: `Figure 4` and the heading.
        where: where it is in the paper.
        caption: what a reader must know to read it; may be empty.
        picture: the bytes of a PNG as text; empty where none of its runs was trained.
        missing: the names of its runs that were not trained.
        csv: the file of its numbers, where it was written.
    """

    name: str
    number: str
    title: str
    where: str
    caption: str
    picture: str
    missing: tuple[str, ...]
    csv: Path | None


def page_figures(artefacts: Artefacts, paper: Paper, runs: Mapping[str, Run]) -> list[PageFigure]:
    """Return a paper's figures, drawn from what exists.

    Raises:
        FathomError: a file that one is drawn from cannot be used.
    """
    return [_figure(artefacts, paper, figure, runs) for figure in paper.figures.values()]


def _figure(
    artefacts: Artefacts, paper: Paper, figure: Figure, runs: Mapping[str, Run]
) -> PageFigure:
    number, _, title = label(figure.name, figure.title).partition(" · ")
    names = _runs_of(artefacts, paper, figure)
    missing = tuple(name for name in names if not runs[name].ended)
    picture = ""
    if len(missing) < len(names):
        picture = b64encode(kinds.png(figure, artefacts.inputs(paper, figure))).decode("ascii")
    csv = artefacts.stem(paper, figure).with_suffix(".csv")
    return PageFigure(
        name=figure.name,
        number=number,
        title=title,
        where=place(figure.section),
        caption=figure.caption,
        picture=picture,
        missing=tuple(runs[name].short_name for name in missing),
        csv=csv if csv.is_file() else None,
    )


def _runs_of(artefacts: Artefacts, paper: Paper, figure: Figure) -> list[str]:
    """Return the full names of the runs that a figure draws itself or through tables."""
    names = {full_name(paper.name, run): None for run in figure.settings.runs}
    for table in figure.settings.tables:
        cells = artefacts.cells(paper.tables[table])
        names |= {cell.source: None for cell in cells if cell.kind == "run"}
    return list(names)

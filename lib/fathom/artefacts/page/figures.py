"""Figures and learning curves on the page, as pictures inside it."""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.curves import curve, pictures, run_labels
from fathom.artefacts.figures import kinds
from fathom.artefacts.page.runs import PageRun
from fathom.artefacts.page.tables import PageTable
from fathom.config.paper import Paper
from fathom.config.spec import full_name


def page_figures(
    artefacts: Artefacts, paper: Paper, runs: Mapping[str, PageRun]
) -> list[dict[str, Any]]:
    """Return a paper's figures with their pictures, drawn from what exists.

    Raises:
        FathomError: If a file that one is drawn from cannot be used.
    """
    figures = []
    for figure in paper.figures.values():
        names = {full_name(paper.name, run): None for run in figure.settings.runs}
        for table in figure.settings.tables:
            cells = artefacts.cells(paper.tables[table])
            names |= {cell.source: None for cell in cells if cell.kind == "run"}
        missing = [runs[name].short_name for name in names if not runs[name].ended]
        picture = ""
        if len(missing) < len(names):
            picture = _embedded(kinds.png(figure, artefacts.inputs(paper, figure)))
        csv = artefacts.stem(paper, figure).with_suffix(".csv")
        written = csv if csv.is_file() else None
        figures.append({"spec": figure, "picture": picture, "missing": missing, "csv": written})
    return figures


def table_curves(tables: Iterable[PageTable], runs: Mapping[str, PageRun]) -> list[dict[str, Any]]:
    """Return the curves of all tables whose cells show runs, each run in the first that shows it.

    Raises:
        FathomError: If a file of a training is damaged.
    """
    above: set[str] = set()
    groups = []
    for table in tables:
        names = run_labels(cell.item.result.cell for cell in table.cells)
        if names:
            curves = [curve(names[name], runs[name].source) for name in names if name not in above]
            images = [(curve, _embedded(svg.encode())) for curve, svg in pictures(curves)]
            elsewhere = [label for name, label in names.items() if name in above]
            groups.append({"table": table, "pictures": images, "elsewhere": elsewhere})
        above.update(names)
    return groups


def _embedded(picture: bytes) -> str:
    return b64encode(picture).decode("ascii")

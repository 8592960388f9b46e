"""`fathom figure`: draw a figure from measurements and the series of trainings."""

from typing import Annotated

import typer

from fathom.cli.options import Results, Scale, Seeds, check_artefacts, open_artefacts, report
from fathom.cli.table import Partial


def figure(
    target: Annotated[str, typer.Argument(help="A figure, as <paper>_<figure>.")],
    scale: Scale = None,
    results: Results = None,
    seeds: Seeds = None,
    partial: Partial = False,
) -> None:
    """Draw a figure as csv, png and pdf.

    Trains nothing: the files of all its runs must exist, unless --partial is given.

    Example: fathom figure latent_depth_figure4 --partial
    """
    from fathom.artefacts.figures import kinds
    from fathom.config.paper import find

    artefacts = open_artefacts(scale, results, seeds)
    paper, drawn = find(artefacts.project.papers, target, "figure")
    check_artefacts(artefacts.project, paper.name)
    if not partial:
        artefacts.require(paper, drawn)
    stem = artefacts.stem(paper, drawn)
    kinds.draw(drawn, artefacts.inputs(paper, drawn), stem)
    report(f"figure: {stem}.png, pdf, csv")

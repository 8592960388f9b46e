"""`fathom figure`: draw a figure from manifests."""

from typing import Annotated

import typer

from fathom.cli.options import Scale, open_catalog, open_paths, report


def figure(
    target: Annotated[str, typer.Argument(help="A figure, as <paper>_<artefact>.")],
    scale: Scale = None,
    partial: Annotated[
        bool, typer.Option(help="Draw what is there; the rest says `not run`.")
    ] = False,
) -> None:
    """Draw a figure as csv, pdf and png.

    Nothing is trained: it needs the manifest of each of its runs, or --partial.

    Example: fathom figure latent_depth_figure4 --partial
    """
    from fathom.figures import kinds
    from fathom.papers.paper import find_artefact
    from fathom.tables import differences
    from fathom.tables.manifests import require, rows_of

    catalog = open_catalog()
    name, paths = open_paths(catalog, scale)
    paper, artefact = find_artefact(catalog.papers, target, "figure")
    rows = rows_of(artefact, catalog, paths)
    if not partial:
        require(rows, target, "figure", name)
    path = paths.artefact(paper.name, artefact.name, "csv")
    differences.write(artefact, rows, name, path)
    kinds.draw(artefact, path.with_suffix(""))
    report(f"figure: {path.with_suffix('.png')}, and pdf, csv beside it")

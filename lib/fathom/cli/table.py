"""`fathom table`: draw a table from measurements."""

from typing import Annotated

import typer

from fathom.cli.options import Results, Scale, Seeds, open_artefacts, report

Partial = Annotated[bool, typer.Option(help="Draw what exists; the rest says `not run`.")]


def table(
    target: Annotated[str, typer.Argument(help="A table, as <paper>_<table>.")],
    scale: Scale = None,
    results: Results = None,
    seeds: Seeds = None,
    partial: Partial = False,
    show: Annotated[bool, typer.Option(help="Print the table too.")] = False,
) -> None:
    """Draw a table as csv, md, tex and html, our numbers above the paper's.

    Trains nothing: the measurements of all its runs must exist, unless --partial is given.

    Example: fathom table latent_depth_table5 --partial --show
    """
    from fathom.papers.paper import find
    from fathom.tables import formats
    from fathom.tables.view import first_notes, view

    artefacts = open_artefacts(scale, results, seeds)
    paper, drawn = find(artefacts.project.papers, target, "table")
    if not partial:
        artefacts.require(paper, drawn)
    compared = artefacts.compared(paper, drawn)
    laid_out = view(compared, paper.about.reference)
    stem = artefacts.stem(paper, drawn)
    formats.write(laid_out, formats.numbers(compared), stem)
    for note in first_notes(compared):
        report(f"table: {note}")
    report(f"table: {stem}.md, csv, tex, html")
    if show:
        print(formats.markdown(laid_out))

"""`fathom where`: the function and the test of an equation."""

from typing import Annotated

import typer

from fathom.cli.options import open_catalog

Paper = Annotated[str, typer.Argument(help="A paper's id, as `fathom list papers` names it.")]
Number = Annotated[str | None, typer.Argument(help='An equation\'s number, or "Alg. 2".')]


def where(paper: Paper, number: Number = None) -> None:
    """Print where an equation of a paper is computed and where it is proven.

    Example: fathom where <paper> 5
    """
    from fathom.report.equations import entries, line

    for entry in entries(open_catalog(), paper, number):
        print(line(entry))

"""`fathom where`: the function and the test of an equation."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from fathom.cli.options import Json, open_project

Paper = Annotated[
    str | None, typer.Argument(help="A paper, as `fathom list papers` names it. Default: all.")
]
Number = Annotated[
    str | None,
    typer.Argument(help='The number of an equation, "Alg. 2", or a symbol as L_K. Default: all.'),
]


def where(paper: Paper = None, number: Number = None, as_json: Json = False) -> None:
    """Find the code and the test of an equation.

    Example: fathom where latent_depth 5
    """
    from fathom.artefacts.equations import entries, line

    project = open_project()
    papers = project.papers if paper is None else [paper]
    lines = [entry for name in papers for entry in entries(project, name, number)]
    if as_json:
        print(json.dumps([asdict(entry) for entry in lines], indent=1, allow_nan=False))
        return
    for entry in lines:
        print(line(entry))

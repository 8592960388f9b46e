"""`fathom where`: the function and the test of an equation."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from fathom.cli.options import Json, open_catalog

Paper = Annotated[
    str | None, typer.Argument(help="A paper's id, as `fathom list papers` names it; else all.")
]
Number = Annotated[str | None, typer.Argument(help='An equation\'s number, or "Alg. 2"; else all.')]


def where(paper: Paper = None, number: Number = None, as_json: Json = False) -> None:
    """Say where an equation is computed and proven.

    Example: fathom where latent_depth 5
    """
    from fathom.report.equations import entries, line

    catalog = open_catalog()
    papers = catalog.papers if paper is None else [paper]
    found = [entry for each in papers for entry in entries(catalog, each, number)]
    if as_json:
        print(json.dumps([asdict(entry) for entry in found], indent=1, allow_nan=False))
        return
    for entry in found:
        print(line(entry))

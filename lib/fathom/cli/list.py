"""`fathom list`: the names that other verbs take."""

import json
from typing import Annotated

import typer

from fathom.cli.options import Json, open_catalog
from fathom.errors import FathomError, nearest

Kind = Annotated[
    str, typer.Argument(help="papers, runs, artefacts, methods, datasets, sources or scales.")
]


def list(kind: Kind = "runs", as_json: Json = False) -> None:
    """List the valid names of a kind, one a line.

    Example: fathom list artefacts
    """
    catalog = open_catalog()
    names = {
        "papers": [*catalog.papers],
        "runs": [*catalog.paper_of],
        "artefacts": [
            f"{paper.name}_{artefact}"
            for paper in catalog.papers.values()
            for artefact in paper.artefacts
        ],
        "methods": [*catalog.methods],
        "datasets": [*catalog.datasets],
        "sources": [*catalog.sources],
        "scales": [*catalog.scales],
    }
    if kind not in names:
        raise FathomError(f"no kind '{kind}'", "list", nearest(kind, names))
    print(json.dumps(names[kind], allow_nan=False) if as_json else "\n".join(names[kind]))

"""`fathom fetch`: fetch a source's file and check it."""

from typing import Annotated

import typer

from fathom.cli.options import Results, open_paths, open_project, report
from fathom.io.errors import FathomError, nearest


def fetch(
    source: Annotated[str, typer.Argument(help="A source, as `fathom list sources` names it.")],
    results: Results = None,
) -> None:
    """Fetch a source's file and check it.

    Size and checksum must be those of config/sources. The licence notice is
    printed and saved.

    Example: fathom fetch django
    """
    from fathom.data.fetch import fetch as fetch_source

    project = open_project()
    if source not in project.sources:
        remedy = f"{nearest(source, project.sources)}. All: fathom list sources"
        raise FathomError(f"no source '{source}'", "source", remedy)
    _, paths = open_paths(project, None, results)
    fetch_source(project.sources[source], paths.source(source), paths.by_hand, report)

"""`fathom fetch`: bring a source's file and check it."""

from typing import Annotated

import typer

from fathom.cli.options import open_catalog, open_paths, report
from fathom.errors import FathomError, nearest


def fetch(
    source: Annotated[str, typer.Argument(help="A source, as `fathom list sources` names it.")],
) -> None:
    """Fetch a source's file and check it.

    Size and checksum must be those of config/sources; the licence notice is
    shown and kept.

    Example: fathom fetch django
    """
    from fathom.data.fetch import fetch as fetch_source

    catalog = open_catalog()
    if source not in catalog.sources:
        remedy = f"{nearest(source, catalog.sources)}. All: fathom list sources"
        raise FathomError(f"no source '{source}'", "source", remedy)
    _, paths = open_paths(catalog, None)
    fetch_source(catalog.sources[source], paths.source(source), paths.by_hand, report)

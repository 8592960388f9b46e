"""`fathom subwords`: learn a data set's pieces."""

from typing import Annotated

import typer

from fathom.cli.options import Scale, open_catalog, open_paths, report


def subwords(
    data: Annotated[str, typer.Argument(help="The data, as `<dataset>-<hash8>`.")],
    scale: Scale = None,
) -> None:
    """Learn the subword models and dictionaries of a prepared data set.

    Example: fathom subwords po_wheels_diverse-1a2b3c4d
    """
    from fathom.subwords.train import train

    catalog = open_catalog()
    name, paths = open_paths(catalog, scale)
    chosen = catalog.data(data, name)
    train(chosen, paths.corpus(chosen), paths.subwords(chosen), report)

"""`fathom encode`: turn a data set's text into ids."""

from typing import Annotated

import typer

from fathom.cli.options import Scale, open_catalog, open_paths, report


def encode(
    data: Annotated[str, typer.Argument(help="The data, as `<dataset>-<hash8>`.")],
    scale: Scale = None,
) -> None:
    """Encode a data set by its subwords, and measure the unigram yardstick.

    Example: fathom encode po_wheels_diverse-1a2b3c4d
    """
    from fathom.batches.encode import encode as write_tensors

    catalog = open_catalog()
    name, paths = open_paths(catalog, scale)
    chosen = catalog.data(data, name)
    places = paths.corpus(chosen), paths.subwords(chosen), paths.tensors(chosen)
    write_tensors(chosen, *places, report)

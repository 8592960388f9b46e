"""`fathom prepare`: clean and split a data set's text."""

from typing import Annotated

import typer

from fathom.cli.options import Scale, open_catalog, open_paths, report
from fathom.errors import FathomError, nearest


def prepare(
    dataset: Annotated[str, typer.Argument(help="A data set, or its folder `<name>-<hash8>`.")],
    scale: Scale = None,
) -> None:
    """Clean, split and check a data set's text.

    Example: fathom prepare po_wheels_diverse
    """
    from fathom.data.prepare import prepare as prepare_corpus

    catalog = open_catalog()
    _, paths = open_paths(catalog, scale)
    folders = {each.corpus_folder(catalog.sources): each for each in catalog.datasets.values()}
    named = catalog.datasets.get(dataset) or folders.get(dataset)
    if named is None:
        known = (*catalog.datasets, *folders)
        remedy = f"{nearest(dataset, known)}. All: fathom list datasets"
        raise FathomError(f"no data set '{dataset}'", "dataset", remedy)
    out = paths.top / "corpora" / named.corpus_folder(catalog.sources)
    prepare_corpus(named, catalog.sources, paths.source, out, report)

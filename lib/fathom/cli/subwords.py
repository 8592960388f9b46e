"""`fathom subwords`: learn a data set's pieces."""

from fathom.cli.options import DataName, Scale, data_named, open_catalog, open_paths, report


def subwords(data: DataName, scale: Scale = None) -> None:
    """Learn a data set's pieces and dictionaries.

    Example: fathom subwords po_wheels_diverse
    """
    from fathom.subwords.train import train

    catalog = open_catalog()
    name, paths = open_paths(catalog, scale)
    chosen = data_named(catalog, data, name)
    train(chosen, paths.corpus(chosen), paths.subwords(chosen), report)

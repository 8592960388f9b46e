"""`fathom encode`: turn a data set's text into ids."""

from fathom.cli.options import DataName, Scale, data_named, open_catalog, open_paths, report


def encode(data: DataName, scale: Scale = None) -> None:
    """Turn a data set's text into ids.

    The unigram yardstick is measured as well.

    Example: fathom encode po_wheels_diverse
    """
    catalog = open_catalog()
    name, paths = open_paths(catalog, scale)
    chosen = data_named(catalog, data, name)
    # Only now: torch takes seconds, and a mistyped name need not wait for it.
    from fathom.batches.encode import encode as write_tensors

    places = paths.corpus(chosen), paths.subwords(chosen), paths.tensors(chosen)
    write_tensors(chosen, *places, report)

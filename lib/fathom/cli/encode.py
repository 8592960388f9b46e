"""`fathom encode`: turn a data set's text into ids."""

from fathom.cli.options import (
    DataName,
    Results,
    Scale,
    data_named,
    open_paths,
    open_project,
    report,
    suggest,
)


def encode(data: DataName, scale: Scale = None, results: Results = None) -> None:
    """Turn a data set's text into ids.

    The unigram baseline is measured too.

    Example: fathom encode po_wheels_diverse
    """
    project = open_project()
    name, paths = open_paths(project, scale, results)
    spec = data_named(project, data, name)
    # Imported here: torch takes seconds, and a mistyped name need not wait for it.
    from fathom.data.encode import encode as write_tensors

    write_tensors(spec, paths.corpus(spec), paths.subwords(spec), paths.tensors(spec), report)
    suggest("fathom list runs")

"""`fathom subwords`: learn the pieces of a data set."""

from operator import attrgetter

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


def subwords(data: DataName, scale: Scale = None, results: Results = None) -> None:
    """Learn the pieces and dictionaries of a data set.

    Example: fathom subwords po_wheels_diverse
    """
    from fathom.data.subwords import train

    project = open_project()
    name, paths = open_paths(project, scale, results)
    spec = data_named(project, data, name, attrgetter("subwords_folder"))
    train(spec, paths.pieces_corpus(spec), paths.subwords(spec), report)
    suggest(paths.command("encode", spec.folder))

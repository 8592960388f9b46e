"""`fathom prepare`: clean and split a data set's text."""

from fathom.cli.options import (
    DatasetName,
    Results,
    dataset_named,
    open_paths,
    open_project,
    report,
    suggest,
)


def prepare(dataset: DatasetName, results: Results = None) -> None:
    """Clean, split and check a data set's text.

    Example: fathom prepare po_wheels_diverse
    """
    from fathom.data.prepare import prepare as prepare_corpus

    project = open_project()
    _, paths = open_paths(project, None, results)
    card = dataset_named(project, dataset)
    out = paths.corpus_named(card.corpus_folder(project.sources))
    prepare_corpus(card, project.sources, paths.source, out, report)
    suggest(f"fathom subwords {card.name}")

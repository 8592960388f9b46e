"""`fathom statistics`: count a corpus's sentences, tokens and types."""

from fathom.cli.options import DatasetName, Results, dataset_named, open_paths, open_project, report


def statistics(dataset: DatasetName, results: Results = None) -> None:
    """Count the pairs or sentences, tokens and types of a corpus.

    Tokens are those of sacreBLEU's tokenizer 13a.

    Example: fathom statistics po_wheels_diverse
    """
    from fathom.scoring.corpus import measure

    project = open_project()
    _, paths = open_paths(project, None, results)
    card = dataset_named(project, dataset)
    out = paths.corpus_named(card.corpus_folder(project.sources))
    measure(card, project.sources, out, report)

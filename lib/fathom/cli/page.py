"""`fathom page`: one HTML file for each paper."""

from fathom.cli.options import (
    Paper,
    Results,
    Scale,
    Seeds,
    check_artefacts,
    open_artefacts,
    papers_named,
    report,
)


def page(
    paper: Paper = None, scale: Scale = None, results: Results = None, seeds: Seeds = None
) -> None:
    """Write one HTML page for each paper, made of what exists.

    Trains nothing: a cell of a run without measurements says `not run`. The
    page needs no network; its links lead to the files of the results.

    Example: fathom page latent_depth --scale tiny
    """
    from fathom.artefacts.claims.judged import judged
    from fathom.artefacts.page.page import page as content
    from fathom.io.files import write_text

    artefacts = open_artefacts(scale, results, seeds)
    for name in papers_named(artefacts.project, paper, "page"):
        own = artefacts.project.papers[name]
        check_artefacts(artefacts.project, name)
        tables = {key: artefacts.compared(own, table) for key, table in own.tables.items()}
        path = artefacts.paths.page(name)
        write_text(path, content(artefacts, own, tables, judged(artefacts, own)))
        report(f"page: {path}")

"""`fathom compare`: judge every reported cell of every table."""

from fathom.cli.options import Results, Scale, Seeds, open_artefacts, report


def compare(scale: Scale = None, results: Results = None, seeds: Seeds = None) -> None:
    """Compare every reported cell with ours.

    Trains nothing: a cell of a run without measurements says `not run`.

    Example: fathom compare --scale tiny
    """
    from fathom.io.files import write_text
    from fathom.report import comparison, deviations
    from fathom.tables.comparison import counts, lines, write_csv

    artefacts = open_artefacts(scale, results, seeds)
    papers = artefacts.project.papers
    tables = {
        name: [artefacts.compared(paper, table) for table in paper.tables.values()]
        for name, paper in papers.items()
    }
    every = [table for of_paper in tables.values() for table in of_paper]
    path = artefacts.paths.compare
    write_csv(lines(every), path)
    write_text(path.with_suffix(".html"), comparison.page(papers, tables))
    write_text(path.with_name("deviations.md"), deviations.page(papers))
    for line in comparison.averages(every):
        print(line)
    summary = ", ".join(f"{count} {words}" for words, count in counts(every).items())
    report(f"compare: {path}, html: {summary}")

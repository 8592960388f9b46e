"""`fathom compare`: judge every reported cell of every table."""

import json
from typing import Annotated

import typer

from fathom.cli.options import Json, Results, Scale, Seeds, open_artefacts, report, suggest

Table = Annotated[
    str | None, typer.Option(help="Print this table alone, as <paper>_<table>. Default: all.")
]


def compare(
    scale: Scale = None,
    results: Results = None,
    seeds: Seeds = None,
    table: Table = None,
    as_json: Json = False,
) -> None:
    """Compare every reported cell with ours.

    Trains nothing: a cell of a run without measurements says `not run`. The
    files are of all tables; --table chooses what is printed.

    Example: fathom compare --table latent_depth_table5 --json
    """
    from fathom.artefacts import deviations
    from fathom.artefacts.table.comparison import counts, lines, write_csv
    from fathom.artefacts.table.formats import average_lines, comparison_page
    from fathom.config.paper import find
    from fathom.io.files import write_text

    artefacts = open_artefacts(scale, results, seeds)
    papers = artefacts.project.papers
    chosen = find(papers, table, "table")[1] if table else None
    tables = {
        name: [artefacts.compared(paper, own) for own in paper.tables.values()]
        for name, paper in papers.items()
    }
    every = [compared for of_paper in tables.values() for compared in of_paper]
    path = artefacts.paths.compare
    write_csv(lines(every), path)
    references = {name: paper.reference for name, paper in papers.items()}
    write_text(path.with_suffix(".html"), comparison_page(references, tables))
    write_text(path.with_name("deviations.md"), deviations.page(papers))
    shown = [compared for compared in every if chosen in (None, compared.table)]
    if as_json:
        # Unknown numbers become null, and not NaN.
        records = json.loads(str(lines(shown).to_json(orient="records")))
        print(json.dumps(records, indent=1, allow_nan=False))
    else:
        for line in average_lines(shown):
            print(line)
    summary = ", ".join(f"{count} {words}" for words, count in counts(shown).items())
    report(f"compare: {path}, html: {summary}")
    suggest(f"fathom page --scale {artefacts.scale}")

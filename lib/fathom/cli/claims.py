"""`fathom claims`: judge what the papers say."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from fathom.cli.options import (
    Json,
    Paper,
    Results,
    Scale,
    Seeds,
    check_artefacts,
    open_artefacts,
    papers_named,
    report,
)

Table = Annotated[
    str | None,
    typer.Option(help="Print only the claims that use this table or figure, <paper>_<table>."),
]
Counts = Annotated[bool, typer.Option("--counts", help="Print how many have each answer, alone.")]


def claims(
    paper: Paper = None,
    scale: Scale = None,
    results: Results = None,
    seeds: Seeds = None,
    table: Table = None,
    counts: Counts = False,
    as_json: Json = False,
) -> None:
    """Judge sentences of the papers on our cells and on their own.

    Trains nothing: a claim that needs a run without measurements says `not run`.
    The files have all papers; PAPER and --table choose what is printed.

    Example: fathom claims latent_depth --table latent_depth_table5
    """
    from fathom.artefacts.claims.judged import judged
    from fathom.artefacts.claims.view import lines, page, printed, summary
    from fathom.artefacts.table.comparison import write_csv
    from fathom.io.errors import FathomError, nearest
    from fathom.io.files import write_text

    artefacts = open_artefacts(scale, results, seeds)
    papers = artefacts.project.papers
    named = papers_named(artefacts.project, paper, "claims")
    targets = {
        f"{own.name}_{name}" for own in papers.values() for name in (*own.tables, *own.figures)
    }
    if table and table not in targets:
        raise FathomError(f"no table or figure '{table}'", "claims", nearest(table, targets))
    check_artefacts(artefacts.project)
    every = [one for own in papers.values() for one in judged(artefacts, own)]
    path = artefacts.paths.claims
    write_csv(lines(every), path)
    titles = {name: own.about.title for name, own in papers.items()}
    write_text(path.with_suffix(".html"), page(every, titles))
    shown = [
        one
        for one in every
        if one.paper in named
        and (table is None or table in [f"{one.paper}_{name}" for name in one.artefacts])
    ]
    if as_json:
        records = [asdict(one) | {"against": one.against} for one in shown]
        print(json.dumps(records, indent=1, allow_nan=False))
    else:
        for line in (*(() if counts else printed(shown)), *summary(shown)):
            print(line)
    report(f"claims: {path}, html")

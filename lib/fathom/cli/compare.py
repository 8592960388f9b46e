"""`fathom compare`: set every reported cell beside the reproduced one."""

from fathom.cli.options import Scale, open_catalog, open_paths, report


def compare(scale: Scale = None) -> None:
    """Set every reported cell beside the reproduced one.

    Nothing is trained: a cell whose run has no manifest says `not run`.

    Example: fathom compare --scale tiny
    """
    from fathom.report import ledger
    from fathom.tables import comparison, reported
    from fathom.tables.manifests import rows_of

    catalog = open_catalog()
    name, paths = open_paths(catalog, scale)
    tables = [
        comparison.Judged(
            paper=paper.name,
            artefact=artefact,
            reported=reported.read(path, artefact),
            rows=rows_of(artefact, catalog, paths),
        )
        for paper, artefact, path in catalog.reported()
    ]
    lines = comparison.compare(tables, name)
    path = paths.compare
    entries = ledger.ledgers(catalog.root, catalog.papers)
    ledger.write(catalog.papers, entries, path.with_name("deviations.md"))
    comparison.write(lines, path, path.with_suffix(".html"))
    told = ", ".join(f"{count} {words}" for words, count in comparison.counts(lines).items())
    report(f"compare: {path}: {told}")

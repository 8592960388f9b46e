"""`fathom validate`: check every file of config/."""

from fathom.cli.options import open_catalog
from fathom.errors import FathomError, Findings


def validate() -> None:
    """Check every file of config/.

    All that is wrong is told, a line each; exit code 1 if there is anything.

    Example: fathom validate
    """
    from fathom.tables import reported

    catalog = open_catalog()
    findings = []
    for _, artefact, path in catalog.reported():
        try:
            reported.read(path, artefact)
        except FathomError as error:
            findings += error.findings if isinstance(error, Findings) else [error]
    if findings:
        raise Findings(findings)
    counts = (
        f"{len(catalog.papers)} papers, {len(catalog.paper_of)} runs,"
        f" {len(catalog.methods)} methods, {len(catalog.datasets)} data sets,"
        f" {len(catalog.sources)} sources, {len(catalog.scales)} scales"
    )
    print(f"config/ is right: {counts}")

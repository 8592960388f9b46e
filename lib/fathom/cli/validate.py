"""`fathom validate`: check every file of config/."""

from fathom.cli.options import open_project


def validate() -> None:
    """Check every file of config/.

    All findings are printed, a line each; exit code 1 if there are any.

    Example: fathom validate
    """
    project = open_project()
    tables = sum(len(paper.tables) for paper in project.papers.values())
    figures = sum(len(paper.figures) for paper in project.papers.values())
    print(
        f"config/ is valid: {len(project.papers)} papers, {tables} tables, {figures} figures,"
        f" {len(project.entries)} runs, {len(project.methods)} methods,"
        f" {len(project.datasets)} data sets, {len(project.sources)} sources,"
        f" {len(project.scales)} scales"
    )

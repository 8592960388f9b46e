"""`fathom validate`: check every file of config/."""

import json

import typer

from fathom.cli.options import Json, check_artefacts, open_project, suggest
from fathom.io.errors import Findings


def validate(as_json: Json = False) -> None:
    """Check every file of config/.

    All findings are printed, a line each; exit code 1 if there are any.

    Example: fathom validate
    """
    try:
        project = open_project(check=True)
        check_artefacts(project)
    except Findings as error:
        if not as_json:
            raise
        wrong = [{"where": f.where, "what": f.what, "remedy": f.remedy} for f in error.findings]
        print(json.dumps({"findings": wrong}, indent=1, allow_nan=False))
        raise typer.Exit(1) from None
    counts = {
        "papers": len(project.papers),
        "tables": sum(len(paper.tables) for paper in project.papers.values()),
        "figures": sum(len(paper.figures) for paper in project.papers.values()),
        "runs": len(project.entries),
        "methods": len(project.methods),
        "data sets": len(project.datasets),
        "sources": len(project.sources),
        "scales": len(project.scales),
    }
    if as_json:
        print(json.dumps({"findings": [], "counts": counts}, indent=1, allow_nan=False))
        return
    words = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    print(f"config/ is valid: {words}")
    suggest("fathom list")

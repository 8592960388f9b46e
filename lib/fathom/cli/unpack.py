"""`fathom unpack`: finished runs of another tree of results."""

from pathlib import Path
from typing import Annotated

import typer

from fathom.cli.options import Results, Scale, open_paths, open_project, report

Archives = Annotated[list[Path], typer.Argument(help="Files of `fathom pack`.")]


def unpack(archives: Archives, scale: Scale = None, results: Results = None) -> None:
    """Accept finished runs that were trained elsewhere.

    A run is accepted where its settings, its text and the recipe of the code are
    the same, and every file is the one that was packed. Nothing is overwritten.

    Example: fathom unpack m2o_diverse_12_12-19e7bb95.1.zip
    """
    from fathom.project.run_archive import place
    from fathom.project.run_archive import unpack as write

    project = open_project(check=False)
    _, paths = open_paths(project, scale, results)
    for run, archive in [(place(project, paths, archive), archive) for archive in archives]:
        write(archive, run)
        report(f"{run.folder}: {len(run.card.files)} files")

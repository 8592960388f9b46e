"""`fathom unpack`: finished runs of another tree of results, or all results of a scale."""

from pathlib import Path
from typing import Annotated

import typer

from fathom.cli.options import Results, Scale, open_paths, open_project, report

Archives = Annotated[list[Path], typer.Argument(help="Files of `fathom pack`.")]


def unpack(archives: Archives, scale: Scale = None, results: Results = None) -> None:
    """Import runs that were trained elsewhere, or unpack results.

    A run is accepted where its settings, its text and the recipe of the code are
    the same, and every file is the one that was packed. All results of a scale are
    written to a new folder, named as the file or by --results. Nothing is overwritten.

    Example: fathom unpack m2o_diverse_12_12-19e7bb95.1.zip
    """
    from fathom.results.run_archive import place
    from fathom.results.run_archive import unpack as write
    from fathom.results.trees.packed_tree import holds_results

    of_all = [archive for archive in archives if holds_results(archive)]
    of_runs = [archive for archive in archives if archive not in of_all]
    if of_runs:
        project = open_project()
        _, paths = open_paths(project, scale, results)
        for run, archive in [(place(project, paths, archive), archive) for archive in of_runs]:
            write(archive, run)
            report(f"{run.folder}: {len(run.card.files)} files")
    for archive in of_all:
        _unpack_all(archive, Path(results or archive.stem))


def _unpack_all(archive: Path, folder: Path) -> None:
    from fathom.results.trees.packed_tree import unpack as write

    card = write(archive, folder)
    options = f"--scale {card.scale} --results {folder}"
    report(f"{folder}: {len(card.files)} files; read them with fathom compare {options}")

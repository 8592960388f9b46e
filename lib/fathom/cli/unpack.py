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

    Example: fathom unpack m2o_diverse_12_12-19e7bb95.1.tar.gz
    """
    from fathom.results.archive import SUFFIX, place, read, unpack_results
    from fathom.results.archive import unpack as write

    records = [(archive, read(archive)) for archive in archives]
    of_runs = [(archive, record) for archive, record in records if record.run]
    if of_runs:
        project = open_project()
        _, paths = open_paths(project, scale, results)
        # All places are checked before anything is written.
        folders = [place(project, paths, archive, record) for archive, record in of_runs]
        for (archive, record), folder in zip(of_runs, folders, strict=True):
            write(archive, record, folder)
            report(f"{folder}: {len(record.files)} files")
    for archive, record in records:
        if record.run is None:
            folder = Path(results or archive.name.removesuffix(SUFFIX))
            unpack_results(archive, record, folder)
            options = f"--scale {record.scale} --results {folder}"
            read_by = f"read them with fathom compare {options}"
            report(f"{folder}: {len(record.files)} files; {read_by}")

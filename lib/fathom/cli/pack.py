"""`fathom pack`: a finished run, or all results of a scale, in one file."""

from pathlib import Path
from typing import Annotated

import typer

from fathom.cli.options import Results, Scale, Seed, open_paths, open_project, report
from fathom.cli.run_options import open_run
from fathom.io.errors import FathomError

_NAMED = 3  # trainings that are left out, in a line
OneRun = Annotated[
    str | None,
    typer.Argument(metavar="[RUN]", help="A run. Default: all results of the scale."),
]
Out = Annotated[
    Path | None,
    typer.Option(
        help="The file. Default, here: <run>-<hash>.<seed>.tar.gz, or results-<scale>.tar.gz."
    ),
]


def pack(
    run: OneRun = None,
    out: Out = None,
    scale: Scale = None,
    results: Results = None,
    seed: Seed = 1,
) -> None:
    """Write a finished run, or all of a scale, to one file.

    Of a run: weights, series, translations, measurements and logs, for `fathom
    unpack`. Of a scale: all that can be read without running anything, and neither
    weights nor text; trainings that have not ended are left out.

    Example: fathom pack m2o_diverse_12_12
    """
    from fathom.results.archive import SUFFIX, files_of_scale, pack_results, pack_run

    if run is not None:
        opened = open_run(run, scale, results)
        archive = _free(out or Path(f"{opened.spec.folder}.{seed}{SUFFIX}"))
        _say(archive, len(pack_run(opened.spec, seed, opened.paths, archive).files))
        return
    project = open_project()
    name, paths = open_paths(project, scale, results)
    archive = _free(out or Path(f"results-{name}{SUFFIX}"))
    names, not_ended = files_of_scale(project, paths)
    if not any(file.startswith(("runs/", f"{name}/")) for file in names):
        remedy = f"train first: snakemake all --config scale={name}"
        raise FathomError(f"no results of scale {name}", paths.searched, remedy)
    _say(archive, len(pack_results(paths.results, names, name, archive).files))
    if not_ended:
        more = f" and {len(not_ended) - _NAMED} more" if len(not_ended) > _NAMED else ""
        report(f"left out, not ended: {', '.join(not_ended[:_NAMED])}{more}")


def _free(archive: Path) -> Path:
    """Return the place of an archive.

    Raises:
        FathomError: If a file is there.
    """
    if archive.exists():
        raise FathomError("there is such a file", str(archive), "delete it, or give --out")
    return archive


def _say(archive: Path, files: int) -> None:
    megabytes = archive.stat().st_size / 1e6
    report(f"{archive}: {files} files, {megabytes:.1f} MB; read it with fathom unpack")

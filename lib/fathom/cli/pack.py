"""`fathom pack`: a finished run in one file."""

from pathlib import Path
from typing import Annotated

import typer

from fathom.cli.options import Results, Run, Scale, Seed, report
from fathom.cli.run_options import open_run
from fathom.errors import FathomError

Out = Annotated[Path | None, typer.Option(help="The file. Default: <run>-<hash>.<seed>.zip, here.")]


def pack(
    run: Run, out: Out = None, scale: Scale = None, results: Results = None, seed: Seed = 1
) -> None:
    """Write a finished run to one file, for `fathom unpack`.

    Weights, series, translations, measurements and logs are in it; states from
    which a training resumes are not. Every file is hashed first.

    Example: fathom pack m2o_diverse_12_12
    """
    from fathom.project.run_archive import pack as write

    opened = open_run(run, scale, results)
    archive = out or Path(f"{opened.spec.folder}.{seed}.zip")
    if archive.exists():
        raise FathomError("there is such a file", str(archive), "delete it, or give --out")
    card = write(opened.spec, seed, opened.paths, archive)
    megabytes = archive.stat().st_size / 1e6
    report(f"{archive}: {len(card.files)} files, {megabytes:.1f} MB; read it with fathom unpack")

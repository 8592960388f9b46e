"""`fathom verify`: every file of the results compared with what was recorded of it."""

import json
from pathlib import Path
from typing import Annotated

import typer

from fathom.cli.options import Json, Results, Scale, open_paths, open_project
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.io.errors import FathomError

OneRun = Annotated[
    str | None, typer.Argument(metavar="[RUN]", help="A run, with its text. Default: all results.")
]


def verify(
    run: OneRun = None, scale: Scale = None, results: Results = None, as_json: Json = False
) -> None:
    """Hash every file of the results again.

    Prints a line for each file that is not the one that was recorded, and each run
    that was trained on other text than is there, with the command that makes it
    again; exit code 1 if there is any.

    Example: fathom verify m2o_diverse_12_12
    """
    from fathom.results.verify import verify as compare

    project = open_project()
    name, paths = open_paths(project, scale, results)
    verified = compare(_folders(project, run, name, paths) if run else [_results(paths)])
    findings = verified.in_order(paths.results)
    if as_json:
        unfit = [{"path": f.where, "what": f.what, "command": f.remedy} for f in findings]
        shown = {"files": len(verified.files), "unfit": unfit}
        print(json.dumps(shown, indent=1, allow_nan=False))
    else:
        for finding in findings:
            print(finding)
        print(f"{len(verified.files)} files compared, {len(findings)} do not fit")
    if findings:
        raise typer.Exit(1)


def _results(paths: Paths) -> Path:
    """Return the folder of results.

    Raises:
        FathomError: there is none.
    """
    if not paths.results.is_dir():
        raise FathomError("no such folder", str(paths.results), "give --results")
    return paths.results


def _folders(project: Project, run: str, scale: str, paths: Paths) -> list[Path]:
    """Return the folders of a run, all seeds, and of its text.

    Raises:
        FathomError: no seed of it was trained.
    """
    spec = project.run_named(run, scale)
    trained = paths.run(spec, 0).parent
    if not trained.is_dir():
        remedy = f"train it: fathom train {run} --scale {scale}"
        raise FathomError("no training of this run", str(trained), remedy)
    data = (paths.corpus, paths.pieces_corpus, paths.subwords, paths.tensors)
    return [trained, *dict.fromkeys(folder(spec.data) for folder in data)]

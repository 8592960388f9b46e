"""`fathom clean`: delete what no result needs."""

import json
from typing import Annotated

import typer

from fathom.cli.options import Json, Results, open_paths, open_project, report, suggest
from fathom.io.errors import FathomError, nearest
from fathom.results.clean import KINDS, deletable

Kinds = Annotated[
    list[str] | None, typer.Argument(metavar="[KIND]...", help=f"Of {', '.join(KINDS)}.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Delete. Without it, only list.")]


def clean(
    kinds: Kinds = None, yes: Yes = False, results: Results = None, as_json: Json = False
) -> None:
    """List what can be deleted, and delete it with --yes.

    states: checkpoints of ended trainings from which they would resume. parts:
    what killed processes left, and damaged files that were set aside. unused:
    runs and text that no run of config has at any scale.

    Example: fathom clean states --yes
    """
    for kind in kinds or ():
        if kind not in KINDS:
            raise FathomError(f"no kind '{kind}'", "clean", nearest(kind, KINDS))
    if yes and not kinds:
        raise FathomError("no kind is named", "clean --yes", f"name some of {', '.join(KINDS)}")
    # All of config is checked: what a mistake hides would count as unused.
    project = open_project()
    _, paths = open_paths(project, None, results)
    every = {}
    for kind in kinds or KINDS:
        items = deletable(kind, project, paths.results)
        for item in items:
            if kinds and not as_json:
                print(f"{item.path}\t{item.bytes / 1e6:.1f} MB")
            if yes:
                item.delete()
        total = sum(item.bytes for item in items) / 1e6
        every[kind] = [{"path": str(item.path), "bytes": item.bytes} for item in items]
        verb = "deleted" if yes else "can be deleted"
        report(f"{kind}: {len(items)} files or folders, {total:,.1f} MB {verb}")
    if as_json:
        print(json.dumps(every, indent=1, allow_nan=False))
    elif not yes and any(every.values()):
        suggest(f"fathom clean {next(kind for kind in every if every[kind])} --yes")

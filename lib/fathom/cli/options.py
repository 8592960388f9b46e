"""Options with the same meaning in every verb, and what every verb starts from."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from fathom.errors import FathomError, nearest
from fathom.project.load import load
from fathom.project.project import Catalog
from fathom.runs.paths import Paths
from fathom.runs.spec import Data

Scale = Annotated[str | None, typer.Option(help="A scale of config/scales; else config.yaml's.")]
Seed = Annotated[int, typer.Option(help="The training's seed.", min=0)]
Device = Annotated[
    str | None, typer.Option(help="auto, cpu, cuda or cuda:<n>; else config.yaml's.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Run = Annotated[str, typer.Argument(help="A run, as `fathom list runs` names it.")]
DataName = Annotated[
    str, typer.Argument(help="A data set that the scale uses, or its folder `<name>-<hash8>`.")
]


def open_catalog(check: bool = True) -> Catalog:
    """Return the catalog of the project in whose folder, or below it, the user stands.

    Args:
        check: whether to check every file of config/ first.

    Raises:
        FathomError: there is no project here.
        Findings: what is wrong in config/.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "config" / "config.yaml").is_file():
            return load(folder, check=check)
    raise FathomError("no fathom project here", str(here), "go to the folder of the clone")


def open_paths(catalog: Catalog, scale: str | None) -> tuple[str, Paths]:
    """Return the scale that is meant, and the places of its files."""
    name = catalog.scale(scale or catalog.config["scale"]).name
    return name, Paths(catalog.root / catalog.config["results"], name)


def data_named(catalog: Catalog, name: str, scale: str) -> Data:
    """Return the data that a user names by its folder, or by the data set alone.

    Raises:
        FathomError: no run of the scale uses it, or the scale's runs cut it in several ways.
    """
    if "-" in name:
        return catalog.data(name, scale)
    every = [catalog.spec(run, scale).data for run in catalog.paper_of]
    folders = {each.folder: each for each in every if each.dataset == name}
    if not folders:
        remedy = nearest(name, dict.fromkeys(each.dataset for each in every))
        raise FathomError(f"no data '{name}'", f"scale {scale}", remedy)
    if len(folders) > 1:
        what = f"'{name}' is cut into pieces in {len(folders)} ways"
        raise FathomError(what, f"scale {scale}", f"name one: {', '.join(sorted(folders))}")
    return folders.popitem()[1]


def report(line: str) -> None:
    """Tell the user what goes on, on standard error."""
    print(line, file=sys.stderr, flush=True)


def report_of(what: str) -> Callable[[str], None]:
    """Return a `report` whose lines begin with what they are about: jobs run side by side."""
    return lambda line: report(f"{what}: {line}")


def debug() -> bool:
    """Return whether a user's mistake should show its traceback."""
    return os.environ.get("FATHOM_DEBUG") == "1"

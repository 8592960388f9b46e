"""Options with the same meaning in every verb, and what every verb starts from."""

import os
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fathom.config.load import load
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.config.schema.dataset import Dataset
from fathom.config.spec import DataSpec
from fathom.config.switches import VARIABLE, layers, one_seed, open_results, seed_list
from fathom.io.errors import FathomError, nearest
from fathom.io.screen import say
from fathom.results.recipe import PACKAGE

if TYPE_CHECKING:
    from fathom.artefacts.artefacts import Artefacts

# The folder of the project, for commands that run elsewhere.
PROJECT_VARIABLE = "FATHOM_PROJECT"
# The folder whose config/ is part of the package; in a clone a link to the clone's.
PACKAGED = PACKAGE / "packaged"

Scale = Annotated[
    str | None, typer.Option(help="A scale of config/scales. Default: config.yaml's.")
]
Results = Annotated[str | None, typer.Option(help="The folder of results. Default: config.yaml's.")]
Seed = Annotated[int, typer.Option(help="The training's seed.", parser=one_seed, metavar="INTEGER")]
Seeds = Annotated[
    str | None,
    typer.Option(help="Seeds in place of the runs' own: 3 (1 to 3), 1-5, 2,5, or all there are."),
]
Device = Annotated[
    str | None, typer.Option(help="auto, cpu, cuda or cuda:<n>. Default: config.yaml's.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Paper = Annotated[str | None, typer.Argument(help="A paper. Default: all.")]
Run = Annotated[str, typer.Argument(help="A run, as `fathom list runs` names it.")]
DatasetName = Annotated[
    str, typer.Argument(help="A data set of config/datasets, or its folder `<name>-<hash8>`.")
]
DataName = Annotated[
    str, typer.Argument(help="A data set that the scale uses, or its folder `<name>-<hash8>`.")
]


def project_root() -> Path:
    """Return the project's folder: FATHOM_PROJECT, the nearest one upwards from here, or our own.

    Our own config is what was installed with the package; in a clone it is the clone's.

    Raises:
        FathomError: there is no project in the folder that FATHOM_PROJECT names.
    """
    named = os.environ.get(PROJECT_VARIABLE)
    here = Path.cwd()
    places = (Path(named).resolve(),) if named else (here, *here.parents, PACKAGED)
    for folder in places:
        if (folder / "config" / "papers").is_dir():
            return folder
    where = f"{PROJECT_VARIABLE}={named}" if named else str(here)
    remedy = f"change to the folder of a clone, or set {PROJECT_VARIABLE} or --project to one"
    raise FathomError("no fathom project here", where, remedy)


def open_project(check: bool = False) -> Project:
    """Return the project, with the switches of the working folder and of a workflow around it.

    Args:
        check: whether to check all of config/; otherwise what a verb asks for is checked alone.

    Raises:
        FathomError: there is no project here.
        Findings: what is wrong in config/.
    """
    root = project_root()
    own = root / "lib" / PACKAGE.name
    if own.is_dir() and not own.samefile(PACKAGE):
        # The environment of a clone that was copied or moved still has the code of the old one.
        remedy = "delete .venv there and run `make environment`"
        say(f"fathom: {root}: not the code of this folder runs, but that in {PACKAGE}; {remedy}")
    return load(root, check=check, layers=layers(root, Path.cwd()))


def open_paths(
    project: Project, scale: str | None, results: str | None = None
) -> tuple[str, Paths]:
    """Return the scale's name, and the places of its files.

    A relative folder of results is below the working folder.

    Raises:
        FathomError: there is no such scale, or no folder can be where results should be.
    """
    name = scale or project.switches.scale
    project.scale(name)
    folder = project.switches.results if results is None else results
    return name, Paths(open_results(folder), name)


def open_artefacts(scale: str | None, results: str | None, seeds: str | None) -> "Artefacts":
    """Return the tables and figures of the project at the scale that is meant."""
    from fathom.artefacts.artefacts import Artefacts

    project = open_project()
    _, paths = open_paths(project, scale, results)
    if seeds == "all":
        return Artefacts(project, paths, seeds)
    return Artefacts(project, paths, seed_list(seeds) if seeds else None)


def check_artefacts(project: Project, paper: str | None = None) -> None:
    """Refuse wrong figures and claims, of one paper or of all; a workflow has checked before.

    Raises:
        Findings: everything that is wrong.
    """
    if VARIABLE not in os.environ:
        from fathom.artefacts.check import require

        require(project, paper)


def papers_named(project: Project, name: str | None, verb: str) -> list[str]:
    """Return the paper that a user names, or all of them.

    Args:
        project: the project.
        name: the paper; None for all.
        verb: which command asks.

    Raises:
        FathomError: there is none of that name.
    """
    if name is None:
        return [*project.papers]
    if name not in project.papers:
        raise FathomError(f"no paper '{name}'", verb, nearest(name, project.papers))
    return [name]


def dataset_named(project: Project, name: str) -> Dataset:
    """Return the data set that a user names, also by the folder of its corpus.

    Raises:
        FathomError: there is none of that name.
    """
    folders = {
        dataset.corpus_folder(project.sources): dataset for dataset in project.datasets.values()
    }
    named = project.datasets.get(name) or folders.get(name)
    if named is None:
        remedy = f"{nearest(name, (*project.datasets, *folders))}. All: fathom list datasets"
        raise FathomError(f"no data set '{name}'", "dataset", remedy)
    return named


def data_named(
    project: Project,
    name: str,
    scale: str,
    folder: Callable[[DataSpec], str] = attrgetter("folder"),
) -> DataSpec:
    """Return the data that a user names by the folder of a stage, or by the data set alone.

    Args:
        project: the project.
        name: `<data set>-<hash8>`, of any scale, or a data set that the scale uses.
        scale: the scale.
        folder: from data to the name of its folder at this stage.

    Raises:
        FathomError: no run uses it, or the runs of the scale use several.
    """
    if "-" in name:
        known = {
            folder(data): data
            for of_scale in project.scales
            for data in project.data_folders(of_scale).values()
        }
        if name not in known:
            raise FathomError(f"no data '{name}'", "data", nearest(name, known))
        return known[name]
    known = {folder(data): data for data in project.data_folders(scale).values()}
    fitting = sorted(key for key in known if key.rpartition("-")[0] == name)
    if not fitting:
        names = sorted({key.rpartition("-")[0] for key in known})
        raise FathomError(f"no data '{name}'", f"scale {scale}", nearest(name, names))
    if len(fitting) > 1:
        what = f"'{name}' is cut into pieces in {len(fitting)} ways"
        raise FathomError(what, f"scale {scale}", f"name one: {', '.join(fitting)}")
    return known[fitting[0]]


def report(line: str) -> None:
    """Print a line of progress on standard error, if that still takes one."""
    say(line)


def suggest(command: str) -> None:
    """Print on standard error what a user may type next; the rules of a workflow know it."""
    if VARIABLE not in os.environ:
        report(f"next: {command}")


def report_of(what: str) -> Callable[[str], None]:
    """Return a `report` whose lines begin with what they are about: jobs run side by side."""
    return lambda line: report(f"{what}: {line}")

"""Options with the same meaning in every verb, and what verbs start from: a project, a run."""

import os
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fathom.config import load
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.config.schema.dataset import Dataset
from fathom.config.spec import DataSpec
from fathom.config.switches import VARIABLE, one_seed, seed_list
from fathom.io.errors import FathomError, closest, nearest, refuse
from fathom.io.machine import job_id
from fathom.io.screen import say

if TYPE_CHECKING:
    from fathom.artefacts.artefacts import Artefacts
    from fathom.artefacts.needs import Needs
    from fathom.decode.open_run import OpenRun


def one_split(split: str) -> str:
    """Return a split of held-out text."""
    from fathom.decode.ready import SPLITS, require_name

    require_name(split, SPLITS, "held-out split", "--split")
    return split


Scale = Annotated[
    str | None, typer.Option(help="A scale of config/scales. Default: config.yaml's.")
]
Results = Annotated[str | None, typer.Option(help="The folder of results. Default: config.yaml's.")]
Profile = Annotated[
    str | None,
    typer.Option(
        help="slurm, or the folder of a profile: scale, results and site are those of its "
        "site.yaml. Default: the profile in SNAKEMAKE_PROFILE, or none."
    ),
]
Seed = Annotated[int, typer.Option(help="The training's seed.", parser=one_seed, metavar="INTEGER")]
Seeds = Annotated[
    str | None,
    typer.Option(
        help="Seeds to use: 3 (means 1, 2, 3), 1-5, 2,5 or `all` (every trained seed). Default: "
        "those of each run."
    ),
]
NewSeeds = Annotated[
    str | None,
    typer.Option(help="Seeds to train: 3 (means 1, 2, 3), 1-5 or 2,5. Default: those of each run."),
]
Device = Annotated[
    str | None, typer.Option(help="auto, cpu, cuda or cuda:<n>. Default: config.yaml's.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Paper = Annotated[str | None, typer.Argument(help="A paper. Default: all.")]
Run = Annotated[
    str, typer.Argument(help="A run of `fathom list runs`, or a row: '<paper>_<table>: <row>'.")
]


Gates = Annotated[
    str | None, typer.Option(help="plain, soft or hard; by default those that config asks for.")
]
Split = Annotated[
    str | None,
    typer.Option(
        help="valid or test; by default those that config asks for.",
        parser=one_split,
        metavar="<str>",
    ),
]
HeldOut = Annotated[
    str,
    typer.Option(help="The held-out text: valid or test.", parser=one_split, metavar="<str>"),
]


def open_project(check: bool | load.Check = False) -> Project:
    """Return the project in whose folder the user is; `check` as for `load`."""
    return load.open_project(Path(), check)


def open_scale(
    scale: str | None,
    results: str | None = None,
    check: bool = False,
    of_results: bool = False,
    profile: str | None = None,
) -> tuple[Project, Paths]:
    """Return the project, and the places of a scale's files; what is None is config.yaml's.

    With `of_results`, a folder of results that the user names must exist. `profile` as for
    `load.open_project`.
    """
    project = load.open_project(Path(), check, profile)
    paths = load.open_paths(project, scale, results)
    if of_results and results is not None:
        require_results(paths)
    return project, paths


def open_artefacts(
    scale: str | None, results: str | None, seeds: str | None, profile: str | None = None
) -> "Artefacts":
    """Return the tables and figures at a scale; a folder of results that is named must exist."""
    from fathom.artefacts.artefacts import Artefacts

    project, paths = open_scale(scale, results, of_results=True, profile=profile)
    if seeds == "all":
        return Artefacts(project, paths, seeds)
    return Artefacts(project, paths, seed_list(seeds) if seeds else None)


def require_results(paths: Paths) -> None:
    """Refuse a folder of results that does not exist."""
    folder = paths.results
    if not folder.is_dir():
        near = closest(folder.name, [each.name for each in folder.parent.glob("*/")])
        remedy = f"nearest valid name: '{near}'" if near else "name another by --results"
        raise FathomError("no such folder", str(folder), remedy)


def check_artefacts(project: Project, paper: str) -> None:
    """Refuse wrong figures and claims of a paper; a workflow has checked all papers before."""
    if VARIABLE not in os.environ:
        from fathom.artefacts.check import findings

        refuse(findings(project, paper))


def papers_named(project: Project, name: str | None, verb: str) -> list[str]:
    """Return the paper that a user names, or all of them where the name is None."""
    if name is None:
        return [*project.papers]
    if name not in project.papers:
        if fault := project.files.absent_for(name):
            raise fault
        raise FathomError(f"no paper '{name}'", verb, nearest(name, project.papers))
    return [name]


def dataset_named(project: Project, name: str) -> Dataset:
    """Return the data set that a user names, also by the folder of its corpus."""
    folders = {
        dataset.corpus_folder(project.sources): dataset for dataset in project.datasets.values()
    }
    named = project.datasets.get(name) or folders.get(name)
    if named is None:
        remedy = f"{nearest(name, (*project.datasets, *folders))}. All: `fathom list datasets`"
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
        name: `<data set>-<hash8>`, of any scale, or a data set that the scale uses.
        folder: from data to the name of its folder at this stage.
    """
    scales = project.scales if "-" in name else (scale,)
    named = {
        folder(data): data
        for of_scale in scales
        for data in project.data_folders(of_scale).values()
    }
    if "-" in name and name not in named:
        raise FathomError(f"no data '{name}'", "data", nearest(name, named))
    fitting = sorted(key for key in named if name in (key, key.rpartition("-")[0]))
    if not fitting:
        names = sorted({key.rpartition("-")[0] for key in named})
        raise FathomError(f"no data '{name}'", f"scale {scale}", nearest(name, names))
    if len(fitting) > 1:
        what = f"'{name}' is cut into pieces in {len(fitting)} ways"
        raise FathomError(what, f"scale {scale}", f"name one: {', '.join(fitting)}")
    return named[fitting[0]]


def open_run(
    run: str, scale: str | None, results: str | None, device: str | None = None
) -> "OpenRun":
    """Return a run of the project in whose folder the user is."""
    from fathom.decode.open_run import OpenRun

    return OpenRun.of(*open_scale(scale, results), run, device)


def enter_job() -> None:
    """Print what a scheduler's job has; refuse one with fewer GPUs than it asked for.

    Outside of a job nothing is imported. Of several processes the first prints the line, and the
    first of a node the refusal.
    """
    if job_id() is None:
        return
    from fathom.train.environment import describe_job

    try:
        line = describe_job()
    except FathomError:
        if os.environ.get("LOCAL_RANK", "0") == "0":
            raise
        raise SystemExit(1) from None
    if os.environ.get("RANK", "0") == "0":
        say(f"fathom: {line}")


def needs(opened: "OpenRun") -> "Needs":
    """Return what tables and figures show of a run, and of others."""
    from fathom.artefacts.needs import Needs

    return Needs(opened.project, opened.paths.scale)


def decodings(opened: "OpenRun", split: str | None, gates: str | None) -> list[tuple[str, str]]:
    """Return split and gates of the decoding that the user named, or of all in config."""
    if split is None and gates is None:
        return list(needs(opened).decodings(opened.spec.name))
    return [(split or "test", opened.one_gates(gates))]

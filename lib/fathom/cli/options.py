"""Options with the same meaning in every verb, and what verbs start from: a project, a run."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fathom.cli.verbs import PROJECT_VARIABLE
from fathom.config.load import Check, load
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.config.rules import CTRANSLATE2_REMEDY, require_plain_gates
from fathom.config.schema.dataset import Dataset
from fathom.config.spec import DataSpec, Spec
from fathom.config.switches import VARIABLE, layers, one_seed, open_results, seed_list
from fathom.io.errors import FathomError, closest, nearest, refuse
from fathom.io.screen import say
from fathom.results.recipe import PACKAGE

if TYPE_CHECKING:
    from fathom.artefacts.artefacts import Artefacts
    from fathom.artefacts.needs import Needs
    from fathom.decode.trained_run import TrainedRun


def one_split(split: str) -> str:
    """Return a split of held-out text."""
    from fathom.decode.ready import SPLITS, require_name

    require_name(split, SPLITS, "held-out split", "--split")
    return split


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


def project_root() -> Path:
    """Return the project's folder: FATHOM_PROJECT, the nearest one upwards, or the package's."""
    named = os.environ.get(PROJECT_VARIABLE)
    here = Path.cwd()
    places = (Path(named).resolve(),) if named else (here, *here.parents, PACKAGED)
    for folder in places:
        if (folder / "config" / "papers").is_dir():
            return folder
    remedy = f"change to the folder of a clone, or name it by --project or {PROJECT_VARIABLE}"
    raise FathomError("no fathom project here", named or str(here), remedy)


def open_project(check: bool | Check = False) -> Project:
    """Return the project, with the switches of the working folder and of a workflow around it.

    `check` also reads the runs and papers that are not asked for; a workflow has done so before its
    jobs. Raises FathomError where there is no project, and Findings of config/.
    """
    root = project_root()
    code = root / "lib" / PACKAGE.name
    if code.is_dir() and not code.samefile(PACKAGE):
        # The environment of a clone that was copied or moved still has the code of the old one.
        remedy = f"delete {root / '.venv'} and run `make environment` in {root}"
        say(f"fathom: {root}: not the code of this folder runs, but that in {PACKAGE}; {remedy}")
    check = VARIABLE not in os.environ and check
    return load(root, check=check, layers=layers(root, Path.cwd()))


def open_scale(
    scale: str | None, results: str | None = None, check: bool = False, of_results: bool = False
) -> tuple[Project, Paths]:
    """Return the project, and the places of a scale's files.

    What is None is config.yaml's; a relative folder of results is below the working folder. With
    `of_results`, a folder of results that the user names must exist.
    """
    project = open_project(check)
    name = scale or project.switches.scale
    project.scale(name)
    folder = open_results(project.switches.results if results is None else results)
    paths = Paths(folder, name)
    if of_results and results is not None:
        require_results(paths)
    return project, paths


def open_artefacts(
    scale: str | None, results: str | None, seeds: str | None, of_results: bool = False
) -> "Artefacts":
    """Return the tables and figures at a scale; `of_results` as in `open_scale`."""
    from fathom.artefacts.artefacts import Artefacts

    project, paths = open_scale(scale, results, of_results=of_results)
    if seeds == "all":
        return Artefacts(project, paths, seeds)
    return Artefacts(project, paths, seed_list(seeds) if seeds else None)


def require_results(paths: Paths) -> None:
    """Refuse a folder of results that does not exist."""
    folder = paths.results
    if not folder.is_dir():
        near = closest(folder.name, [each.name for each in folder.parent.glob("*/")])
        remedy = f"nearest valid name: '{near}'" if near else "give --results"
        raise FathomError("no such folder", str(folder), remedy)


def check_artefacts(project: Project, paper: str | None = None) -> None:
    """Refuse wrong figures and claims, of one paper or of all; a workflow has checked before."""
    if VARIABLE not in os.environ:
        from fathom.artefacts.check import findings

        refuse(findings(project, paper))


def papers_named(project: Project, name: str | None, verb: str) -> list[str]:
    """Return the paper that a user names, or all of them where the name is None."""
    if name is None:
        return [*project.papers]
    if name not in project.papers:
        raise FathomError(f"no paper '{name}'", verb, nearest(name, project.papers))
    return [name]


def dataset_named(project: Project, name: str) -> Dataset:
    """Return the data set that a user names, also by the folder of its corpus."""
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


@dataclass(frozen=True)
class OpenRun:
    """A run of a project at a scale."""

    project: Project
    spec: Spec
    paths: Paths

    def one_gates(self, gates: str | None) -> str:
        """Return the gates that the user named, or those of the run's validation."""
        from fathom.decode.ready import require_name

        valid = self.spec.gates
        require_name(gates or valid[0], valid, "gates", self.spec.name)
        return gates or valid[0]

    def require_decodable(self, *gates: str) -> None:
        """Refuse gates with which the decoder of the run's settings cannot translate it."""
        decoding = self.spec.decoding
        if decoding is not None and decoding.decoder == "ctranslate2":
            card = self.project.methods[self.spec.method.name]
            for name in gates:
                require_plain_gates(card, name, self.spec.name, CTRANSLATE2_REMEDY)

    @property
    def needs(self) -> "Needs":
        """What tables and figures show of the run, and of others."""
        from fathom.artefacts.needs import Needs

        return Needs(self.project, self.paths.scale)

    def decodings(self, split: str | None, gates: str | None) -> list[tuple[str, str]]:
        """Return split and gates of the decoding that the user named, or of all in config."""
        if split is None and gates is None:
            return list(self.needs.decodings(self.spec.name))
        return [(split or "test", self.one_gates(gates))]

    def trained(self, seed: int, device: str | None) -> "TrainedRun":
        """Return a training of the run; this loads torch."""
        from fathom.decode.trained_run import TrainedRun
        from fathom.train.environment import choose_device

        place = choose_device(device or self.project.switches.device)
        return TrainedRun(self.spec, seed, self.paths, place)


def open_run(
    run: str, scale: str | None, results: str | None, device: str | None = None
) -> OpenRun:
    """Return a run of the project in whose folder the user is."""
    from fathom.decode.ready import require_device

    project, paths = open_scale(scale, results)
    require_device(project.switches.device if device is None else device)
    spec = project.run_named(run, paths.scale)
    reason = project.not_built(spec.name, paths.scale)
    if reason:
        remedy = "`fathom list runs` shows what can be trained"
        raise FathomError(f"not built yet: {reason}", f"{spec.name}, scale {paths.scale}", remedy)
    return OpenRun(project, spec, paths)

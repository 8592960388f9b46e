"""config/ found, read and, where it is asked for, checked whole."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from fathom.config import plugins
from fathom.config.check import check as check_values
from fathom.config.files import ConfigFiles
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.config.switches import VARIABLE, Switches, layers, merged, open_results
from fathom.config.yaml_values import Value, read
from fathom.io.commands import PROJECT_VARIABLE
from fathom.io.errors import FathomError, printed, refuse, unknown
from fathom.io.screen import say

# Snakemake's own, for the profile of starts that name none.
PROFILE_VARIABLE = "SNAKEMAKE_PROFILE"
# Returns what is to be added to the findings of config/.
Check = Callable[[Project, list[FathomError]], Iterable[FathomError]]
# The folder whose config/ is part of the package; in a clone that is a link, and this the clone.
PACKAGED = (Path(__file__).parents[1] / "packaged" / "config").resolve().parent


def project_root(here: Path) -> Path:
    """Return the project's folder: FATHOM_PROJECT, the nearest one upwards, or the package's."""
    named, here = os.environ.get(PROJECT_VARIABLE), here.resolve()
    places = (Path(named).resolve(),) if named else (here, *here.parents, PACKAGED)
    for folder in places:
        if (folder / "config" / "papers").is_dir():
            return folder
    remedy = f"change to the folder of a clone, or name it by --project or {PROJECT_VARIABLE}"
    raise FathomError("no fathom project here", named or str(here), remedy)


def open_project(here: Path, check: bool | Check = False, profile: str | None = None) -> Project:
    """Return the project of a working folder, with its switches and those of a workflow around it.

    `check` also reads the runs and papers that are not asked for; a workflow has done so before its
    jobs. `profile` is one of Snakemake's, by its name or folder, whose site.yaml comes last; None
    is that of starts in this shell, by Snakemake's variable. Raises FathomError where there is no
    project or profile, and Findings of config/.
    """
    root = project_root(here)
    code, package = root / "lib" / "fathom", Path(__file__).parents[1]
    if code.is_dir() and not code.samefile(package):
        # The environment of a clone that was copied or moved still has the code of the old one.
        remedy = f"delete {root / '.venv'} and run `make environment` in {root}"
        say(f"fathom: {root}: not the code of this folder runs, but that in {package}; {remedy}")
    # In a job the start has checked config/, and its switches are complete.
    in_job = VARIABLE in os.environ
    check = not in_job and check
    site = [] if in_job else _site(profile, root)
    project = load(root, check, [*layers(root, here.resolve()), *site], here)
    if not check:
        say_missing(project)
    return project


def _site(profile: str | None, root: Path) -> list[Value]:
    """Return the switches of a profile, by its name or folder or by Snakemake's variable."""
    profiles = {each.parent.name: each for each in root.glob("workflow/profiles/*/site.yaml")}
    name = profile or os.environ.get(PROFILE_VARIABLE, "")
    places = (Path(name) / "site.yaml", profiles.get(name, root))
    site = [read(place, root) for place in places if name and place.is_file()][:1]
    # A profile of the shell need not be for this project.
    if profile and not site:
        raise unknown("profile with a site.yaml", profile, "--profile", profiles)
    return site


def say_missing(project: Project) -> None:
    """Print each folder of papers that is not there, which stops only what needs it."""
    for fault in project.files.absent.values():
        say(f"{printed(fault)}; the rest goes on without it")


def paper_folders(
    papers: Iterable[str], root: Path, here: Path, layers: Iterable[Value]
) -> list[Path]:
    """Return the folders that the switch `papers` names.

    A relative path is below the folder whose config.yaml has it, and below the working folder where
    a user types it. There it may also be the project's: `new` writes the names of both.
    """
    bases = (here, root) if any("papers" in layer.value for layer in layers) else (root,)
    places = ([base / folder for base in bases] for folder in papers)
    return [next(filter(Path.is_dir, each), each[0]).resolve() for each in places]


def open_paths(
    project: Project, scale: str | None, results: str | None, here: Path = Path()
) -> Paths:
    """Return the places of a scale's files.

    What is None is config.yaml's; a relative folder of results is below the working folder `here`.
    """
    name = scale or project.switches.scale
    project.scale(name)
    folder = project.switches.results if results is None else results
    path = open_results(here / folder if folder else folder)
    for code in ("config", "lib", "workflow", "tests"):
        place, top = (project.root / code).resolve(), path.resolve()
        if place.is_dir() and (place.is_relative_to(top) or top.is_relative_to(place)):
            what = f"results would lie between the files of {place}"
            raise FathomError(what, f"results {path}", "name another folder")
    return Paths(path, name)


def load(
    root: Path, check: bool | Check = True, layers: Iterable[Value] = (), here: Path = Path()
) -> Project:
    """Read config/ under a folder.

    A folder of `papers` that is not there stops nothing here: `project.files.absent` has it.

    With `check`, what is wrong in each file alone is found first, or else what is wrong between
    files. Without it, a part is checked when it is first asked for.

    Args:
        root: the project's folder.
        check: whether to check everything: all papers, and all runs at all scales; or what checks
            even more, `artefacts.check.beyond_config`.
        layers: switches that come after config.yaml's (config/switches.py).
        here: the working folder.
    """
    files, layers = ConfigFiles(root), [*layers]
    findings = [*files.all("config").faults()]
    values = merged([*([] if findings else files.all("config").values()), *layers])
    switches, wrong = check_values(Switches, values)
    findings += wrong if not findings else []
    if switches is not None:
        folders = paper_folders(switches.papers, root, here, layers)
        papers = ((folder.name, folder) for folder in folders)
        findings += files.include(plugins.installed().items(), plugins.GROUP)
        findings += files.include(papers, values.place("papers"))
        if switches.scale not in files.names("scale"):
            where = values.place("scale")
            findings.append(unknown("scale", switches.scale, where, files.names("scale")))
    if findings and not check:
        refuse(findings)
    # What is missing here is a finding already.
    project = Project(root, files, switches or Switches.model_construct())
    project.given = values
    if check:
        from fathom.config import consistency

        findings += consistency.file_faults(project)
        findings = findings or consistency.conflicts(project)
        refuse([*findings, *(check(project, findings) if callable(check) else ())])
    return project

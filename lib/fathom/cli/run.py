"""The verb `run`: Snakemake with the words in any order, rows and runs by name, and progress."""

import os
import re
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated

import typer

from fathom.cli.options import NewSeeds, Results, Scale, open_scale
from fathom.config.load import PROFILE_VARIABLE
from fathom.config.project import Project
from fathom.io.errors import FathomError, closest, unknown
from fathom.io.screen import say

_STEPS = "clone the project, or make each step: fathom fetch, prepare, subwords, encode, train"
_CACHES = 2**20  # bytes that caches need
WORKFLOW, LOGGER = Path("workflow") / "Snakefile", "fathom"

Target = Annotated[
    list[str],
    typer.Argument(
        help="A target of Snakemake (all, a paper, a table, …), a run, or a row "
        "('<paper>_<table>: <row>'). After `--`: options of Snakemake."
    ),
]
_SETTING = re.compile(r"\w+=\S+")
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "--config",
        metavar="KEY=VALUE",
        help="Override a key of config/config.yaml, such as device=cpu. May be given repeatedly.",
    ),
]
Profile = Annotated[
    str | None,
    typer.Option(envvar=PROFILE_VARIABLE, help="A profile of Snakemake, such as slurm."),
]
Jobs = Annotated[
    int | None,
    typer.Option("-j", "--jobs", "-c", "--cores", min=1, help="Cores here, or jobs on a cluster."),
]
Dry = Annotated[bool, typer.Option("-n", "--dry-run", help="Only print what would be made.")]
Yes = Annotated[
    bool,
    typer.Option("--yes", help="Submit jobs even if the scale reduces the papers' settings."),
]


def run(
    targets: Target,
    scale: Scale = None,
    seeds: NewSeeds = None,
    results: Results = None,
    switches: Set = None,
    profile: Profile = None,
    jobs: Jobs = None,
    dry_run: Dry = False,
    yes: Yes = False,
) -> None:
    """Start Snakemake: make tables, figures, runs or all of a paper.

    The command of Snakemake is printed first, and can be typed in place of this one.

    Example: fathom run latent_depth_table5 --scale tiny -n
    """
    # What is typed after `--`.
    first = next((at for at, word in enumerate(targets) if word.startswith("-")), len(targets))
    project, _ = open_scale(scale, results)
    if setting := next((text for text in targets[:first] if _SETTING.fullmatch(text)), ""):
        remedy = f"write --config before each: --config {setting}"
        raise FathomError(f"'{setting}' is not a target", "run", remedy)
    names, runs = _asked(project, targets[:first])
    file = project.root / "profiles" / (profile or "default") / "config.yaml"
    submits = file.is_file() and "executor:" in file.read_text("utf-8", "replace")
    options = {"scale": scale, "seeds": seeds, "results": results, "run": runs}
    config = {key: value for key, value in options.items() if value}
    for text in switches or ():
        key, _, value = text.partition("=")
        if not (key and value):
            raise FathomError(f"'{text}' is not KEY=VALUE", "--config", "write --config device=cpu")
        if key in config:
            raise FathomError(f"two values of '{key}'", f"--set {text}", "leave one out")
        config[key] = value
    scale = config.get("scale")
    if submits and scale and project.scale(scale).cuts_down and not (yes or dry_run):
        what = f"scale {scale} cuts the papers' trainings down, and would use a cluster"
        raise FathomError(what, f"--profile {profile}", "leave the scale out, or add --yes")
    given = [f"{key}={value}" for key, value in config.items()]
    words = ["snakemake", *names]
    if not Path(WORKFLOW.name).exists():
        if not (project.root / WORKFLOW).is_file():
            raise FathomError("only a clone has the workflow", str(project.root), _STEPS)
        words += ["--snakefile", str(project.root / WORKFLOW)]
    if profile:
        # Snakemake looks in the working folder, and in the home.
        is_here = Path(profile).exists() or not file.is_file()
        words += ["--profile", profile if is_here else str(file.parent)]
    words += [f"--{'jobs' if submits else 'cores'}", str(jobs)] if jobs else []
    words += ["--dry-run"] if dry_run else []
    words += ["--logger", LOGGER] if find_spec(f"snakemake_logger_plugin_{LOGGER}") else []
    words += [*targets[first:], *(["--config", *given] if given else [])]
    say(shlex.join(words))
    _give_caches_room()
    beside = Path(sys.executable).with_name(words[0])
    try:
        os.execvp(beside if beside.exists() else words[0], words)
    except FileNotFoundError:
        remedy = "run `make environment`, and add .venv/bin to PATH"
        raise FathomError("no such command", words[0], remedy) from None


def _give_caches_room() -> None:
    """Name a folder here for caches of Snakemake and matplotlib where the home has no room."""
    try:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
        caches.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=caches) as probe:
            probe.write(bytes(_CACHES))
            probe.flush()
    except (OSError, RuntimeError) as error:
        here = Path(".snakemake").absolute() / "caches"
        os.environ["XDG_CACHE_HOME"] = os.environ["MPLCONFIGDIR"] = str(here)
        say(f"fathom: caches are in {here}: {getattr(error, 'strerror', error)} in the home")


def _asked(project: Project, texts: list[str]) -> tuple[list[str], str]:
    """Return targets of Snakemake, and the switch `run` of the runs and rows among them."""
    from fathom.workflow.targets import ALL, READING, RUN, STATISTICS

    known = {ALL, *READING, STATISTICS, RUN, *project.papers}
    for name, paper in project.papers.items():
        known |= {f"{name}_{each}" for each in (*paper.tables, *paper.figures)}
    targets = [text for text in texts if text in known or text.endswith("_row")]
    runs: list[str] = []
    for text in (text for text in texts if text not in targets):
        if fault := project.files.absent_for(text):
            raise fault
        try:
            runs += project.run_names(text)
        except FathomError:
            if ":" not in text and closest(text, known):
                raise unknown("target", text, "run", known) from None
            raise
    if runs and targets:
        remedy = "name targets, or runs and rows: `fathom list`"
        raise FathomError(f"{targets[0]} and runs in one start", "run", remedy)
    return (targets, "") if targets else ([RUN], ",".join(dict.fromkeys(runs)))

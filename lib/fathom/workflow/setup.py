"""The start of the workflow: tools on the path, switches checked, targets ready for the rules."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from fathom.config.load import load, paper_folders, say_missing
from fathom.config.paths import Paths
from fathom.config.switches import FILE, VARIABLE, layers, merged, one_or_several, open_results
from fathom.config.yaml_values import Value, read
from fathom.io.commands import PROJECT_VARIABLE
from fathom.io.errors import FathomError, printed
from fathom.io.files import write_text
from fathom.io.machine import fault_of_machine
from fathom.io.records import identity
from fathom.results.recipe import PACKAGE, hashed
from fathom.workflow.targets import Targets

T = TypeVar("T")
# The interpreter that starts the processes of a training on several devices.
PYTHON_VARIABLE = "FATHOM_PYTHON"
# Where the executor of the profile `slurm` keeps what is known of jobs.
JOBS_VARIABLE = "SLURM_ATTACH_FOLDER"
# glibc returns large freed blocks to the system and takes them again at the next update; a process
# reads these bounds when it starts.
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": "33554432", "MALLOC_TRIM_THRESHOLD_": "1073741824"}
# The state of config/ and lib/ of a start, for the jobs that it submits.
STATE_VARIABLE = "FATHOM_STATE"
# What the driver of an NVIDIA GPU leaves on a machine; no need to import torch.
DRIVER = Path("/proc/driver/nvidia/version")
# The state of config/ that an earlier start in this working folder has checked.
CHECKED = Path(".snakemake") / "fathom_checked"


def begin(
    project: Path,
    changes: Mapping[str, Any],
    head: bool,
    cluster: bool = False,
    files: Iterable[Path] = (),
) -> Targets:
    """Return the targets, after setting what the commands of rules need to know.

    Args:
        changes: Snakemake's config: `--config`.
        head: whether this is the process that the user started. Only this one checks all of
            config/, once for each state of it.
        cluster: whether jobs run elsewhere.
        files: those that gave some of the changes.

    Raises:
        FathomError: If no folder can be where results should be, or the clone's has braces.
        Findings: what is wrong in config/ or after `--config`.
    """
    if {*"{}"} & {*str(project)}:
        what = "Snakemake takes braces in a path for wildcards"
        raise FathomError(what, str(project), "move the clone to a folder without { and }")
    given = layers(project, Path.cwd(), changes, files)
    state = ""
    # The jobs of a start need no state: hashing all of config/ for each would be wasted.
    if head:
        os.environ[STATE_VARIABLE], state = states_of(project, given)
    check = head and not is_checked(state)
    if check:
        from fathom.artefacts.check import beyond_config as check
    loaded = load(project, check=check, layers=given)
    if check:
        write_text(CHECKED, state)
    if head:
        say_missing(loaded)
    switches = loaded.switches
    # Jobs know nothing of the file that named a folder of papers.
    folders = paper_folders(switches.papers, project, Path.cwd(), given)
    papers = {"papers": [str(folder) for folder in folders if folder.is_dir()]}
    set_environment(project, switches.model_dump(exclude_none=True) | papers)
    paths = Paths(open_results(switches.results), switches.scale)
    os.environ[JOBS_VARIABLE] = str(paths.cluster.absolute())
    if head and switches.retrain == "stale":
        paths.retrain.parent.mkdir(parents=True, exist_ok=True)
        paths.retrain.touch()
    return Targets(
        loaded,
        switches.scale,
        paths,
        gpus_for(switches.device, cluster),
        ready_only=True,
    )


def states_of(project: Path, layers: Iterable[Value]) -> tuple[str, str]:
    """Return one hash of config/, papers outside it and the code, and one with the switches too.

    `layers` are switches that come after config.yaml's.
    """
    layers = list(layers)
    given = merged([read(project / FILE, project), *layers])
    papers = map(str, one_or_several(given.get("papers", default=())))
    folders = [project / "config", *paper_folders(papers, project, Path.cwd(), layers)]
    files = identity([[hashed(folder, "*") for folder in folders], hashed(PACKAGE)])
    return files, identity([files, [layer.plain for layer in layers]])


def since_submitted() -> str:
    """Return what to do where config/ or lib/ has changed since the start submitted this job.

    A job that waits reads both when it begins. Empty where nothing has changed, and outside of
    jobs.
    """
    state, project = os.environ.get(STATE_VARIABLE), os.environ.get(PROJECT_VARIABLE)
    if state and project:
        root = Path(project)
        # A file that cannot be read now could be read then.
        with suppress(FathomError):
            if states_of(root, layers(root, Path.cwd()))[0] == state:
                return ""
        return "\nfathom: config/ or lib/ has changed since this job was submitted: start again"
    return ""


def is_checked(state: str) -> bool:
    """Return whether an earlier start in the working folder found nothing wrong in this state."""
    return CHECKED.is_file() and CHECKED.read_text(encoding="utf-8", errors="replace") == state


def set_environment(project: Path, switches: dict[str, Any]) -> None:
    """Let rules call `fathom` by its bare name, with this checkout's code and these switches.

    Jobs on other machines read the Snakefile again, so they get all of it too.
    """
    places = [project / ".venv" / "bin", Path(sys.executable).parent]
    commands = [str(place) for place in places if (place / "fathom").exists()][:1]
    # Last, a stand-in that says how to make the environment.
    _put_first("PATH", commands, [str(project / "workflow" / "bin")])
    _put_first("PYTHONPATH", [str(project / "lib")])
    for name, value in ALLOCATOR.items():
        os.environ.setdefault(name, value)
    os.environ[PROJECT_VARIABLE] = str(project)
    os.environ[PYTHON_VARIABLE] = sys.executable
    os.environ[VARIABLE] = json.dumps(switches, allow_nan=False)


def _put_first(variable: str, first: list[str], last: list[str] | None = None) -> None:
    """Add folders to a search path, each once."""
    old = os.environ.get(variable, "").split(os.pathsep)
    folders: list[str] = [*first, *filter(None, old), *(last or [])]
    os.environ[variable] = os.pathsep.join(dict.fromkeys(folders))


def gpus_for(device: str, cluster: bool) -> int:
    """Return how many GPUs a job of a run asks for: 1 where it will use CUDA, else 0.

    A login node need not have the driver that a cluster's nodes have.
    """
    if device == "auto" and cluster:
        return 1
    if device == "auto":
        return int(DRIVER.exists() or shutil.which("nvidia-smi") is not None)
    return int(device.startswith("cuda"))


def ask(look_up: Callable[..., T], *values: Any) -> T:
    """Return what a look-up returns, or end the program with its message, or that of the machine.

    For what Snakemake calls: it prints a traceback for every other error.
    """
    try:
        return look_up(*values)
    except FathomError as error:
        sys.exit(printed(error) + since_submitted())
    except OSError as refusal:
        if error := fault_of_machine(refusal):
            sys.exit(printed(error))
        raise

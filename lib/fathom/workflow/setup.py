"""The start of the workflow: the user's switches checked, the wishes turned into targets."""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fathom.config.yaml_files import YamlFile
from fathom.errors import FathomError, Findings
from fathom.project.load import load
from fathom.runs.paths import Paths
from fathom.workflow.targets import Targets

# What rules write behind a verb; the others each verb reads from config.yaml by itself.
HANDED_ON = ("scale", "device", "row")


def use_own_tools() -> None:
    """Put this interpreter's folder first on PATH: rules call `fathom` by its bare name.

    So they find it in an activated environment and where Snakemake is called by its path.
    """
    own = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join([own, os.environ.get("PATH", "")])


def _unheard(config: dict[str, Any], file: dict[str, Any]) -> Iterator[FathomError]:
    """Yield the switches that `--config` changed and that rules do not hand on to `fathom`."""
    for key, value in config.items():
        if key in file and key not in HANDED_ON and value != file[key]:
            what = f"'{key}' stays as config/config.yaml has it"
            yield FathomError(what, "--config", "change it there")


def begin(root: Path, config: dict[str, Any], typed: Sequence[str], check: bool) -> Targets:
    """Return the wishes of a start.

    Args:
        root: the project's folder.
        config: config.yaml with what `--config` changed.
        typed: the targets on the command line.
        check: whether to check all of config/ and the targets; a job of a start need not.

    Raises:
        Findings: what is wrong in config/ or after `--config`.
        FathomError: a target, scale or row that does not exist.
    """
    catalog = load(root, check=check)
    if check:
        switches = YamlFile("--config or config/config.yaml", config, {})
        found = list(catalog.schemas.findings("config", switches))
        found = found or list(_unheard(config, catalog.config))
        if found:
            raise Findings(found)
    scale = catalog.scale(config["scale"]).name
    paths = Paths(Path(config["results"]), scale)
    row = config.get("row")
    targets = Targets(catalog, scale, paths, tuple(typed), None if row is None else str(row))
    if check:
        targets.check()
    return targets

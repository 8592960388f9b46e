"""Targets of the project's own config, with switches and a folder of results of the test's."""

from functools import cache
from pathlib import Path

from fathom.artefacts.needs import Needs
from fathom.config.load import load
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.config.switches import Switches
from fathom.workflow.targets import Targets

ROOT = Path(__file__).parents[2]
TABLE = "latent_depth_table5"


@cache
def own_project() -> Project:
    """Return the project's own config."""
    return load(ROOT, check=False)


def targets(
    results: Path, scale: str = "tiny", project: Project | None = None, **switches: object
) -> Targets:
    """Return the targets of a scale.

    Args:
        results: the folder of results.
        scale: the scale.
        project: another project than the own one.
        **switches: the user's, such as seeds and row.
    """
    project = (project or own_project()).with_switches(Switches(scale=scale, **switches))
    return Targets(Needs(project, scale), Paths(results, scale))

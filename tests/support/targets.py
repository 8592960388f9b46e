"""Targets of the project's own config, with switches and a folder of results of the test's."""

from dataclasses import replace
from functools import cache
from pathlib import Path

from fathom.project.demands import Demands
from fathom.project.load import load
from fathom.project.project import Project
from fathom.project.switches import Switches
from fathom.runs.paths import Paths
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
    project = replace(project or own_project(), switches=Switches(scale=scale, **switches))
    return Targets(Demands(project, scale), Paths(results, scale))

"""A project checked as `fathom validate` checks it: config first, then figures and claims."""

from pathlib import Path

from fathom.artefacts.check import require
from fathom.config.load import load
from fathom.config.project import Project


def checked(root: Path) -> Project:
    """Return a project in which nothing is wrong."""
    project = load(root)
    require(project)
    return project

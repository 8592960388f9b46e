"""Every test starts from the environment of a shell that has begun no workflow."""

import os

import pytest

from fathom.config.switches import VARIABLE
from fathom.workflow import setup
from tests.support.own_project import targets

SEARCHED = ("PATH", "PYTHONPATH")
OURS = (
    VARIABLE,
    setup.JOBS_VARIABLE,
    setup.PROJECT_VARIABLE,
    setup.PYTHON_VARIABLE,
    setup.STATE_VARIABLE,
    *setup.ALLOCATOR,
)


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    """Bring the environment back: a start of the workflow changes it for its jobs."""
    for name in SEARCHED:
        monkeypatch.setenv(name, os.environ.get(name, ""))
    for name in OURS:
        # Set first, so that what a test sets itself is taken away after it.
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


@pytest.fixture
def made(tmp_path):
    """The targets of the project's own config at scale tiny."""
    return targets(tmp_path)

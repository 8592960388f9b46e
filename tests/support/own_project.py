"""The project's own config, read once for all tests that do not change it."""

from functools import cache

import pytest

from fathom.cli import options
from fathom.config.load import load
from fathom.config.project import Project
from tests.house.tree import ROOT


@cache
def own_project() -> Project:
    """Return the project, read without the checks that `fathom validate` makes."""
    return load(ROOT, check=False)


@pytest.fixture
def verbs_use_it(monkeypatch):
    """Let verbs take this project rather than read and check config/ again."""
    monkeypatch.setattr(options, "open_project", lambda check=False: own_project())

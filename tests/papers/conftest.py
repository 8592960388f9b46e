"""The project's papers."""

from pathlib import Path

import pytest

from tests.support.papers import PAPERS, paper_of


@pytest.fixture(scope="session")
def papers():
    """The project's papers by name."""
    root = Path(__file__).parents[2]
    return {name: paper_of(root, name) for name in PAPERS}

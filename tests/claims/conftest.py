"""The claims of the project's papers."""

from pathlib import Path

import pytest

from fathom.config import claims
from fathom.config.yaml_values import read

PAPERS = ("latent_depth", "transparent_attention", "lamgd")


@pytest.fixture(scope="session")
def all_claims():
    """The claims of each paper by name."""
    root = Path(__file__).parents[2]
    return {
        name: claims.load(read(root / "config" / "papers" / name / "claims.yaml", root), name)
        for name in PAPERS
    }

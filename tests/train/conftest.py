"""A small encoded corpus."""

from pathlib import Path

import pytest

from fathom.data.tensors import Tensors, load
from tests.support.small_runs import encoded


@pytest.fixture(scope="session")
def tensors(tmp_path_factory) -> Path:
    """The folder of the small corpus's tensors."""
    return encoded(tmp_path_factory.mktemp("training"))


@pytest.fixture(scope="session")
def loaded(tensors) -> Tensors:
    return load(tensors)

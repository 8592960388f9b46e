"""A small encoded corpus, and a run on it."""

from pathlib import Path

import pytest

from fathom.data.tensors import Tensors, load
from tests.support.small_runs import encoded, specification, train_run


@pytest.fixture(scope="session")
def tensors(tmp_path_factory) -> Path:
    """The folder of the small corpus's tensors."""
    return encoded(tmp_path_factory.mktemp("training"))


@pytest.fixture(scope="session")
def loaded(tensors) -> Tensors:
    return load(tensors)


@pytest.fixture(scope="session")
def whole(tensors, tmp_path_factory) -> Path:
    """The folder of a static run that nothing has stopped."""
    folder = tmp_path_factory.mktemp("whole")
    train_run(specification(), tensors, folder)
    return folder

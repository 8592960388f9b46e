"""A small encoded corpus."""

import pytest

from tests.support.small_runs import encoded


@pytest.fixture(scope="session")
def tensors(tmp_path_factory):
    """The folder of the small corpus's tensors."""
    return encoded(tmp_path_factory.mktemp("benchmarks"))

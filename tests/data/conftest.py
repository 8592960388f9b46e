"""A server on loopback, and a place for the lines that are reported."""

import pytest

from tests.data.server import Site


@pytest.fixture
def site(monkeypatch):
    """A server that serves what a test puts there."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    site = Site()
    yield site
    site.close()


@pytest.fixture
def lines():
    """A list; its `append` is what a verb reports to."""
    return []

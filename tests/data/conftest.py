"""A server on loopback, and a place for the lines that are reported."""

import pytest

from fathom.data.download import Limits
from tests.data.server import CERTIFICATES, Script, Site


@pytest.fixture
def site(monkeypatch):
    """A server that serves what a test puts there."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    site = Site()
    yield site
    site.close()


@pytest.fixture
def secure(monkeypatch):
    """A function that starts a server with a certificate, which is trusted or not."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    sites = []

    def start(certificate, trusted):
        if trusted:
            monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(CERTIFICATES[certificate]))
        sites.append(Site(certificate))
        return sites[-1]

    yield start
    for site in sites:
        site.close()


@pytest.fixture
def scripted(monkeypatch):
    """A function that starts a server which does what a function says."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    servers = []

    def start(run):
        servers.append(Script(run))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def limits():
    """The limits of a download, without pauses."""
    return Limits(pause=0)


@pytest.fixture
def lines():
    """A list; its `append` is what a verb reports to."""
    return []

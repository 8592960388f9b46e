"""A server on loopback, a place for the lines that are reported, and a small encoded corpus."""

import pytest

from fathom.data.download import Limits
from fathom.data.encode import encode
from fathom.data.subwords import train
from fathom.data.tensors import load
from tests.data.server import CERTIFICATES, Script, Site
from tests.support.small_corpus import silent, small_data, write_corpus


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


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="session")
def foreign(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("foreign")
    train(small_data(), corpus, folder, silent)
    return folder


@pytest.fixture(scope="session")
def encoded(corpus, foreign, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tensors")
    encode(small_data(), corpus, foreign, folder, silent)
    return folder


@pytest.fixture(scope="session")
def tensors(encoded):
    return load(encoded)

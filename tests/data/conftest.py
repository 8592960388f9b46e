"""A server on loopback, a place for the lines that are reported, and a small encoded corpus."""

import pytest

from fathom.data.encode import encode
from fathom.data.subwords import train
from fathom.data.tensors import load
from tests.data.server import Site
from tests.support.small_corpus import silent, small_data, write_corpus


@pytest.fixture
def serve(monkeypatch):
    """A function that starts a server, Site or Script, which is closed at the end."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    servers = []

    def start(kind, *arguments):
        servers.append(kind(*arguments))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def site(serve):
    return serve(Site)


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

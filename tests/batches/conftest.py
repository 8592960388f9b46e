"""One encoded corpus, made once from the subword room's small corpus."""

import pytest

from fathom.data.encode import encode
from fathom.data.subwords import train
from fathom.data.tensors import load
from tests.support.small_corpus import silent, small_data, write_corpus


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="session")
def subwords(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("subwords")
    train(small_data(), corpus, folder, silent)
    return folder


@pytest.fixture(scope="session")
def encoded(corpus, subwords, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tensors")
    encode(small_data(), corpus, subwords, folder, silent)
    return folder


@pytest.fixture(scope="session")
def tensors(encoded):
    return load(encoded)

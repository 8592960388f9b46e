"""One corpus and its models, made once."""

import pytest

from fathom.data.subwords.train import train
from tests.support.small_corpus import silent, small_data, write_corpus


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="session")
def foreign(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("foreign")
    train(small_data(), corpus, folder, silent)
    return folder


@pytest.fixture(scope="session")
def joint(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("joint")
    train(small_data(joint=150), corpus, folder, silent)
    return folder


@pytest.fixture(scope="session")
def per_task(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("per_task")
    data = small_data(per_task=60, algorithm="unigram")
    train(data, corpus, folder, silent)
    return folder

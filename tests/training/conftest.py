"""A small encoded corpus."""

import pytest

from fathom.batches.encode import encode
from fathom.subwords.train import train
from tests.subwords.small_corpus import silent, small_data, write_corpus


@pytest.fixture(scope="session")
def tensors(tmp_path_factory):
    """The folder of the small corpus's tensors."""
    folder = tmp_path_factory.mktemp("training")
    corpus = write_corpus(folder / "corpus")
    train(small_data(), corpus, folder / "subwords", silent)
    encode(small_data(), corpus, folder / "subwords", folder / "tensors", silent)
    return folder / "tensors"

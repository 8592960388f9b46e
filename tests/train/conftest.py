"""A small encoded corpus, and a run on it."""

from pathlib import Path

import pytest
import torch

from fathom.data.tensors import Tensors, load
from fathom.train.optimisers import LossScale
from fathom.train.two_level import TwoLevel
from tests.support.small_runs import encoded, specification, train_run


@pytest.fixture(scope="session")
def tensors(tmp_path_factory) -> Path:
    """The folder of the small corpus's tensors."""
    return encoded(tmp_path_factory.mktemp("training"))


@pytest.fixture(scope="session")
def loaded(tensors) -> Tensors:
    return load(tensors)


@pytest.fixture
def loss_scale(monkeypatch):
    """Give trainings in float32 the loss scale of float16, so large that its first loss overflows.

    float16 itself needs CUDA.
    """
    initialise = TwoLevel.__init__

    def with_scale(self, *arguments):
        initialise(self, *arguments)
        self.loss_scale = LossScale(torch.device("cpu"))

    monkeypatch.setattr(TwoLevel, "__init__", with_scale)
    monkeypatch.setattr(LossScale, "START", 2.0**127)


@pytest.fixture(scope="session")
def whole(tensors, tmp_path_factory) -> Path:
    """The folder of a static run that nothing has stopped."""
    folder = tmp_path_factory.mktemp("whole")
    train_run(specification(), tensors, folder)
    return folder

"""A small encoded corpus, and a run on it."""

import os
import signal
from pathlib import Path

import pytest
import torch

from fathom.data.tensors import Tensors, load
from fathom.train.optimisers import LossScale
from fathom.train.two_level import TwoLevel
from tests.support.small_runs import encoded


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


@pytest.fixture
def signal_at(monkeypatch):
    """A function that lets a signal come before an update."""

    def arrange(at, patched=monkeypatch):
        one_update = TwoLevel.update

        def signal_first(self, number, batches):
            if number == at:
                os.kill(os.getpid(), signal.SIGTERM)
            return one_update(self, number, batches)

        patched.setattr(TwoLevel, "update", signal_first)

    return arrange

"""A benchmark's training is built as `fathom train` builds it."""

import torch

from benchmarks.peer.workload import LATENT, STATIC, Shape, Workload
from fathom.data.tensors import load


def test_every_kind_of_training_is_built_and_makes_an_update(tensors, tmp_path, monkeypatch):
    """A switch of another name than its option stopped every benchmark in its first line."""
    workload = Workload(tmp_path, torch.device("cpu"))
    monkeypatch.setattr(Workload, "tensors", load(tensors))
    monkeypatch.setattr(Workload, "folder", tensors)
    for run in (STATIC, LATENT):
        training = workload.training(workload.spec(Shape("small", run, (2, 2))))
        (batches,) = workload.updates(training, 1)
        assert training.two_level.update(1, batches).nll.isfinite()

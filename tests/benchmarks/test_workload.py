"""Every part of every benchmark is built and makes a round, on a small text with small networks."""

import sys

import pytest
import torch

from benchmarks.peer import __main__ as peer
from benchmarks.peer import memory, translation, workload
from benchmarks.peer.contenders import OURS
from benchmarks.peer.training import Rounds
from benchmarks.peer.workload import LATENT, STATIC, Shape, Workload


@pytest.fixture
def small(tensors, tmp_path, monkeypatch):
    """A workload of the small corpus, with networks of one layer per stack."""
    shapes = [Shape(name, run, (1, 1)) for name, run in (("static", STATIC), ("latent", LATENT))]
    monkeypatch.setattr(Workload, "folder", tensors)
    monkeypatch.setitem(workload.STATIC_SHAPES, "cpu", shapes[:1])
    monkeypatch.setitem(workload.METHOD_SHAPES, "cpu", shapes[1:])
    return Workload(tmp_path, torch.device("cpu"))


@pytest.mark.parametrize("part", peer.PARTS)
def test_every_part_of_the_peers_benchmark_makes_a_round(part, small, monkeypatch):
    """A switch of another name than its option once stopped each of them in its first line."""
    # What this measures is a process, which reads the text of the tiny scale.
    monkeypatch.setattr("benchmarks.peer.training.peak", lambda *_: 1.0)
    monkeypatch.setattr(translation, "UPDATES", 2)
    few = translation.Sources.of(small).every(8)
    monkeypatch.setattr(translation, "SIZES", (8,))
    monkeypatch.setattr(translation.Sources, "of", lambda _: few)
    tables = list(peer.PARTS[part](small, Rounds(1, 0)))
    assert tables
    assert all(table.rows for table in tables)


def test_the_process_that_measures_memory_makes_its_updates(small, monkeypatch, capsys):
    arguments = [str(small.results), "cpu", "static", OURS]
    monkeypatch.setattr(sys, "argv", ["memory", *arguments])
    memory.main()
    assert float(capsys.readouterr().out) >= 0

"""Every part of every benchmark is built and makes a round, on a small text with small networks."""

import json
import sys
from dataclasses import asdict

import pytest
import torch

from benchmarks.estimate import measured
from benchmarks.growth import point, training, workflow
from benchmarks.growth.__main__ import table as growth_table
from benchmarks.growth.point import Point
from benchmarks.peer import __main__ as peer
from benchmarks.peer import first_update, learning, memory, start_up, translation, workload
from benchmarks.peer.contenders import ONE_PASS, OURS
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
    monkeypatch.setattr(learning, "LIMIT", 0.1)
    monkeypatch.setattr(learning, "EVERY", 1)
    # What these measure is a process, which reads the text of the tiny scale.
    monkeypatch.setattr("benchmarks.peer.training.peak", lambda *_: 1.0)
    monkeypatch.setattr(start_up, "seconds", lambda *_: (1.0, 1.0))
    few = translation.Sources.of(small).every(8)
    monkeypatch.setattr(translation, "SIZES", (8,))
    monkeypatch.setattr(translation.Sources, "of", lambda _: few)
    tables = list(peer.PARTS[part](small, Rounds(1, 0)))
    assert tables
    assert all(table.rows for table in tables)


@pytest.mark.parametrize("contender", [OURS, ONE_PASS])
def test_a_point_of_a_growth_curve_is_measured(contender, small, monkeypatch, capsys):
    values = asdict(Point(str(small.results), contender, layers=(1, 1), tokens=64, languages=2))
    monkeypatch.setattr(sys, "argv", ["point", json.dumps(values)])
    point.main()
    milliseconds, megabytes = map(float, capsys.readouterr().out.split())
    assert milliseconds > 0
    assert megabytes >= 0


def test_every_growth_curve_of_training_has_its_points(monkeypatch):
    monkeypatch.setattr(
        Point,
        "measured",
        lambda self: (sum(self.layers) + self.tokens, 1.0 + self.tokens + sum(self.layers)),
    )
    base = Point("results", OURS)
    curves = training.depth(base) | training.tokens(base) | training.languages(base)
    assert set(curves) == {"encoder_depth", "decoder_depth", "tokens", "languages"}
    assert len(growth_table(curves).rows) == sum(
        len(panel.curves) for panels in curves.values() for panel in panels
    )


@pytest.mark.slow
def test_a_start_and_a_plan_are_measured(monkeypatch):
    monkeypatch.setattr(workflow, "SEEDS", (1,))
    monkeypatch.setattr(workflow, "RUNS", (2,))
    monkeypatch.setattr(workflow, "STARTS", 1)
    curves = workflow.plan(None) | workflow.starts(None)
    assert all(panel.curves[0].points[0][1] > 0 for panels in curves.values() for panel in panels)


def test_the_estimate_measures_a_run(small):
    spec = small.spec(Shape("small", STATIC, (1, 1)))
    (cost,) = measured(small.results, [spec])
    assert cost.seconds > 0


def test_processes_of_the_benchmark_make_their_updates(small, monkeypatch, capsys):
    monkeypatch.setattr(first_update, "end", lambda: sys.stdout.write("ended\n"))
    first_update.fairseq(str(small.results))
    arguments = [str(small.results), "cpu", "static", OURS]
    monkeypatch.setattr(sys, "argv", ["memory", *arguments])
    memory.main()
    ended, megabytes = capsys.readouterr().out.split()
    assert ended == "ended"
    assert float(megabytes) >= 0

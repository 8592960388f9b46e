"""`fathom gates`: which layers the gates of a run select."""

import sys

from fathom.results import measurements
from tests.support.refused import says
from tests.support.small_project import GATED, RUN


def test_gates_and_depth_are_measured(own, encoded, call):
    folder = own(encoded)
    assert call("train", GATED).code == 0
    answer = call("gates", GATED)
    assert (answer.code, answer.out) == (0, "")
    (path,) = folder.glob("results/runs/*/*/1/measurements/gates.json")
    found = measurements.read(path).measurements
    assert found["gates.decoder"].labels["task"] == ["bos", "kor"]
    assert list(found["depth.decoder"].tasks) == ["bos", "kor"]
    assert str(path.name) in answer.err


def test_a_run_without_gates_is_refused_before_torch_is_loaded(trained, call, monkeypatch):
    monkeypatch.chdir(trained)
    monkeypatch.setitem(sys.modules, "torch", None)
    says("no gates", where=f"sample/{RUN}").check(call("gates", RUN).one_line)
    says("no such file", where="training.json").check(call("gates", GATED).one_line)

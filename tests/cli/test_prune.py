"""`fathom prune`: one task's layers of a run with gates."""

import shutil
import sys

import pytest
import torch

from fathom.config.schema.method import MethodCard
from fathom.io.files import read_json
from tests.cli.conftest import invoke
from tests.support.refused import prose, says
from tests.support.small_project import GATED, RUN
from tests.support.trained import put_checkpoint

# Which decoder layers the two tasks keep.
ACTIVE = {"bos": [0, 1], "kor": [1]}


@pytest.fixture(scope="session")
def gated(encoded, tmp_path_factory):
    """A project with a trained run, whose gates are then set by hand."""
    folder = tmp_path_factory.mktemp("gated") / "project"
    shutil.copytree(encoded, folder)
    invoke(folder, ("train", GATED))
    (path,) = folder.glob("results/runs/*/*/1/checkpoints/last.pt")
    checkpoint = torch.load(path, weights_only=True)
    alpha = checkpoint["model"]["decoder.method.alpha"].fill_(-5.0)
    for row, layers in zip(alpha, ACTIVE.values(), strict=True):
        row[layers] = 5.0
    put_checkpoint(path, checkpoint)
    return folder


def test_a_task_gets_the_layers_that_its_gates_keep(gated, own, call):
    folder = own(gated)
    for task, layers in ACTIVE.items():
        answer = call("prune", GATED, "--task", task)
        assert (answer.code, answer.out) == (0, "")
        (written,) = folder.glob(f"results/runs/sample/{GATED}-*/1/pruned/{task}")
        content = read_json(written / "pruned.json")
        assert content["active"]["decoder"] == layers
        assert content["active"]["encoder"] == list(range(content["layers"]["encoder"]))
        assert f"{task}: encoder " in answer.err
        assert str(written.relative_to(folder) / "model.pt") in answer.err
        names = {"model.pt", "pruned.json", f"dict.{task}.txt", "dict.eng.txt"}
        assert {path.name for path in written.iterdir()} == names


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((GATED, "--task", "bos", "--seed", "2"), says("no such file", where="/2/training.json")),
        (
            (RUN, "--task", "bos"),
            says("no gates", where=f"sample/{RUN}", remedy=prose("gates skip layers")),
        ),
        ((GATED, "--task", "boss"), says("unknown", "task", "boss", nearest="bos")),
        (("gated_2_3", "--task", "bos"), says(nearest="gated_2_2")),
    ],
)
def test_a_mistake_is_refused_before_torch_is_loaded(gated, call, monkeypatch, words, message):
    monkeypatch.chdir(gated)
    monkeypatch.setitem(sys.modules, "torch", None)
    message.check(call("prune", *words).one_line)


def test_hard_gates_that_the_card_refuses_are_refused_here_too(gated, call, monkeypatch):
    monkeypatch.chdir(gated)
    monkeypatch.setattr(
        MethodCard,
        "refusal",
        lambda self, gates, settings: "no good" if gates == "hard" else None,
    )
    line = call("prune", GATED, "--task", "bos").one_line
    says("hard gates refused", "no good", remedy=prose("gates skip layers")).check(line)


def test_the_task_must_be_named(project, call):
    answer = call("prune", GATED)
    assert answer.code == 2
    assert "--task" in answer.err

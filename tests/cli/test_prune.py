"""`fathom prune`: one task's layers of a run with gates."""

import shutil

import pytest
import torch

from fathom.cli.prune import require_hard_gates
from fathom.errors import FathomError
from fathom.io.files import read_json
from fathom.project.load import load
from tests.cli.conftest import invoke
from tests.cli.small_project import RUN

GATED = "ll_d_12_24"
# Which decoder layers the two tasks keep.
KEPT = {"bos": [0, 2], "kor": [1]}


@pytest.fixture(scope="session")
def gated(encoded, tmp_path_factory):
    """A project with a trained run, whose gates are then set by hand."""
    folder = tmp_path_factory.mktemp("gated") / "project"
    shutil.copytree(encoded, folder)
    invoke(folder, ("train", GATED))
    (path,) = folder.glob("results/small/runs/*/1/checkpoints/last.pt")
    checkpoint = torch.load(path, weights_only=True)
    alpha = checkpoint["model"]["decoder.method.alpha"].fill_(-5.0)
    for row, layers in zip(alpha, KEPT.values(), strict=True):
        row[layers] = 5.0
    torch.save(checkpoint, path)
    return folder


def test_each_task_gets_the_layers_that_its_gates_keep(gated, own, call):
    folder = own(gated)
    for task, layers in KEPT.items():
        answer = call("prune", GATED, "--task", task)
        assert (answer.code, answer.out) == (0, "")
        (written,) = folder.glob(f"results/small/runs/{GATED}-*/1/pruned/{task}")
        said = read_json(written / "pruned.json")
        assert said["kept"]["decoder"] == layers
        assert said["kept"]["encoder"] == list(range(said["layers"]["encoder"]))
        assert f"prune: {task}: encoder " in answer.err
        assert str(written / "model.pt") in answer.err
        names = {"model.pt", "pruned.json", f"dict.{task}.txt", "dict.eng.txt"}
        assert {path.name for path in written.iterdir()} == names


def test_it_is_pruned_at_the_seed_that_is_named(gated, own, call):
    own(gated)
    line = call("prune", GATED, "--task", "bos", "--seed", "2").one_line
    assert "/2/training.json: no such file" in line


def test_a_run_without_gates_is_told_before_anything_is_read(project, call):
    line = call("prune", "static_12_12", "--task", "fra", "--scale", "tiny").one_line
    assert line == (
        "fathom: run static_12_12: no method with gates; choose a run whose gates skip layers"
    )


def test_hard_gates_that_the_card_refuses_are_refused_here_too(encoded, monkeypatch):
    catalog = load(encoded)
    card = catalog.methods[catalog.spec(GATED, "small").method.name]
    require_hard_gates(catalog, catalog.spec(GATED, "small"))
    monkeypatch.setattr(type(card), "refusal", lambda self, gates, settings: f"{gates} is no good")
    with pytest.raises(FathomError, match="hard gates are refused: hard is no good; choose a run"):
        require_hard_gates(catalog, catalog.spec(GATED, "small"))


def test_an_unknown_task_or_run_is_told_the_nearest(project, call):
    line = call("prune", GATED, "--task", "fraa", "--scale", "tiny").one_line
    assert f"run {GATED}: no task 'fraa'; nearest valid name: 'fra'" in line
    line = call("prune", "ll_d_12_42", "--task", "fra").one_line
    assert "no run 'll_d_12_42'; nearest valid name: 'll_d_12_24'" in line


def test_the_task_must_be_named(project, call):
    answer = call("prune", GATED)
    assert answer.code == 2
    assert "--task" in answer.err


def test_a_run_that_is_not_trained_is_told(encoded, call, monkeypatch):
    monkeypatch.chdir(encoded)
    assert "training.json: no such file" in call("prune", GATED, "--task", "bos").one_line
    assert "training.json: no such file" not in call("prune", RUN, "--task", "bos").one_line

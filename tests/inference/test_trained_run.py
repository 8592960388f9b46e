"""A training's text, weights and network are read once, from the run, its seed and the paths."""

import pytest
import torch
from tests.evaluation.small_run import small_spec, training

from fathom.batches.tensors import load
from fathom.errors import FathomError
from fathom.inference import trained_run
from fathom.inference.trained_run import TrainedRun
from fathom.io.files import write_json
from fathom.methods.loader import build
from fathom.runs.paths import Paths
from tests.inference.pruned_runs import set_gates, write_tensors
from tests.support.small_corpus import TASKS
from tests.support.small_networks import method
from tests.support.small_runs import masked

CPU = torch.device("cpu")
LATENT = small_spec(method("latent_layers", ("encoder", "decoder")), gates="soft")
# Layers that hard gates leave for each task; the model has one encoder and two decoder layers.
GATES = {
    "encoder": {"bos": (0,), "bel": (0,), "kor": ()},
    "decoder": {"bos": (0, 1), "bel": (1,), "kor": (0,)},
}


@pytest.fixture
def run(tmp_path):
    """Return a finished training whose gates drop every encoder layer of one task."""
    paths = Paths(tmp_path, "tiny")
    run = TrainedRun(LATENT, 1, paths, CPU)
    text = load(write_tensors(paths.tensors(LATENT.data)))
    torch.manual_seed(3)
    network = build(
        LATENT.model, LATENT.method, len(TASKS), text.source_dictionary, text.target_dictionary
    )
    set_gates(network, GATES)
    run.checkpoints.mkdir(parents=True)
    torch.save({"model": network.state_dict()}, run.checkpoints / "last.pt")
    for update in (3, 6):
        weights = {name: value + update for name, value in network.state_dict().items()}
        torch.save({"update": update, "model": weights}, run.checkpoints / f"update_{update}.pt")
    write_json(run.folder / "training.json", training())
    return run


def test_text_and_network_are_read_once(run, monkeypatch):
    opened = []
    real = trained_run.tensors.load
    monkeypatch.setattr(
        trained_run.tensors, "load", lambda folder: opened.append(folder) or real(folder)
    )
    first = run.network("soft")
    assert run.network("hard") is first
    assert first.methods["decoder"].inference == "hard"
    assert not first.training
    assert len(opened) == 1
    assert run.tasks == TASKS


def test_the_weights_after_an_update_replace_the_final_ones_and_come_back(run):
    final = {name: value.clone() for name, value in run.network("soft").state_dict().items()}
    later = run.network("soft", update=6).state_dict()
    assert torch.equal(later["decoder.embed_tokens.weight"],
                       final["decoder.embed_tokens.weight"] + 6)  # fmt: skip
    again = run.network("soft").state_dict()
    assert all(torch.equal(again[name], value) for name, value in final.items())
    assert run.saved_updates == (3, 6)
    assert run.averaged_updates == (5,)


def test_a_task_without_layers_is_named(run):
    assert run.tasks_without_layers("hard") == ("kor",)
    assert run.tasks_without_layers("soft") == ()


def test_an_unknown_task_gets_the_nearest_name(run):
    assert run.task("bel") == 1
    with pytest.raises(FathomError, match="nearest valid name: 'kor'"):
        run.task("korr")


def test_a_training_that_did_not_finish_is_refused_where_one_is_needed(run):
    run.require_finished()
    write_json(run.folder / "training.json", training("diverged"))
    diverged = TrainedRun(LATENT, 1, run.paths, CPU)
    assert not diverged.finished
    with pytest.raises(FathomError, match="diverged"):
        diverged.require_finished()


def test_a_network_without_a_decoder_is_refused_before_anything_is_read(tmp_path):
    run = TrainedRun(masked(), 1, Paths(tmp_path, "tiny"), CPU)
    with pytest.raises(FathomError, match="without a decoder"):
        run.require_decoder()

"""A training's text, weights and network are read once, from the run, its seed and the paths."""

from dataclasses import replace

import pytest
import torch

from fathom.config.paths import Paths
from fathom.decode import trained_run
from fathom.decode.trained_run import TrainedRun
from fathom.io.records import read_record, write_record
from tests.support.refused import refused
from tests.support.small_corpus import TASKS
from tests.support.trained import CPU, built, gated, save, set_gates, write_run, write_tensors

LATENT = gated({"encoder_layers": 1, "decoder_layers": 2})
# Layers that hard gates leave for each task.
LAYERS = {
    "encoder": {"bos": (0,), "bel": (0,), "kor": ()},
    "decoder": {"bos": (0, 1), "bel": (1,), "kor": (0,)},
}


@pytest.fixture
def run(tmp_path):
    """Return a finished training whose gates drop every encoder layer of one task."""
    paths = Paths(tmp_path, "tiny")
    write_tensors(paths)
    network = built(LATENT, paths)
    set_gates(network, LAYERS)
    run = write_run(LATENT, paths, network)
    for update in (3, 6):
        save(run, {name: value + update for name, value in network.state_dict().items()}, update)
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


def test_hard_gates_keep_at_least_what_the_decoding_asks_for(run):
    decoding = LATENT.decoding.model_copy(update={"hard_at_least": 1})
    keeping = TrainedRun(replace(LATENT, decoding=decoding), 1, run.paths, CPU)
    assert keeping.folder == run.folder
    assert keeping.tasks_without_layers("hard") == ()
    assert keeping.network("hard").methods["encoder"].hard_at_least == 1
    assert run.tasks_without_layers("hard") == ("kor",)


def test_text_that_was_encoded_otherwise_since_the_training_is_refused(run):
    record = run.paths.tensors(LATENT.data) / "tensors.json"
    write_record(record, read_record(record) | {"unigram_nll": 9.0})
    with refused(
        "not the text that the run was trained on",
        where="tensors.json",
        remedy="train the run in another folder",
    ):
        _ = TrainedRun(LATENT, 1, run.paths, CPU).tensors

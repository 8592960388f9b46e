"""Trainings that have ended, as files, whose gates are set by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from fairseq.checkpoint_utils import load_model_ensemble_and_task
from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerModel
from tests.evaluation.small_run import small_spec, training
from torch import nn

from fathom.batches.tensors import SIDES, dictionary_path, load
from fathom.inference.prune import prune
from fathom.io.files import read_json, write_json
from fathom.methods.loader import build
from fathom.models.network import Network
from fathom.runs import spec
from tests.support.small_corpus import TASKS, silent
from tests.support.small_networks import ENTRIES, method, shape

# Far enough from 0 that soft gates are whole in float32 as well.
SURE = 40.0
# The layers that each task keeps, by side; no two tasks keep the same.
KEPT = {
    "encoder": {"bos": (0, 2), "bel": (1,), "kor": (0, 1, 2)},
    "decoder": {"bos": (1, 2), "bel": (0, 1, 2), "kor": (2,)},
}
Chosen = Mapping[str, Mapping[str, Sequence[int]]]


def gated(
    model: spec.Model | None = None,
    sides: tuple[str, ...] = ("encoder", "decoder"),
    name: str = "latent_layers",
    **settings: object,
) -> spec.Spec:
    """Return a run with gates on the small corpus; `settings` are the method's."""
    run = small_spec(method(name, sides, **settings), gates="soft")
    return replace(run, model=model or shape(dropout=0.1))


def write_tensors(folder: Path, tasks: Sequence[str] = TASKS, entries: int = ENTRIES) -> Path:
    """Write what decoding reads of encoded text besides sentences."""
    folder.mkdir(parents=True)
    dictionary = Dictionary()
    for number in range(len(dictionary), entries):
        dictionary.add_symbol(f"p{number}")
    for side in SIDES:
        dictionary.save(str(dictionary_path(folder, side)))
    said = {"tasks": list(tasks), "unigram_nll": 3.0, "unigram_nll_by_task": {}}
    write_json(folder / "tensors.json", said)
    return folder


def built(run: spec.Spec, tensors: Path) -> Network:
    """Return a run's network without training."""
    data = load(tensors)
    torch.manual_seed(3)
    dictionaries = data.source_dictionary, data.target_dictionary
    return build(run.model, run.method, len(data.tasks), *dictionaries)


def set_gates(network: Network, chosen: Chosen) -> None:
    """Make the hard gates of each task keep these layers; `chosen` is in the order of tasks."""
    for side, gates in network.methods.items():
        for alpha in gates.parameters():
            alpha.requires_grad_(False).fill_(-SURE)
            for row, layers in zip(alpha, chosen[side].values(), strict=True):
                row[list(layers)] = SURE


def write_run(folder: Path, network: nn.Module, kind: str = "finished") -> Path:
    """Write a training's end and its weights."""
    (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
    torch.save({"model": network.state_dict()}, folder / "checkpoints" / "last.pt")
    write_json(folder / "training.json", training(kind))
    return folder


def pruned(run: spec.Spec, tensors: Path, folder: Path, task: str) -> tuple[Path, dict]:
    """Prune a run for a task; return the folder and what pruned.json says."""
    written = folder / "pruned" / task
    prune(run, tensors, folder, task, written, silent)
    return written, read_json(written / "pruned.json")


def in_fairseq(folder: Path) -> TransformerModel:
    """Return what fairseq itself makes of a pruned checkpoint."""
    (model,), _, task = load_model_ensemble_and_task([str(folder / "model.pt")])
    assert type(model) is TransformerModel
    assert type(task).__name__ == "TranslationTask"
    return model.eval()

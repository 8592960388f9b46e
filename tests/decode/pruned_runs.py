"""Trainings that have ended, as files without sentences, whose gates are set by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from fairseq.checkpoint_utils import load_model_ensemble_and_task
from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerModel

from fathom.config.paths import Paths
from fathom.config.spec import DataSpec, Spec
from fathom.data import tensors
from fathom.data.indexed import dictionary_path
from fathom.data.vocabulary import add_tokens
from fathom.decode.export.export import prune
from fathom.decode.trained_run import TrainedRun
from fathom.io.files import read_json
from fathom.io.records import hashes, write_record
from fathom.methods.build import build
from fathom.nn.network import Network
from tests.support.small_corpus import silent, small_data
from tests.support.specs import small_spec
from tests.support.trained import CPU, end, save

ENTRIES = 23
SIDES = ("source", "target")
SHAPE = {"encoder_layers": 3, "decoder_layers": 3, "heads": 4, "dropout": 0.1}
# The layers that each task keeps, by stack; no two tasks keep the same.
ACTIVE = {
    "encoder": {"bos": (0, 2), "bel": (1,), "kor": (0, 1, 2)},
    "decoder": {"bos": (1, 2), "bel": (0, 1, 2), "kor": (2,)},
}


def gated(
    model: Mapping[str, Any] | None = None,
    stacks: Sequence[str] = ("encoder", "decoder"),
    name: str = "latent_layers",
    **settings: Any,
) -> Spec:
    """Return a run on the small corpus; `settings` are the method's, `model` differs from SHAPE."""
    method = {"name": name, "stacks": list(stacks), **settings}
    spec = small_spec({"model": SHAPE | dict(model or {}), "method": method}, run="gated")
    return replace(spec, data=small_data())


def write_tensors(paths: Paths, data: DataSpec | None = None, entries: int = ENTRIES) -> Path:
    """Write what is read of encoded text except its sentences; return its folder."""
    data = data or small_data()
    folder = paths.tensors(data)
    folder.mkdir(parents=True)
    dictionary = Dictionary()
    for number in range(len(dictionary), entries):
        dictionary.add_symbol(f"p{number}")
    for side in SIDES:
        dictionary.save(str(dictionary_path(folder, side)))
        add_tokens(dictionary_path(folder, side), data.target_tokens.values())
    content = {"tasks": list(data.tasks), "sides": list(SIDES), "unigram_nll": 3.0}
    content |= {"target_tokens": {data.target_token: data.target_tokens}}
    content |= {"corpus_sha256": "c" * 64, "files": hashes(folder, "*.txt")}
    write_record(folder / "tensors.json", content)
    return folder


def built(spec: Spec, paths: Paths) -> Network:
    """Return a run's network without training."""
    text = tensors.load(paths.tensors(spec.data))
    torch.manual_seed(3)
    dictionaries = text.source_dictionary, text.target_dictionary
    return build(spec.model, spec.method, len(text.tasks), *dictionaries)


def write_run(spec: Spec, paths: Paths, network: Network, kind: str = "finished") -> TrainedRun:
    """Write a training's end and its weights."""
    run = TrainedRun(spec, 1, paths, CPU)
    save(run, network.state_dict())
    end(run, kind, spec.data.tasks)
    return run


def pruned(run: TrainedRun, task: str) -> tuple[Path, dict[str, Any]]:
    """Prune a run for a task; return the folder and the content of pruned.json."""
    prune(run, task, silent)
    folder = run.paths.pruned(run.spec, run.seed, task)
    return folder, read_json(folder / "pruned.json")


def in_fairseq(folder: Path, kind: str = "TranslationTask") -> TransformerModel:
    """Return what fairseq itself makes of a pruned checkpoint, whose task is of a kind."""
    (model,), _, task = load_model_ensemble_and_task([str(folder / "model.pt")])
    assert type(model) is TransformerModel
    assert type(task).__name__ == kind
    return model.eval()

"""Runs on the small corpus that count as trained, with weights that the test makes.

Their text is real, or its files are there without sentences.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from fairseq.checkpoint_utils import load_model_ensemble_and_task
from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerModel
from torch import Tensor, nn

from fathom.config.paths import Paths
from fathom.config.spec import DataSpec, Spec
from fathom.data import tensors
from fathom.data.encode import encode
from fathom.data.indexed import dictionary_path
from fathom.data.sides import sides
from fathom.data.subwords import train
from fathom.data.vocabulary import add_tokens
from fathom.decode.beam import Beam
from fathom.decode.export import ctranslate2, fairseq_checkpoint
from fathom.decode.export.comparison import require_equal
from fathom.decode.export.export import one_transformer
from fathom.decode.ready import require_decoder
from fathom.decode.trained_run import TrainedRun
from fathom.decode.translate import hypotheses, texts
from fathom.io.files import sha256
from fathom.io.records import hashes, read_record, write_record
from fathom.methods.build import build
from fathom.nn.network import Network
from fathom.nn.weights import write_checkpoint
from tests.support.run_files import training
from tests.support.small_corpus import silent, small_data, write_corpus
from tests.support.specs import small_spec

CPU = torch.device("cpu")
# Far enough from 0 that soft gates are 0 or 1 in float32 as well.
SURE = 40.0
DECODING = {"beam": 2, "cap_ratio": 0.1, "cap_constant": 2}
ENTRIES = 23
SIDES = ("source", "target")
# The layers that each task keeps, by stack; no two tasks keep the same.
ACTIVE = {
    "encoder": {"bos": (0, 2), "bel": (1,), "kor": (0, 1, 2)},
    "decoder": {"bos": (1, 2), "bel": (0, 1, 2), "kor": (2,)},
}
Layers = Mapping[str, Mapping[str, Sequence[int]]]


def trained_spec(changes: Mapping[str, Any] | None = None, run: str = "small") -> Spec:
    """Return a run on the small corpus; `changes` are settings as in runs.yaml."""
    given = {"decoding": DECODING} | dict(changes or {})
    return replace(small_spec(given, run=run), data=small_data())


def gated(
    model: Mapping[str, Any] | None = None,
    stacks: Sequence[str] = ("encoder", "decoder"),
    name: str = "latent_layers",
    **settings: Any,
) -> Spec:
    """Return a run of three layers a side; `settings` are the method's."""
    shape = {"encoder_layers": 3, "decoder_layers": 3, "heads": 4} | dict(model or {})
    method = {"name": name, "stacks": list(stacks), **settings}
    return replace(small_spec({"model": shape, "method": method}, run="gated"), data=small_data())


def write_text(paths: Paths, data: DataSpec | None = None) -> None:
    """Write corpus, subwords and tensors of the small corpus, in its own pieces or others."""
    data = data or small_data()
    write_corpus(paths.corpus(data))
    train(data, paths.corpus(data), paths.subwords(data), silent)
    encode(data, paths.corpus(data), paths.subwords(data), paths.tensors(data), silent)


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
    content |= {"target_tokens": {data.settings.target_token: data.target_tokens}}
    content |= {"corpus_sha256": "c" * 64, "files": hashes(folder, "*.txt")}
    write_record(folder / "tensors.json", content)
    return folder


def write_trained(
    spec: Spec,
    paths: Paths,
    kind: str = "finished",
    layers: Layers | None = None,
    updates: Sequence[int] = (),
) -> TrainedRun:
    """Write a training's end and its weights, which are large: as initialised they say little.

    `layers` are those that hard gates keep, by stack and task. After each of `updates`, other
    weights are saved along the way.
    """
    network = built(spec, paths)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if ".method." not in name:
                parameter.mul_(3.0)
    if layers:
        set_gates(network, layers)
    run, state = write_run(spec, paths, network, kind), network.state_dict()
    for update in updates:
        scaled = {name: value * (1 + update / 10) for name, value in state.items()}
        save(run, state | {name: scaled[name] for name in scaled if ".layers." in name}, update)
    return run


def write_run(spec: Spec, paths: Paths, network: Network, kind: str = "finished") -> TrainedRun:
    """Write a training's end and its weights."""
    run = TrainedRun(spec, 1, paths, CPU)
    save(run, network.state_dict())
    end(run, kind)
    return run


def end(run: TrainedRun, kind: str = "finished") -> None:
    """Write the training.json of a run whose weights and encoded text are there."""
    encoded = run.paths.tensors(run.spec.data) / "tensors.json"
    files = {"tensors_sha256": sha256(encoded), "files": hashes(run.folder, "checkpoints/*.pt")}
    write_record(run.folder / "training.json", training(kind, run.spec.data.tasks, **files))


def built(spec: Spec, paths: Paths) -> Network:
    """Return a run's network without training."""
    text = tensors.load(paths.tensors(spec.data))
    torch.manual_seed(3)
    dictionaries = text.source_dictionary, text.target_dictionary
    return build(spec.model, spec.method, len(text.tasks), *dictionaries).eval()


def save(run: TrainedRun, state: Mapping[str, Tensor], update: int | None = None) -> None:
    """Save weights as a training's last state, or as those after an update, and record them."""
    name = "last.pt" if update is None else f"update_{update}.pt"
    write_checkpoint(run.checkpoints / name, {"update": update, "model": dict(state)})
    if (run.folder / "training.json").exists():
        record_weights(run.folder)


def record_weights(folder: Path) -> None:
    """Let the training.json of a run's folder name the weights that are there now."""
    record = folder / "training.json"
    files = {"files": hashes(folder, "checkpoints/*.pt")}
    write_record(record, read_record(record) | files)


def put_checkpoint(path: Path, content: dict[str, Any]) -> None:
    """Replace a checkpoint of a training that has ended."""
    write_checkpoint(path, content)
    record_weights(path.parents[1])


def stir_method(run: TrainedRun) -> None:
    """Give the methods of a run's last state large random weights, so that its tasks differ."""
    path = run.checkpoints / "last.pt"
    state = torch.load(path, weights_only=True)["model"]
    torch.manual_seed(5)
    for name, value in state.items():
        if ".method." in name and value.is_floating_point():
            state[name] = value + 2.0 * torch.randn_like(value)
    save(run, state)


def through(
    run: TrainedRun, gates: str, task: str, own: int, update: int | None = None
) -> list[str]:
    """Return a task's test text, translated through the gates, masks or adapters of task `own`."""
    data, search = run.tensors, require_decoder(run.spec)
    beam = Beam(run.network(gates, update), data.target_dictionary, search)
    pairs = data.split(task, "test")
    sources = [pairs.source(number) for number in range(len(pairs))]
    return texts(run, hypotheses(beam, sources, [own] * len(sources), CPU))


def set_gates(network: Network, layers: Layers) -> None:
    """Make the hard gates of each task keep these layers, by stack and task in their order."""
    for stack, method in network.methods.items():
        alpha: nn.Parameter
        for alpha in method.parameters():
            alpha.requires_grad_(False).fill_(-SURE)
            for row, active in zip(alpha, layers[stack].values(), strict=True):
                row[list(active)] = SURE


def pruned(run: TrainedRun, task: str) -> tuple[Path, dict[str, Any]]:
    """Write the layers that hard gates keep for a task, as an export does; return where and which.

    fairseq calls both sides by their languages, and the encoded text is enough.
    """
    folder = run.folder / "pruned" / task
    languages = {side.name: side.languages[task] for side in sides(run.spec.data)}
    transformer = one_transformer(run, "hard", (task,))
    fairseq_checkpoint.write(folder / "model.pt", run, transformer, languages, (task,))
    return folder, {"active": {stack: [*kept] for stack, kept in transformer.active.items()}}


def in_fairseq(folder: Path, kind: str = "TranslationTask") -> TransformerModel:
    """Return what fairseq itself makes of a pruned checkpoint, whose task is of a kind."""
    (model,), _, task = load_model_ensemble_and_task([str(folder / "model.pt")])
    assert type(model) is TransformerModel
    assert type(task).__name__ == kind
    return model.eval()


def in_ctranslate2(run: TrainedRun, gates: str, task: str) -> ctranslate2.CTranslate2Search:
    """Return CTranslate2 with what a run is for a task, after the check of an export."""
    transformer = one_transformer(run, gates, (task,))
    with TemporaryDirectory() as folder:
        search = ctranslate2.export(Path(folder), run, transformer)
    pairs = run.tensors.split(task, "valid")
    require_equal(search, run.network(gates), run.task(task), pairs, run.name)
    return search

"""Translate the test sentences of a finished training, all of them, one task after another.

The last checkpoint is read, or the mean of the last ones that the training kept. A training that
did not finish has no hypotheses, and a task that hard gates leave without any layer has none: both
are results, and decoding.json says so.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import torch
from torch import Tensor

from fathom.batches import tensors
from fathom.batches.tensors import PAD, Tensors
from fathom.checkpoints.average import final_weights, kept_path
from fathom.checkpoints.read import load_weights, put_weights
from fathom.errors import FathomError, nearest
from fathom.inference.beam import Beam
from fathom.io.files import read_json, sha256, write_json, write_lines
from fathom.methods import loader
from fathom.models.network import Network
from fathom.provenance.code_hash import stage_code
from fathom.provenance.manifest import DECODED, FINISHED
from fathom.runs.spec import Decoding, Spec
from fathom.subwords.encode import Encoder, join
from fathom.subwords.sides import sides

SPLIT = "test"
# Bounds of a batch: source tokens with padding, and sentences.
TOKENS, SENTENCES = 4096, 128


def translate(
    spec: Spec,
    tensors_folder: Path,
    run: Path,
    gates: str,
    device: torch.device,
    report: Callable[[str], None],
) -> None:
    """Translate the test sentences of every task.

    Writes <task>.test.txt, whose line i answers line i of the test file, and decoding.json last.

    Args:
        spec: the run.
        tensors_folder: the encoded text.
        run: the folder of the training.
        gates: "plain", "soft" or "hard".
        device: where the network runs.
        report: takes a line about each task.

    Raises:
        FathomError: the training, its checkpoint or the encoded text is missing, or its network
            has no decoder.
    """
    require_decoder(spec)
    ending = read_json(run / "training.json")["outcome"]
    folder = run / "decodings" / gates
    for old in (*folder.glob("*.txt"), *folder.glob("decoding.json")):
        old.unlink()
    tasks: dict[str, dict] = {}
    no_layer: list[str] = []
    finished = ending["kind"] == FINISHED
    if finished:
        data = tensors.load(tensors_folder)
        network = trained(spec, data, run, gates, device)
        for task in data.tasks:
            if without_layers(network, data.tasks.index(task), device):
                no_layer.append(task)
                report(f"translate: {task} has no layer left with {gates} gates")
                continue
            lines = split_lines(network, data, task, SPLIT, spec.evaluation.decoding, device)
            path = folder / f"{task}.{SPLIT}.txt"
            write_lines(path, lines)
            tasks[task] = {"split": SPLIT, "sentences": len(lines), "sha256": sha256(path)}
            report(f"translate: {task} {len(lines)} sentences")
    described = {
        "gates": gates,
        "outcome": DECODED if finished else ending["kind"],
        "reason": "" if finished else ending["reason"],
        "tasks": tasks,
        "no_layer": no_layer,
        "settings": asdict(spec.evaluation.decoding),
        "code": asdict(stage_code("decoding", spec.model.architecture, spec.method.name)),
        "versions": {"torch": torch.__version__, "fairseq": version("fairseq-fixed")},
    }
    write_json(folder / "decoding.json", described)


def translate_lines(
    spec: Spec,
    tensors_folder: Path,
    subwords: Path,
    run: Path,
    gates: str,
    task: str,
    lines: list[str],
    device: torch.device,
) -> list[str]:
    """Translate a user's own sentences.

    Args:
        spec: the run.
        tensors_folder: the encoded text, for its dictionaries.
        subwords: the subword models.
        run: the folder of the training.
        gates: "plain", "soft" or "hard".
        task: the task to which the sentences belong.
        lines: one sentence a line.
        device: where the network runs.

    Raises:
        FathomError: there is no such task, the training did not finish, or the task has no layer.
    """
    require_decoder(spec)
    outcome = read_json(run / "training.json")["outcome"]["kind"]
    data = tensors.load(tensors_folder)
    if task not in data.tasks:
        raise FathomError(f"no task '{task}'", f"run {spec.run}", nearest(task, data.tasks))
    network = trained(spec, data, run, gates, device)
    number = data.tasks.index(task)
    if outcome != FINISHED or without_layers(network, number, device):
        what = "no layer is left" if outcome == FINISHED else outcome.replace("_", " ")
        raise FathomError(what, f"run {spec.run}, {task}", "choose another run, task or gates")
    cut = Encoder(subwords, sides(spec.data)[0]).pieces(task, lines)
    longest = spec.data.max_pieces
    sources = [tensors.ids(data.source_dictionary, pieces[:longest]) for pieces in cut]
    beam = Beam(network.for_task(number), data.target_dictionary, spec.evaluation.decoding)
    return [text(each, data) for each in hypotheses(beam, sources, device)]


def require_decoder(spec: Spec) -> None:
    """Refuse a network that writes nothing.

    Raises:
        FathomError: it has no decoder.
    """
    if not spec.model.decoder_layers:
        remedy = "`fathom likelihood` measures it on held-out text"
        raise FathomError("a network without a decoder translates nothing", spec.run, remedy)


def trained(
    spec: Spec,
    data: Tensors,
    run: Path,
    gates: str,
    device: torch.device,
    update: int | None = None,
) -> Network:
    """Return a training's network with its final weights, ready for inference.

    Args:
        spec: the run.
        data: the encoded text, for its dictionaries and tasks.
        run: the folder of the training.
        gates: "plain", "soft" or "hard".
        device: where the network shall be.
        update: takes the weights that were kept after this update instead.
    """
    network = loader.build(
        spec.model, spec.method, len(data.tasks), data.source_dictionary, data.target_dictionary
    )
    folder = run / "checkpoints"
    if update is None:
        put_weights(network, final_weights(folder, spec.evaluation.decoding.average_of), folder)
    else:
        load_weights(network, kept_path(folder, update))
    return network.use_gates(gates).to(device).eval()


def without_layers(network: Network, task: int, device: torch.device) -> bool:
    """Return whether a side has no layer left for a task.

    Args:
        network: ready for inference.
        task: the task's index.
        device: where the network is.
    """
    tasks = torch.tensor([task], device=device)
    for method in network.methods.values():
        method.begin(tasks)
        if not any(method.keep(layer) for layer in range(method.stack.layers)):
            return True
    return False


def hypotheses(
    beam: Beam,
    sources: Sequence[Tensor],
    device: torch.device,
    tokens: int = TOKENS,
    sentences: int = SENTENCES,
) -> list[list[int]]:
    """Return the best hypothesis of each source, in the sources' order.

    Args:
        beam: the search.
        sources: (S,) each, with its end symbol.
        device: where the network is.
        tokens: bound of a batch's source tokens, padding included.
        sentences: bound of a batch's sentences.

    Raises:
        FathomError: a source is left without a hypothesis.
    """
    found: dict[int, list[int]] = {}
    for batch in batches([len(source) for source in sources], tokens, sentences):
        chosen = [sources[number] for number in batch]
        padded = torch.nn.utils.rnn.pad_sequence(chosen, batch_first=True, padding_value=PAD)
        # Not strict: what a batch loses is counted below, with a message.
        found |= dict(zip(batch, beam.best(padded.to(device)), strict=False))
    missing = [number + 1 for number in range(len(sources)) if number not in found]
    if missing:
        raise FathomError(
            f"{len(missing)} of {len(sources)} sentences have no hypothesis",
            f"sentence {missing[0]}",
            "report this; every sentence must be translated",
        )
    return [found[number] for number in range(len(sources))]


def batches(lengths: Sequence[int], tokens: int, sentences: int) -> Iterator[list[int]]:
    """Yield batches of sentence numbers, the shortest sentences first; each stands in one of them.

    Args:
        lengths: source tokens of each sentence.
        tokens: bound of a batch's tokens, padding included; a longer sentence stands alone.
        sentences: bound of a batch's sentences.
    """
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lambda number: (lengths[number], number)):
        if batch and (len(batch) == sentences or (len(batch) + 1) * lengths[number] > tokens):
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def text(pieces: list[int], data: Tensors) -> str:
    """Return the text of a hypothesis; an unknown piece shows as the dictionary's symbol."""
    return join([data.target_dictionary[piece] for piece in pieces])


def split_lines(
    network: Network,
    data: Tensors,
    task: str,
    split: str,
    settings: Decoding,
    device: torch.device,
) -> list[str]:
    """Return the hypotheses of the sentences of one task's split as text."""
    pairs = data.split(task, split)
    beam = Beam(network.for_task(pairs.task), data.target_dictionary, settings)
    sources = [pairs.source(number) for number in range(len(pairs))]
    return [text(each, data) for each in hypotheses(beam, sources, device)]

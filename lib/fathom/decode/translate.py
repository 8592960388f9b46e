"""Translate the held-out sentences of a training, or a user's text.

A training that did not finish has no hypotheses, and a task whose gates leave a stack without a
layer has none: both are results, and decoding.json records them.
"""

from collections.abc import Callable, Sequence
from importlib.metadata import version
from itertools import islice
from pathlib import Path

# Before torch, which loses a signal that comes while it imports numpy.
import numpy  # noqa: F401
import torch
from torch import Tensor

from fathom.data.sides import join_marked, sides
from fathom.data.subwords import join
from fathom.data.tensors import PAD
from fathom.decode.beam import Beam
from fathom.decode.ready import is_decoded, require_decoder
from fathom.decode.trained_run import TrainedRun
from fathom.io.errors import FathomError
from fathom.io.files import write_lines
from fathom.io.records import hashes
from fathom.results import decoding_record
from fathom.results.recipe import RECIPE
from fathom.train.batches.collate import grouped

# Bound of a batch's source tokens, padding included, on a CPU.
TOKENS = 8192
# Batches of a GPU are larger, since small ones leave its time to the start of kernels: at most this
# many times, and once for this many bytes of its memory. An estimate: keys and values of a batch of
# a CPU's size are 6 GB with beam 5, 24 layers of width 512, and hypotheses half as long again.
_TIMES, _EACH = 4, 10 * 10**9


def translate(
    run: TrainedRun, decodings: Sequence[tuple[str, str]], report: Callable[[str], None]
) -> None:
    """Make decodings of a training; text and network are loaded once.

    Writes <task>.txt, whose line i answers line i of the split, and decoding.json last.
    """
    require_decoder(run.spec)
    for split, gates in decodings:
        _decode(run, run.paths.decoding(run.spec, run.seed, split, gates), split, gates, report)


def translate_saved(
    run: TrainedRun, gates: str, split: str, updates: Sequence[int], report: Callable[[str], None]
) -> dict[int, dict[str, Path]]:
    """Return the hypotheses of single saved weights, by update and task.

    Each update is a decoding, <split>.<update> in the folder of the window; a second start makes
    those that are missing or have changed.
    """
    window = run.paths.window(run.spec, run.seed, gates)
    folders = {update: window / f"{split}.{update}" for update in updates}
    missing = [
        update
        for update, folder in folders.items()
        if not is_decoded(folder, run.spec, run.seed, run.paths, gates)
    ]
    if len(missing) < len(folders):
        there = len(folders) - len(missing)
        report(f"{split}: {there} of {len(folders)} checkpoints are translated already")
    for update in missing:
        if bare := run.tasks_without_layers(gates, update):
            what, where = f"{bare[0]} has no layer left with {gates} gates", f"update {update}"
            raise FathomError(what, f"{run.name}, {where}", "choose other gates")
        _decode(run, folders[update], split, gates, report, update)
    return {
        update: {task: folder / f"{task}.txt" for task in run.tasks}
        for update, folder in folders.items()
    }


def consecutive_updates(run: TrainedRun) -> tuple[int, ...]:
    """Return the updates whose weights a finished training saved, the oldest first."""
    run.require_finished()
    saved, settings = run.saved_updates, run.spec.training
    if not saved:
        what = f"the training saved no weights (training.keep_weights is {settings.keep_weights})"
        remedy = "set training.keep_weights to the size of the window and train again"
        raise FathomError(what, str(run.checkpoints), remedy)
    return saved


def _decode(
    run: TrainedRun,
    folder: Path,
    split: str,
    gates: str,
    report: Callable[[str], None],
    update: int | None = None,
) -> None:
    """Make one decoding, with the weights saved after an update or the final ones."""
    spec, finished = run.spec, run.outcome.finished
    where = f"{split}, {gates}" if update is None else f"{split}, update {update}"
    for old in (*folder.glob("*.txt"), *folder.glob("decoding.json")):
        old.unlink()
    no_layer = run.tasks_without_layers(gates, update) if finished else ()
    for task in no_layer:
        report(f"{where}: {task} has no layer left")
    chosen = [task for task in run.tasks if task not in no_layer] if finished else []
    tasks: dict[str, int] = {}
    for task, lines in split_lines(run, chosen, split, gates, update).items():
        write_lines(folder / f"{task}.txt", lines)
        tasks[task] = len(lines)
        report(f"{where}: {task} {len(lines)} sentences")
    weights = run.averaged_updates if update is None else (update,)
    content = {
        "identity": spec.decoding_identity(gates),
        "split": split,
        "gates": gates,
        "recipe": RECIPE["decoding"],
        "settings": require_decoder(run.spec).model_dump(),
        "weights": weights if finished else (),
        "weights_sha256": run.decoded_files(update) if finished else {},
        "outcome": run.outcome.kind,
        "reason": "" if finished else run.outcome.reason,
        "tasks": tasks,
        "files": hashes(folder, *(f"{task}.txt" for task in tasks)),
        "no_layer": no_layer,
        "versions": {"torch": torch.__version__, "fairseq-fixed": version("fairseq-fixed")},
    }
    decoding_record.write(folder, content)


def translate_lines(
    run: TrainedRun,
    gates: str,
    task: str,
    lines: list[str],
    report: Callable[[str], None],
    first: int = 1,
) -> list[str]:
    """Translate a user's sentences; `report` and `first` are those of `TrainedRun.source_ids`.

    A line without text has none as translation.
    """
    run.require_translating(task, gates)
    number, sources = run.task(task), run.source_ids(task, lines, report, first)
    answers = decode(run, gates, [*map(torch.tensor, sources)], [number] * len(sources))
    pairs = zip(lines, texts(run, answers), strict=True)
    return [text if line.strip() else "" for line, text in pairs]


def split_lines(
    run: TrainedRun, tasks: Sequence[str], split: str, gates: str, update: int | None = None
) -> dict[str, list[str]]:
    """Return the hypotheses of a split as text, by task; all tasks are searched together.

    With `update`, the weights saved after it translate instead of the final ones.
    """
    if not tasks:
        return {}
    pairs = {task: run.tensors.split(task, split) for task in tasks}
    sentences = [(text, number) for text in pairs.values() for number in range(len(text))]
    sources = [text.source(number) for text, number in sentences]
    numbers = [text.task for text, _ in sentences]
    answers = decode(run, gates, sources, numbers, update)
    lines = iter(texts(run, answers))
    return {task: list(islice(lines, len(text))) for task, text in pairs.items()}


def decode(
    run: TrainedRun,
    gates: str,
    sources: Sequence[Tensor],
    tasks: Sequence[int],
    update: int | None = None,
) -> list[list[int]]:
    """Return the best hypothesis of each source, (S,) with its end symbol."""
    network, text = run.network(gates, update), run.tensors
    search = Beam(network, text.target_dictionary, require_decoder(run.spec), text.starts)
    return hypotheses(search, sources, tasks, run.device)


def hypotheses(
    search: Beam,
    sources: Sequence[Tensor],
    tasks: Sequence[int],
    device: torch.device,
    sentences: int | None = None,
) -> list[list[int]]:
    """Return the best hypothesis of each source, in the order of the sources.

    Sources (S,) have their end symbols, and tasks are indices. `sentences` bounds those of a batch;
    None takes the search's bound.
    """
    answers: dict[int, list[int]] = {}
    times = larger(device)
    lengths = {number: len(source) for number, source in enumerate(sources)}
    most = sentences or times * search.sentences
    for batch in grouped(lengths, times * TOKENS, most):
        chosen = [sources[number] for number in batch]
        padded = torch.nn.utils.rnn.pad_sequence(chosen, batch_first=True, padding_value=PAD)
        numbers = torch.tensor([tasks[number] for number in batch], device=device)
        best = search.best(padded.to(device), numbers)
        for number, pieces in zip(batch, best, strict=True):
            if pieces is None:
                remedy = "check the weights: no piece has a probability"
                raise FathomError("no hypothesis", f"sentence {number + 1}", remedy)
            answers[number] = pieces
    return [answers[number] for number in range(len(sources))]


def larger(device: torch.device) -> int:
    """Return how many times larger than on a CPU the batches of a device are."""
    if device.type != "cuda":
        return 1
    memory = torch.cuda.get_device_properties(device).total_memory
    return max(1, min(_TIMES, memory // _EACH))


def texts(run: TrainedRun, answers: Sequence[Sequence[int]]) -> list[str]:
    """Return the text of hypotheses; an unknown piece shows as the dictionary's symbol."""
    dictionary = run.tensors.target_dictionary
    as_text = join_marked if sides(run.spec.data)[1].marked else join
    return [as_text([dictionary[piece] for piece in pieces]) for pieces in answers]

"""Text to ids on disk, in fairseq's formats, with the yardstick that a training must beat."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from fairseq.data import Dictionary
from fairseq.data.indexed_dataset import (
    MMapIndexedDataset,
    MMapIndexedDatasetBuilder,
    best_fitting_int_dtype,
    data_file_path,
    index_file_path,
)

from fathom.batches.tensors import SIDES, SPLITS, dictionary_path, ids, prefix, read_dictionary
from fathom.errors import FathomError
from fathom.io.files import read_json, replacing, sha256, write_json
from fathom.runs.spec import Data
from fathom.subwords import unigram
from fathom.subwords.encode import Encoder
from fathom.subwords.sides import require_corpus, sides

Pieces = list[list[str]]


def encode(
    data: Data, corpus: Path, subwords: Path, out: Path, report: Callable[[str], None]
) -> None:
    """Write the ids of every split of every task, the dictionaries, and tensors.json.

    Training pairs with an empty side, or one of more than `data.max_pieces` pieces, are left out
    and counted. Validation and test pairs are all kept, in the order of the corpus: a longer source
    is cut there and counted, the target is left whole.

    Args:
        data: the data set and the most pieces of a side.
        corpus: the corpus's folder.
        subwords: the folder of its models and dictionaries.
        out: the folder to write; its tensors.json comes last.
        report: takes one line of progress at a time.

    Raises:
        FathomError: corpus or subwords are not finished, two files differ in lines, or a split of a
            task has no pairs.
    """
    require_corpus(corpus)
    read_json(subwords / "subwords.json")
    finished = out / "tensors.json"
    finished.unlink(missing_ok=True)
    dictionaries = {side: _copied_dictionary(subwords, out, side) for side in SIDES}
    encoders = [Encoder(subwords, side) for side in sides(data)]
    counts: dict[str, dict[str, dict[str, int]]] = {task: {} for task in data.tasks}
    files = [dictionary_path(out, side) for side in SIDES]
    for task in data.tasks:
        report(f"encode: {task}")
        for split in SPLITS:
            source, target = (
                each.pieces(task, each.side.lines(corpus, task, split)) for each in encoders
            )
            where = str(corpus / task / split)
            source, target, counts[task][split] = select(
                source, target, data.max_pieces, split, where
            )
            for side, pieces in zip(SIDES, (source, target), strict=True):
                files += _write(prefix(out, task, split, side), dictionaries[side], pieces)
    summary = {
        "tasks": list(data.tasks),
        "max_pieces": data.max_pieces,
        "splits": counts,
        "dictionaries": {side: len(each) for side, each in dictionaries.items()},
        "files": {path.relative_to(out).as_posix(): sha256(path) for path in files},
    }
    write_json(finished, summary | _yardstick(out, data.tasks, dictionaries["target"]))


def select(
    source: Pieces, target: Pieces, longest: int, split: str, where: str
) -> tuple[Pieces, Pieces, dict[str, int]]:
    """Return the pairs of a split that are kept, and how many were cut or left out and why.

    Args:
        source: pieces of each source sentence.
        target: pieces of each target sentence.
        longest: the most pieces of a side, without the end symbol.
        split: pairs are left out of "train" only.
        where: the files, for messages.

    Raises:
        FathomError: the sides differ in number, or no pair is left.
    """
    if len(source) != len(target):
        raise FathomError(
            f"{len(source)} source and {len(target)} target sentences", where, "prepare it again"
        )
    pairs = list(zip(source, target, strict=True))
    counts = {"left_out_empty": 0, "left_out_long": 0, "cut_sources": 0}
    if split == "train":
        full = [pair for pair in pairs if all(pair)]
        kept = [pair for pair in full if max(map(len, pair)) <= longest]
        counts["left_out_empty"] = len(pairs) - len(full)
        counts["left_out_long"] = len(full) - len(kept)
    else:
        kept = [(pieces[:longest], answer) for pieces, answer in pairs]
        counts["cut_sources"] = sum(len(pieces) > longest for pieces in source)
    if not kept:
        raise FathomError(
            f"none of {len(pairs)} pairs is left", where, "check the corpus and data.max_pieces"
        )
    source, target = ([pair[side] for pair in kept] for side in (0, 1))
    counts["pairs"] = len(kept)
    counts["source_tokens"] = sum(len(pieces) + 1 for pieces in source)
    counts["target_tokens"] = sum(len(pieces) + 1 for pieces in target)
    return source, target, counts


def _copied_dictionary(subwords: Path, out: Path, side: str) -> Dictionary:
    """Copy a dictionary to the tensors, so that they can be read alone, and return it."""
    with replacing(dictionary_path(out, side), "wb") as stream:
        stream.write(dictionary_path(subwords, side).read_bytes())
    return read_dictionary(out, side)


def _write(place: Path, dictionary: Dictionary, sentences: Pieces) -> list[Path]:
    """Write sentences as ids with end symbols, in fairseq's format; return the two files."""
    place.parent.mkdir(parents=True, exist_ok=True)
    partial = str(place.with_name(f".{place.name}.part"))
    dtype = best_fitting_int_dtype(len(dictionary))
    builder = MMapIndexedDatasetBuilder(data_file_path(partial), dtype=dtype)
    for pieces in sentences:
        builder.add_item(ids(dictionary, pieces))
    builder.finalize(index_file_path(partial))
    return [
        Path(name(partial)).replace(name(str(place))) for name in (data_file_path, index_file_path)
    ]


def _targets(out: Path, task: str, split: str) -> Iterator[np.ndarray]:
    """Yield the ids of a split's targets, (T,) each."""
    dataset = MMapIndexedDataset(str(prefix(out, task, split, "target")))
    for sentence in range(len(dataset)):
        yield dataset[sentence].numpy()


def _yardstick(out: Path, tasks: tuple[str, ...], dictionary: Dictionary) -> dict[str, object]:
    """Return the unigram's validation NLL in nats a token, in all and by task."""
    training = (target for task in tasks for target in _targets(out, task, "train"))
    distribution = unigram.fit(training, len(dictionary))
    measured = {task: unigram.nll(distribution, _targets(out, task, "valid")) for task in tasks}
    nats, tokens = (sum(column) for column in zip(*measured.values(), strict=True))
    return {
        "unigram_nll": nats / tokens,
        "unigram_nll_by_task": {task: summed / n for task, (summed, n) in measured.items()},
    }
